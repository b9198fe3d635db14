/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON texts out of a byte stream.  json-c's tokener builds the values; a
 * lexer of one state per octet runs in front of it, because the tokener alone
 * leaves three things open that a server of strangers may not: where a text
 * ends (so that the next may follow without a newline), how much of it there
 * may be (octets, depth, containers and values: an empty container of three
 * octets costs the tokener half a kilobyte, a number of two a sixteenth of
 * that), and octets that are no JSON though the tokener takes them (bad UTF-8
 * across reads, raw control characters, single quotes, NaN).  It also refuses
 * what is JSON, but what the tokener would make something else of: member
 * names are cut at \u0000, integers beyond 64 bits become the nearest one that
 * is not, and of a member that comes twice the last one stays.  Used by the
 * daemon per connection and by the client; control thread.
 */
#include "rpc/internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum lex {
    LEX_BETWEEN, /* no text begun */
    LEX_STRUCT,  /* in a container, outside strings */
    LEX_STRING,  /* in a string */
    LEX_ESCAPE,  /* behind a backslash in a string */
    LEX_HEX,     /* in the digits of \uXXXX */
    LEX_SCALAR,  /* in a number or word that is the whole text */
};

/* In a number; the tokener forgets its grammar where a read cuts it. */
enum number {
    NUM_NONE,  /* in no number */
    NUM_MINUS, /* behind the sign */
    NUM_ZERO,  /* behind a leading zero */
    NUM_INT,   /* in the integer part */
    NUM_POINT, /* behind the point */
    NUM_FRAC,  /* in the fraction */
    NUM_E,     /* behind the e */
    NUM_SIGN,  /* behind the exponent's sign */
    NUM_EXP,   /* in the exponent */
};

enum step {
    STEP_ON,     /* the octet belongs to the text, which goes on */
    STEP_SKIP,   /* white space between texts */
    STEP_END,    /* the octet is the last of the text */
    STEP_BEFORE, /* the text ended before this octet */
    STEP_BAD,    /* no JSON */
    STEP_LIMIT,  /* more than we take */
};

struct rpc_stream {
    struct json_tokener *tok; /* builds the value */
    struct rpc_limits limits; /* how much a text may be */
    enum lex lex;             /* where in a text we are */
    enum number number;       /* where in a number */
    size_t n_octets;          /* of this text so far */
    unsigned depth;           /* open containers */
    unsigned n_containers;    /* containers begun in this text */
    unsigned n_values;        /* values begun, as far as they matter */
    unsigned utf8_left;       /* octets that the character still needs */
    unsigned char utf8_lo;    /* the next one is at least this */
    unsigned char utf8_hi;    /* ... and at most this */
    unsigned hex_left;        /* digits that \uXXXX still needs */
    bool hex_zero;            /* those so far were 0 */
    bool negative;            /* the integer has a sign */
    bool too_big;             /* the integer does not fit 64 bits */
    uint64_t integer;         /* its amount, while it does */
    unsigned n_digits;        /* octets of it in `digits` */
    char digits[32];          /* how it begins, for messages */
    size_t n_members;         /* colons: members of objects in this text */
    bool (*may)(void *ctx);   /* whether it may be long; null: it may not */
    void *ctx;                /* of `may` */
    bool is_long;             /* it may */
    bool asked;               /* and `may` was asked */
    bool refused;             /* JSON, but not for us: see `reason` */
    bool broken;              /* an error was returned: nothing more comes */
    const char *reason;       /* why, for people */
    char text[240];           /* where `reason` is made up */
    char *raw;                /* the text as it came, of a request */
    size_t n_raw;             /* octets of it */
    size_t raw_size;          /* octets that there is room for */
};

static const struct rpc_limits request_limits = {
    .octets = RPC_MAX_REQUEST,
    .depth = RPC_MAX_DEPTH,
    .containers = RPC_MAX_CONTAINERS,
    .values = RPC_MAX_VALUES,
};

struct rpc_stream *
rpc_stream_create_limited(const struct rpc_limits *limits)
{
    struct rpc_stream *s = calloc(1, sizeof(*s));

    if (!s)
        abort();
    /* The lexer counts depth; the tokener gets a little more room. */
    s->tok = json_tokener_new_ex((int) limits->depth + 2);
    if (!s->tok)
        abort();
    json_tokener_set_flags(s->tok, JSON_TOKENER_STRICT |
                                       JSON_TOKENER_ALLOW_TRAILING_CHARS);
    s->limits = *limits;
    s->reason = "";
    return s;
}

struct rpc_stream *
rpc_stream_create(void)
{
    return rpc_stream_create_limited(&request_limits);
}

void
rpc_stream_let_long(struct rpc_stream *s, bool (*may)(void *ctx), void *ctx)
{
    s->may = may;
    s->ctx = ctx;
}

void
rpc_stream_destroy(struct rpc_stream *s)
{
    if (!s)
        return;
    json_tokener_free(s->tok);
    free(s->raw);
    free(s);
}

const char *
rpc_stream_reason(const struct rpc_stream *s)
{
    return s->reason;
}

bool
rpc_stream_is_idle(const struct rpc_stream *s)
{
    return s->lex == LEX_BETWEEN;
}

static enum step
bad(struct rpc_stream *s, const char *reason)
{
    s->reason = reason;
    return STEP_BAD;
}

static bool
is_space(unsigned char b)
{
    return b == ' ' || b == '\t' || b == '\n' || b == '\r';
}

/* The first octet of a character of several: which may follow (RFC 3629: no
 * overlong forms, no surrogates, nothing above U+10FFFF). */
static enum step
utf8_begin(struct rpc_stream *s, unsigned char b)
{
    s->utf8_lo = 0x80;
    s->utf8_hi = 0xbf;
    if (b >= 0xc2 && b <= 0xdf)
        s->utf8_left = 1;
    else if (b >= 0xe0 && b <= 0xef)
        s->utf8_left = 2;
    else if (b >= 0xf0 && b <= 0xf4)
        s->utf8_left = 3;
    else
        return bad(s, "a string is not UTF-8");
    if (b == 0xe0)
        s->utf8_lo = 0xa0;
    else if (b == 0xed)
        s->utf8_hi = 0x9f;
    else if (b == 0xf0)
        s->utf8_lo = 0x90;
    else if (b == 0xf4)
        s->utf8_hi = 0x8f;
    return STEP_ON;
}

static enum step
step_string(struct rpc_stream *s, unsigned char b)
{
    if (s->utf8_left) {
        if (b < s->utf8_lo || b > s->utf8_hi)
            return bad(s, "a string is not UTF-8");
        s->utf8_left--;
        s->utf8_lo = 0x80;
        s->utf8_hi = 0xbf;
        return STEP_ON;
    }
    if (b < 0x20)
        return bad(s, "a string holds a raw control character");
    if (b >= 0x80)
        return utf8_begin(s, b);
    if (b == '\\')
        s->lex = LEX_ESCAPE;
    if (b != '"')
        return STEP_ON;
    s->lex = s->depth ? LEX_STRUCT : LEX_BETWEEN;
    return s->depth ? STEP_ON : STEP_END;
}

/* The text is to be refused, but only once it is complete: the stream goes
 * on.  The first reason stays. */
static void
refuse(struct rpc_stream *s, const char *reason)
{
    if (!s->refused)
        s->reason = reason;
    s->refused = true;
}

static enum step
step_escape(struct rpc_stream *s, unsigned char b)
{
    s->lex = b == 'u' ? LEX_HEX : LEX_STRING;
    s->hex_left = 4;
    s->hex_zero = true;
    return b < 0x20 || b >= 0x80 ? bad(s, "a bad escape in a string")
                                 : STEP_ON;
}

static enum step
step_hex(struct rpc_stream *s, unsigned char b)
{
    if (!b || !strchr("0123456789abcdefABCDEF", b))
        return bad(s, "a bad escape in a string");
    s->hex_zero &= b == '0';
    if (--s->hex_left)
        return STEP_ON;
    s->lex = LEX_STRING;
    if (s->hex_zero)
        refuse(s, "a string holds the character \\u0000");
    return STEP_ON;
}

/* Whether n are more than the text may have.  max: 0 is any number; `most` is
 * what one has that may be long. */
static bool
is_beyond(struct rpc_stream *s, size_t n, size_t max, size_t most)
{
    if (!max || n <= max)
        return false;
    if (!s->asked && s->may)
        s->is_long = s->may(s->ctx);
    s->asked = true;
    return !s->is_long || n > most;
}

/* Why one that is beyond is not taken: for good, or for this moment. */
static const char *
why_not(const struct rpc_stream *s, const char *reason)
{
    return s->may && !s->is_long
               ? "the text is long, and so is that of another client: one at "
                 "a time may be, so try again later"
               : reason;
}

/* Behind every comma and in every container another value begins. */
static enum step
count_value(struct rpc_stream *s)
{
    if (is_beyond(s, ++s->n_values, s->limits.values, RPC_LONG_VALUES)) {
        s->reason = why_not(s, "the text holds too many values");
        return STEP_LIMIT;
    }
    return STEP_ON;
}

static enum step
step_open(struct rpc_stream *s)
{
    s->lex = LEX_STRUCT;
    if (++s->depth > s->limits.depth) {
        s->reason = "the text is nested too deep";
        return STEP_LIMIT;
    }
    if (is_beyond(s, ++s->n_containers, s->limits.containers,
                  RPC_LONG_CONTAINERS)) {
        s->reason = why_not(s, "the text holds too many arrays and objects");
        return STEP_LIMIT;
    }
    return count_value(s);
}

/* Octets of numbers and of true, false and null. */
static bool
is_scalar(unsigned char b)
{
    return b && strchr("0123456789-+.eEtruefalsn", b) != NULL;
}

/* The state behind octet b in a number; NUM_NONE: b does not belong. */
static enum number
number_next(enum number now, unsigned char b)
{
    bool digit = b >= '0' && b <= '9';

    switch (now) {
    case NUM_NONE:
        if (b == '-')
            return NUM_MINUS;
        /* fallthrough */
    case NUM_MINUS:
        return digit ? (b == '0' ? NUM_ZERO : NUM_INT) : NUM_NONE;
    case NUM_INT:
        if (digit)
            return NUM_INT;
        /* fallthrough */
    case NUM_ZERO:
        if (b == '.')
            return NUM_POINT;
        return b == 'e' || b == 'E' ? NUM_E : NUM_NONE;
    case NUM_POINT:
        return digit ? NUM_FRAC : NUM_NONE;
    case NUM_FRAC:
        if (b == 'e' || b == 'E')
            return NUM_E;
        return digit ? NUM_FRAC : NUM_NONE;
    case NUM_E:
        if (b == '+' || b == '-')
            return NUM_SIGN;
        /* fallthrough */
    case NUM_SIGN:
    case NUM_EXP:
    default:
        return digit ? NUM_EXP : NUM_NONE;
    }
}

/* Keeps the amount of an integer as long as it fits 64 bits. */
static void
follow_integer(struct rpc_stream *s, enum number last, unsigned char b)
{
    if (last == NUM_NONE) {
        s->negative = b == '-';
        s->too_big = false;
        s->integer = 0;
        s->n_digits = 0;
    }
    if (s->n_digits < sizeof(s->digits))
        s->digits[s->n_digits++] = (char) b;
    if (s->number == NUM_INT)
        s->too_big |= __builtin_mul_overflow(s->integer, 10, &s->integer) ||
                      __builtin_add_overflow(s->integer, b - '0', &s->integer);
}

/* An integer has ended: one that the tokener would change is refused. */
static void
check_integer(struct rpc_stream *s)
{
    bool cut = s->n_digits == sizeof(s->digits);

    if (!s->too_big &&
        (!s->negative || s->integer <= (uint64_t) INT64_MAX + 1))
        return;
    if (s->refused)
        return;
    snprintf(s->text, sizeof(s->text),
             "the integer %.*s%s does not fit 64 bits", (int) s->n_digits,
             s->digits, cut ? "..." : "");
    refuse(s, s->text);
}

/* Follows numbers; false: b ends one too early or cannot end it. */
static bool
follow_number(struct rpc_stream *s, unsigned char b)
{
    enum number last = s->number;

    s->number = number_next(last, b);
    if (s->number != NUM_NONE)
        follow_integer(s, last, b);
    else if (last == NUM_INT)
        check_integer(s);
    if (last == NUM_NONE || s->number != NUM_NONE)
        return true;
    return !is_scalar(b) && (last == NUM_ZERO || last == NUM_INT ||
                             last == NUM_FRAC || last == NUM_EXP);
}

static enum step
step_struct(struct rpc_stream *s, unsigned char b)
{
    if (!follow_number(s, b))
        return bad(s, "a bad number");
    if (b == '{' || b == '[')
        return step_open(s);
    if (b == '"')
        s->lex = LEX_STRING;
    else if (b == '}' || b == ']') {
        if (--s->depth)
            return STEP_ON;
        s->lex = LEX_BETWEEN;
        return STEP_END;
    } else if (b == ',')
        return count_value(s);
    else if (b == ':')
        s->n_members++;
    else if (!is_scalar(b) && !is_space(b))
        return bad(s, "an octet that JSON does not know");
    return STEP_ON;
}

static enum step
step_between(struct rpc_stream *s, unsigned char b)
{
    if (is_space(b))
        return STEP_SKIP;
    if (b == '{' || b == '[')
        return step_open(s);
    if (b == '"')
        s->lex = LEX_STRING;
    else if (is_scalar(b) && follow_number(s, b))
        s->lex = LEX_SCALAR;
    else
        return bad(s, "a text that does not begin like JSON");
    return STEP_ON;
}

static enum step
step_scalar(struct rpc_stream *s, unsigned char b)
{
    if (!follow_number(s, b))
        return bad(s, "a bad number");
    if (is_scalar(b))
        return STEP_ON;
    if (!is_space(b) && b != '{' && b != '[' && b != '"')
        return bad(s, "an octet that JSON does not know");
    s->lex = LEX_BETWEEN;
    return STEP_BEFORE;
}

static enum step
step(struct rpc_stream *s, unsigned char b)
{
    enum step r;

    switch (s->lex) {
    case LEX_BETWEEN:
        r = step_between(s, b);
        break;
    case LEX_STRUCT:
        r = step_struct(s, b);
        break;
    case LEX_STRING:
        r = step_string(s, b);
        break;
    case LEX_ESCAPE:
        r = step_escape(s, b);
        break;
    case LEX_HEX:
        r = step_hex(s, b);
        break;
    case LEX_SCALAR:
    default:
        r = step_scalar(s, b);
        break;
    }
    if ((r == STEP_ON || r == STEP_END) &&
        is_beyond(s, ++s->n_octets, s->limits.octets, RPC_LONG_REQUEST)) {
        s->reason = why_not(s, "the text is too long");
        r = STEP_LIMIT;
    }
    return r;
}

/* Keeps the octets of a request, to say what is wrong with it; an answer may
 * be long, and comes from the daemon. */
static void
keep(struct rpc_stream *s, const char *data, size_t n)
{
    if (s->limits.octets > RPC_MAX_REQUEST)
        return;
    if (s->n_raw + n > s->raw_size) {
        s->raw_size = s->n_raw + n + s->raw_size / 2;
        s->raw = realloc(s->raw, s->raw_size);
        if (!s->raw)
            abort();
    }
    memcpy(s->raw + s->n_raw, data, n);
    s->n_raw += n;
}

static void
forget(struct rpc_stream *s)
{
    free(s->raw);
    s->raw = NULL;
    s->n_raw = 0;
    s->raw_size = 0;
}

static enum rpc_feed
fail(struct rpc_stream *s, enum rpc_code why, enum rpc_code *code)
{
    s->broken = true;
    forget(s);
    *code = why;
    json_tokener_reset(s->tok);
    return RPC_FEED_ERROR;
}

/* Hands octets of the text to the tokener.  False: it refuses them. */
static bool
tokenize(struct rpc_stream *s, const char *data, size_t n,
         struct json_object **value, bool *complete)
{
    enum json_tokener_error e;

    *value = json_tokener_parse_ex(s->tok, data, (int) n);
    e = json_tokener_get_error(s->tok);
    *complete = e == json_tokener_success;
    if (e == json_tokener_continue)
        return true;
    if (e == json_tokener_success && json_tokener_get_parse_end(s->tok) == n)
        return true;
    s->reason = e == json_tokener_success ? "octets behind the end of a text"
                                          : json_tokener_error_desc(e);
    json_object_put(*value);
    return false;
}

/* How many members the objects in it have, all together. */
static size_t
count_members(struct json_object *v)
{
    size_t n = 0;

    if (json_object_is_type(v, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(v); i++)
            n += count_members(json_object_array_get_idx(v, i));
    } else if (json_object_is_type(v, json_type_object)) {
        n = (size_t) json_object_object_length(v);
        json_object_object_foreach (v, key, member) {
            (void) key;
            n += count_members(member);
        }
    }
    return n;
}

/* The lexer found the end of a text whose octets the tokener has seen. */
static enum rpc_feed
finish(struct rpc_stream *s, struct json_object *value, bool complete,
       struct json_object **text, enum rpc_code *code)
{
    if (!complete && !tokenize(s, " ", 1, &value, &complete))
        return fail(s, RPC_PARSE_ERROR, code);
    if (!complete) {
        s->reason = "the text ends too early";
        return fail(s, RPC_PARSE_ERROR, code);
    }
    json_tokener_reset(s->tok);
    /* Fewer members than there were: one took the place of another. */
    if (!s->refused && count_members(value) != s->n_members) {
        rpc_find_twice(s->raw, s->n_raw, s->text, sizeof(s->text));
        refuse(s, s->text);
    }
    forget(s);
    s->n_octets = 0;
    s->n_containers = 0;
    s->n_values = 0;
    s->n_members = 0;
    s->is_long = false;
    s->asked = false;
    if (s->refused) {
        s->refused = false;
        json_object_put(value);
        *code = RPC_INVALID_REQUEST;
        return RPC_FEED_REFUSED;
    }
    *text = value;
    return RPC_FEED_TEXT;
}

enum rpc_feed
rpc_stream_feed(struct rpc_stream *s, const char *data, size_t n, size_t *used,
                struct json_object **text, enum rpc_code *code)
{
    struct json_object *value = NULL;
    enum step r = STEP_SKIP;
    bool complete = false;
    size_t begin = 0, end;

    *used = 0;
    if (s->broken)
        return fail(s, RPC_PARSE_ERROR, code);
    for (end = 0; end < n; end++) {
        r = step(s, (unsigned char) data[end]);
        if (r == STEP_SKIP)
            begin = end + 1;
        else if (r != STEP_ON)
            break;
    }
    *used = end + (r == STEP_END);
    if (r == STEP_BAD)
        return fail(s, RPC_PARSE_ERROR, code);
    assert(*used >= begin);
    if (*used > begin)
        keep(s, data + begin, *used - begin);
    if (*used > begin &&
        !tokenize(s, data + begin, *used - begin, &value, &complete))
        return fail(s, RPC_PARSE_ERROR, code);
    if (r == STEP_LIMIT)
        return fail(s, RPC_INVALID_REQUEST, code);
    if (r == STEP_END || r == STEP_BEFORE)
        return finish(s, value, complete, text, code);
    if (complete) {
        /* The tokener saw an end where the lexer saw none. */
        json_object_put(value);
        s->reason = "octets behind the end of a text";
        return fail(s, RPC_PARSE_ERROR, code);
    }
    return RPC_FEED_MORE;
}

enum rpc_feed
rpc_stream_end(struct rpc_stream *s, struct json_object **text,
               enum rpc_code *code)
{
    size_t used;

    if (s->broken)
        return fail(s, RPC_PARSE_ERROR, code);
    if (s->lex == LEX_BETWEEN)
        return RPC_FEED_MORE;
    if (s->lex == LEX_SCALAR)
        return rpc_stream_feed(s, " ", 1, &used, text, code);
    s->reason = "it ends in the middle of a text";
    return fail(s, RPC_PARSE_ERROR, code);
}
