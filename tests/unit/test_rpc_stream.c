/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of lib/rpc/stream.c: texts out of a stream whatever its cuts, and
 * every bound while octets arrive.
 */
#include "base/utf8.h"
#include "rpc/rpc.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Feeds data in pieces of `piece` octets; texts come out as "[...] [...]", an
 * error as its code. */
static void
feed(struct rpc_stream *s, const char *data, size_t n, size_t piece, char *out,
     size_t size)
{
    size_t at = 0;

    out[0] = '\0';
    while (at < n) {
        size_t m = n - at < piece ? n - at : piece, used, len = strlen(out);
        struct json_object *o = NULL;
        enum rpc_code code;

        switch (rpc_stream_feed(s, data + at, m, &used, &o, &code)) {
        case RPC_FEED_MORE:
            cr_assert_eq(used, m);
            break;
        case RPC_FEED_TEXT:
            snprintf(out + len, size - len, "%s ",
                     json_object_to_json_string_ext(o,
                                                    JSON_C_TO_STRING_PLAIN));
            json_object_put(o);
            break;
        case RPC_FEED_REFUSED:
            snprintf(out + len, size - len, "(%s) ", rpc_stream_reason(s));
            cr_assert_eq(code, RPC_INVALID_REQUEST);
            break;
        case RPC_FEED_ERROR:
            snprintf(out + len, size - len, "%d", code);
            cr_assert_str_not_empty(rpc_stream_reason(s));
            return;
        }
        at += used;
    }
}

static void
expect_n(const char *data, size_t n, const char *want)
{
    char got[512];

    for (size_t piece = 1; piece <= n; piece++) {
        struct rpc_stream *s = rpc_stream_create();

        feed(s, data, n, piece, got, sizeof(got));
        cr_assert_str_eq(got, want, "%s in pieces of %zu: %s", data, piece,
                         got);
        rpc_stream_destroy(s);
    }
}

static void
expect(const char *data, const char *want)
{
    expect_n(data, strlen(data), want);
}

Test(rpc_stream, texts)
{
    expect("{}", "{} ");
    expect("{}[]", "{} [] ");
    expect(" \r\n\t{\"a\":[1,2,{\"b\":null}]}\n\n[true]",
           "{\"a\":[1,2,{\"b\":null}]} [true] ");
    expect("\"a\"\"b\"", "\"a\" \"b\" ");
    expect("{\"a\":\"}]\\\"{\"}[]", "{\"a\":\"}]\\\"{\"} [] ");
    expect("[\"\\\\\"]{}", "[\"\\\\\"] {} ");
}

/* json-c cuts member names there: another name would be acted on. */
Test(rpc_stream, nul_is_refused_and_the_stream_goes_on)
{
    expect("{\"a\\u0000b\":1}[]",
           "(a string holds the character \\u0000) [] ");
    expect("[\"rpc.discover\\u0000junk\"]{}",
           "(a string holds the character \\u0000) {} ");
    expect("\"\\u0000\"1 ", "(a string holds the character \\u0000) 1 ");
    expect("[\"\\\\u0000\",\"\\u0001\",\"\\u1000\"]",
           "[\"\\\\u0000\",\"\\u0001\",\"\xe1\x80\x80\"] ");
    expect("[\"\\u00g0\"]", "-32700");
}

/* json-c makes the nearest number of 64 bits of them. */
Test(rpc_stream, integers_beyond_64_bits_are_refused)
{
    expect("[18446744073709551615,-9223372036854775808]",
           "[18446744073709551615,-9223372036854775808] ");
    expect("{\"id\":99999999999999999999999999}[]",
           "(the integer 99999999999999999999999999 does not fit 64 bits) "
           "[] ");
    expect("[18446744073709551616]",
           "(the integer 18446744073709551616 does not fit 64 bits) ");
    expect("-9223372036854775809 {}",
           "(the integer -9223372036854775809 does not fit 64 bits) {} ");
    expect("[11111111112222222222333333333344444444445]",
           "(the integer 11111111112222222222333333333344... does not fit 64 "
           "bits) ");
    expect("[1e99,123456789012345678901234.5]",
           "[1e99,123456789012345678901234.5] ");
}

/* json-c keeps the last of them. */
Test(rpc_stream, a_member_that_comes_twice_is_refused_by_name)
{
    expect("{\"a\":1,\"a\":2}{}",
           "(the member \"a\" is twice in the outermost object) {} ");
    expect("[{\"b\":{\"a\":1,\"\\u0061\":1}}]{}",
           "(the member \"\\u0061\" is twice in /0/b) {} ");
    expect("{\"x\":[{},[{\"y\" : {\"\\n\":\"]\\\"}:\", \"\\n\" : 0}}]]}{}",
           "(the member \"\\n\" is twice in /x/1/0/y) {} ");
    expect("{\"b\":{\"a\":{\"a\":1}},\"c\":[\"b\",\"b\"],\"c\":\"b\"}{}",
           "(the member \"c\" is twice in the outermost object) {} ");
    expect("{\"a\":{\"a\":[{\"a\":1},{\"a\":\":\"}]}}",
           "{\"a\":{\"a\":[{\"a\":1},{\"a\":\":\"}]}} ");
}

/* A long name, and a path that is, are cut where a character ends. */
Test(rpc_stream, a_member_that_comes_twice_may_have_a_long_name)
{
    char text[2048], got[512];
    struct rpc_stream *s = rpc_stream_create();
    size_t n = 0;

    for (int i = 0; i < 20; i++)
        n += (size_t) snprintf(text + n, sizeof(text) - n,
                               "{\"a-long-one-%d\":", i);
    for (int k = 0; k < 2; k++) {
        n += (size_t) snprintf(text + n, sizeof(text) - n, k ? ",\"" : "{\"");
        for (int i = 0; i < 100; i++)
            n += (size_t) snprintf(text + n, sizeof(text) - n, "\u00e4");
        n += (size_t) snprintf(text + n, sizeof(text) - n, "\":1");
    }
    for (int i = 0; i < 21; i++)
        text[n++] = '}';
    feed(s, text, n, n, got, sizeof(got));
    cr_assert(strstr(got, "is twice in /a-long-one-0/a-long-one-1/"), "%s",
              got);
    for (const char *p = got; *p; p += utf8_len(p))
        cr_assert(utf8_len(p), "%s", got);
    rpc_stream_destroy(s);
}

static void
expect_end(const char *data, enum rpc_feed want)
{
    struct rpc_stream *s = rpc_stream_create();
    struct json_object *o = NULL;
    enum rpc_code code = 0;
    size_t used;

    cr_assert_eq(rpc_stream_feed(s, data, strlen(data), &used, &o, &code),
                 RPC_FEED_MORE);
    cr_assert_eq(rpc_stream_end(s, &o, &code), want, "%s", data);
    if (want == RPC_FEED_ERROR)
        cr_assert_eq(code, RPC_PARSE_ERROR);
    json_object_put(o);
    rpc_stream_destroy(s);
}

Test(rpc_stream, the_end_of_the_stream)
{
    expect_end(" \n", RPC_FEED_MORE);
    expect_end("12", RPC_FEED_TEXT);
    expect_end("true", RPC_FEED_TEXT);
    expect_end("tru", RPC_FEED_ERROR);
    expect_end("{\"jsonrpc\":", RPC_FEED_ERROR);
    expect_end("\"abc", RPC_FEED_ERROR);
    expect_end("[1", RPC_FEED_ERROR);
    expect_end("99999999999999999999999999", RPC_FEED_REFUSED);
}

Test(rpc_stream, scalars)
{
    /* A number ends where something else begins. */
    expect("1 ", "1 ");
    expect("12", "");
    expect("-1.5e3 true false null ", "-1.5e3 true false null ");
    expect("1{}2[]", "1 {} 2 [] ");
    expect("0 -0 10.25 0.5E-1 ", "0 0 10.25 0.5E-1 ");
    expect("[0,-1,1.5,2e+10,3E5]", "[0,-1,1.5,2e+10,3E5] ");
    expect("true\"x\"", "true \"x\" ");
}

Test(rpc_stream, utf8)
{
    expect("[\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"]",
           "[\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"] ");
    expect("[\"\\u00e9\\ud83d\\ude00\"]", "[\"\xc3\xa9\xf0\x9f\x98\x80\"] ");
    expect("[\"\xff\"]", "-32700");
    expect("[\"\x80\"]", "-32700");
    expect("[\"\xc3\"]", "-32700");
    expect("[\"\xc0\x80\"]", "-32700");         /* overlong */
    expect("[\"\xe0\x80\x80\"]", "-32700");     /* overlong */
    expect("[\"\xf0\x80\x80\x80\"]", "-32700"); /* overlong */
    expect("[\"\xed\xa0\x80\"]", "-32700");     /* a surrogate */
    expect("[\"\xf4\x90\x80\x80\"]", "-32700"); /* above U+10FFFF */
    expect("\xef\xbb\xbf{}", "-32700");         /* a byte order mark */
    expect("[\xc2\xa0]", "-32700");
}

Test(rpc_stream, garbage)
{
    static const char *const texts[] = {
        "x",
        "}",
        "]",
        ":",
        ",",
        "{'a':1}",
        "[NaN]",
        "NaN ",
        "[nan]",
        "[Infinity]",
        "[-Infinity]",
        "[TRUE]",
        "[1,]",
        "{\"a\":1,}",
        "[01]",
        "[0x1]",
        "[1 2]",
        "[1-2]",
        "[--1]",
        "[1.5.5]",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{1:2}",
        "[/*x*/1]",
        "[//x\n1]",
        "[\"a\tb\"]",
        "[\"a\nb\"]",
        "[\"\\x\"]",
        "[\"\\u12g4\"]",
        "[}",
        "{]",
        "[\x01]",
        "1,2 ",
        "1-2 ",
        "truefalse ",
        "tru ",
        "- ",
        "[tru]",
        "+1 ",
        "[1.]",
        "[1.e1]",
        "[1e]",
        "[1e+]",
        "[-]",
        "[00]",
        "[-01]",
        "1. ",
        "[1true]",
        "[1e5.0]",
        "GET / HTTP/1.1\r\n",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        expect(texts[i], "-32700");
    expect_n("[1\0]", 4, "-32700");
    expect_n("\0", 1, "-32700");
    expect_n("[\"\0\"]", 5, "-32700");
    /* What came before it counts. */
    expect("{}[1]x", "{} [1] -32700");
}

Test(rpc_stream, broken_stays_broken)
{
    struct rpc_stream *s = rpc_stream_create();
    char got[64];

    feed(s, "x", 1, 1, got, sizeof(got));
    cr_assert_str_eq(got, "-32700");
    feed(s, "{}", 2, 2, got, sizeof(got));
    cr_assert_str_eq(got, "-32700");
    rpc_stream_destroy(s);
}

Test(rpc_stream, depth)
{
    char text[2 * (RPC_MAX_DEPTH + 1) + 1], want[80];

    memset(text, '[', RPC_MAX_DEPTH);
    memset(text + RPC_MAX_DEPTH, ']', RPC_MAX_DEPTH);
    text[2 * RPC_MAX_DEPTH] = '\0';
    snprintf(want, sizeof(want), "%s ", text);
    expect(text, want);
    memset(text, '[', RPC_MAX_DEPTH + 1);
    text[RPC_MAX_DEPTH + 1] = '\0';
    expect(text, "-32600");
}

/* A text of exactly n octets. */
static char *
text_of(size_t n)
{
    char *text = malloc(n + 1);

    memset(text, 'x', n);
    memcpy(text, "[\"", 2);
    memcpy(text + n - 2, "\"]", 3);
    return text;
}

Test(rpc_stream, length)
{
    static const size_t piece = 65536;
    char *text = text_of(RPC_MAX_REQUEST), got[64];
    char *out = malloc(RPC_MAX_REQUEST + 16);
    struct rpc_stream *s = rpc_stream_create();

    feed(s, text, RPC_MAX_REQUEST, piece, out, RPC_MAX_REQUEST + 16);
    cr_assert_eq(strlen(out), RPC_MAX_REQUEST + 1);
    /* The count begins again with each text. */
    feed(s, text, RPC_MAX_REQUEST, piece, out, RPC_MAX_REQUEST + 16);
    cr_assert_eq(strlen(out), RPC_MAX_REQUEST + 1);
    free(text);
    text = text_of(RPC_MAX_REQUEST + 1);
    feed(s, text, RPC_MAX_REQUEST + 1, piece, got, sizeof(got));
    cr_assert_str_eq(got, "-32600");
    rpc_stream_destroy(s);
    free(text);
    free(out);
}

static bool
count_asks(void *ctx)
{
    int *n = ctx;

    return ++*n < 3;
}

/* What may be long is asked for once a text, and only by one that is. */
Test(rpc_stream, long_texts)
{
    static const size_t piece = 65536, n = 2 * RPC_MAX_REQUEST;
    char *text = text_of(n), got[64], *out = malloc(n + 16);
    struct rpc_stream *s = rpc_stream_create();
    int asked = 0;

    rpc_stream_let_long(s, count_asks, &asked);
    feed(s, "{}", 2, piece, got, sizeof(got));
    cr_assert_eq(asked, 0);
    feed(s, text, n, piece, out, n + 16);
    cr_assert_eq(strlen(out), n + 1);
    cr_assert_eq(asked, 1);
    feed(s, "{}", 2, piece, got, sizeof(got));
    cr_assert_str_eq(got, "{} ");
    feed(s, text, n, piece, out, n + 16);
    cr_assert_eq(asked, 2);
    feed(s, text, n, piece, got, sizeof(got));
    cr_assert_eq(asked, 3);
    cr_assert_str_eq(got, "-32600");
    rpc_stream_destroy(s);
    free(text);
    free(out);
}

static bool
always(void *ctx)
{
    (void) ctx;
    return true;
}

/* It is bounded all the same: by octets, containers and values. */
Test(rpc_stream, long_texts_end)
{
    static const char *const elem[] = {" ", "{},", "1,"};
    static const size_t max[] = {RPC_LONG_REQUEST - 1, RPC_LONG_CONTAINERS - 1,
                                 RPC_LONG_VALUES - 1};

    for (int k = 0; k < 3; k++)
        for (size_t more = 0; more < 2; more++) {
            struct rpc_stream *s = rpc_stream_create();
            size_t len = strlen(elem[k]), n = 1 + (max[k] + more) * len;
            char *text = malloc(n + 1), got[64];

            text[0] = '[';
            for (size_t i = 1; i < n; i += len)
                memcpy(text + i, elem[k], len);
            rpc_stream_let_long(s, always, NULL);
            feed(s, text, n, 65536, got, sizeof(got));
            cr_assert_str_eq(got, more ? "-32600" : "", "%s %zu", elem[k],
                             more);
            rpc_stream_destroy(s);
            free(text);
        }
}

/* The bound holds before the end is seen. */
Test(rpc_stream, length_while_arriving)
{
    struct rpc_stream *s = rpc_stream_create();
    char spaces[65536], got[64];
    size_t n = 0;

    memset(spaces, ' ', sizeof(spaces));
    feed(s, "[", 1, 1, got, sizeof(got));
    while (!*got && n < 2 * RPC_MAX_REQUEST) {
        feed(s, spaces, sizeof(spaces), sizeof(spaces), got, sizeof(got));
        n += sizeof(spaces);
    }
    cr_assert_str_eq(got, "-32600");
    cr_assert_eq(n, RPC_MAX_REQUEST);
    rpc_stream_destroy(s);
}

Test(rpc_stream, space_between_texts_is_free)
{
    struct rpc_stream *s = rpc_stream_create();
    char spaces[65536], got[64];

    memset(spaces, '\n', sizeof(spaces));
    for (int i = 0; i < 64; i++) {
        feed(s, spaces, sizeof(spaces), sizeof(spaces), got, sizeof(got));
        cr_assert_str_empty(got);
    }
    cr_assert(rpc_stream_is_idle(s));
    feed(s, "{}[", 3, 3, got, sizeof(got));
    cr_assert_str_eq(got, "{} ");
    cr_assert_not(rpc_stream_is_idle(s));
    rpc_stream_destroy(s);
}

Test(rpc_stream, containers)
{
    size_t n = 3 * (RPC_MAX_CONTAINERS + 1) + 2;
    char *text = malloc(n + 1), *p = text, got[64];
    char *out = malloc(n + 16);
    struct rpc_stream *s;

    *p++ = '[';
    for (int i = 0; i < RPC_MAX_CONTAINERS - 1; i++, p += 3)
        memcpy(p, "{},", 3);
    p[-1] = ']';
    s = rpc_stream_create();
    feed(s, text, (size_t) (p - text), n, out, n + 16);
    cr_assert_eq(strlen(out), (size_t) (p - text) + 1);
    p[-1] = ',';
    memcpy(p, "{}]", 3);
    p += 3;
    feed(s, text, (size_t) (p - text), n, got, sizeof(got));
    cr_assert_str_eq(got, "-32600");
    rpc_stream_destroy(s);
    free(text);
    free(out);
}

Test(rpc_stream, values)
{
    size_t n = 2 * RPC_MAX_VALUES + 2;
    char *text = malloc(n), got[64], *out = malloc(n + 16);
    struct rpc_stream *s = rpc_stream_create();

    /* The array and the elements behind its commas. */
    text[0] = '[';
    for (size_t i = 0; i < RPC_MAX_VALUES; i++)
        memcpy(text + 1 + 2 * i, "1,", 2);
    text[n - 2] = ']';
    feed(s, text, n - 1, n, out, n + 16);
    cr_assert_eq(strlen(out), n);
    text[n - 2] = ',';
    feed(s, text, n - 1, n, got, sizeof(got));
    cr_assert_str_eq(got, "-32600");
    rpc_stream_destroy(s);
    free(text);
    free(out);
}

Test(rpc_stream, own_limits)
{
    static const struct rpc_limits limits = {.octets = 8,
                                             .depth = 2,
                                             .containers = 3};
    struct rpc_stream *s = rpc_stream_create_limited(&limits);
    char got[64];

    feed(s, "[[],[]]", 7, 7, got, sizeof(got));
    cr_assert_str_eq(got, "[[],[]] ");
    feed(s, "[1,2,3,4]", 9, 9, got, sizeof(got));
    cr_assert_str_eq(got, "-32600");
    rpc_stream_destroy(s);
    s = rpc_stream_create_limited(&limits);
    feed(s, "[[[", 3, 3, got, sizeof(got));
    cr_assert_str_eq(got, "-32600");
    rpc_stream_destroy(s);
    rpc_stream_destroy(NULL);
}
