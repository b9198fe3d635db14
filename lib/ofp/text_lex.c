/* SPDX-License-Identifier: Apache-2.0
 *
 * Words and values of the text syntax: see text_lex.h.
 */
#include "ofp/text_lex.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BETWEEN ", \t\r\n"

int
text_fail(const struct text *t, const char *word, const char *allowed,
          const char *format, ...)
{
    char msg[400];
    va_list ap;

    va_start(ap, format);
    vsnprintf(msg, sizeof(msg), format, ap);
    va_end(ap);
    return err_set(t->err, EINVAL, NULL, word, allowed, "%s", msg);
}

char *
text_copy(const struct text *t, const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = n <= OFP_TEXT_MAX ? ofp_arena_get(t->arena, n) : NULL;

    if (copy)
        memcpy(copy, s, n);
    else
        text_fail(t, NULL, NULL, "the text is longer than %d octets",
                  OFP_TEXT_MAX - 1);
    return copy;
}

/* Where a value ends: at a separator that is outside of parentheses and
 * quotation marks. */
static char *
value_end(char *s)
{
    int depth = 0;
    bool quoted = false;

    for (; *s; s++) {
        if (*s == '"')
            quoted = !quoted;
        else if (quoted)
            continue;
        else if (*s == '(')
            depth++;
        else if (*s == ')' && depth > 0)
            depth--;
        else if (depth == 0 && strchr(BETWEEN, *s))
            break;
    }
    return s;
}

/* Ends the word at s and steps over what ended it. */
static char *
cut(char *s)
{
    if (*s)
        *s++ = '\0';
    return s;
}

static char *
closing(char *s)
{
    int depth = 1;

    for (; *s; s++) {
        if (*s == '(')
            depth++;
        else if (*s == ')' && --depth == 0)
            break;
    }
    return s;
}

static void
unquote(char *s)
{
    size_t n = strlen(s);

    if (n >= 2 && s[0] == '"' && s[n - 1] == '"') {
        memmove(s, s + 1, n - 2);
        s[n - 2] = '\0';
    }
}

bool
text_next(char **s, struct text_pair *p)
{
    char *at = *s + strspn(*s, BETWEEN), *end;

    if (!*at)
        return false;
    *p = (struct text_pair){.key = at, .value = at + strlen(at)};
    end = *at == '"' ? value_end(at) : at + strcspn(at, ":=(" BETWEEN);
    p->delimiter = *end == ':' || *end == '=' || *end == '(' ? *end : '\0';
    if (!p->delimiter) {
        *s = cut(end);
        unquote(p->key);
        return true;
    }
    p->value = cut(end);
    end = p->delimiter == '(' ? closing(p->value) : value_end(p->value);
    *s = cut(end);
    unquote(p->value);
    return true;
}

bool
text_u64(const char *s, uint64_t *v)
{
    char *end;

    if (!isdigit((unsigned char) *s))
        return false;
    errno = 0;
    *v = strtoull(s, &end, 0);
    return errno == 0 && !*end;
}

int
text_number(const struct text *t, const char *key, const char *value,
            uint64_t max, uint64_t *v)
{
    char allowed[64];
    uint64_t got;

    if (text_u64(value, &got) && got <= max) {
        *v = got;
        return 0;
    }
    snprintf(allowed, sizeof(allowed), "a number from 0 to %llu",
             (unsigned long long) max);
    return text_fail(t, value, allowed, "%s: \"%s\" is not %s", key, value,
                     allowed);
}

static const struct {
    const char *name; /* in any case */
    uint32_t port;    /* its number */
} reserved[] = {
    {"IN_PORT", OFPP_IN_PORT}, {"TABLE", OFPP_TABLE},
    {"NORMAL", OFPP_NORMAL},   {"FLOOD", OFPP_FLOOD},
    {"ALL", OFPP_ALL},         {"CONTROLLER", OFPP_CONTROLLER},
    {"LOCAL", OFPP_LOCAL},     {"ANY", OFPP_ANY},
    {"NONE", OFPP_ANY},
};

bool
ofp_text_port(const char *word, const struct ofp_names *names, uint32_t *port)
{
    uint64_t v;

    if (text_u64(word, &v)) {
        /* 1.0's numbers of the reserved ports mean the same. */
        if (v >= 0xfff8 && v <= 0xffff)
            v |= 0xffff0000u;
        *port = (uint32_t) v;
        return v <= UINT32_MAX && (v < OFPP_MAX || v >= OFPP_IN_PORT);
    }
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (strcasecmp(word, reserved[i].name) == 0) {
            *port = reserved[i].port;
            return true;
        }
    return names && names->number && names->number(names->arg, word, port);
}

/* --- values of fields ---------------------------------------------------- */

static void
put_number(uint8_t *v, unsigned n, uint64_t number)
{
    for (; n > 0; n--, number >>= 8)
        v[n - 1] = (uint8_t) number;
}

static bool
is_ip4(enum ofp_field f)
{
    return f == OFP_IPV4_SRC || f == OFP_IPV4_DST || f == OFP_ARP_SPA ||
           f == OFP_ARP_TPA;
}

/* As Open vSwitch reads it: 0:0:0:0:0:1 is one, too. */
static bool
mac_value(const char *s, uint8_t *v)
{
    uint8_t mac[6];

    for (int i = 0; i < 6; i++) {
        size_t n = strspn(s, "0123456789abcdefABCDEF");

        if (n < 1 || n > 2 || s[n] != (i < 5 ? ':' : '\0'))
            return false;
        mac[i] = (uint8_t) strtoul(s, NULL, 16);
        s += n + 1;
    }
    memcpy(v, mac, 6);
    return true;
}

/* A value or a mask, by what the field is; null: fine, else what is allowed.
 */
static const char *
one_value(const struct text *t, enum ofp_field f, const char *s, uint8_t *v)
{
    const struct ofp_field_info *i = &ofp_fields[f];
    uint32_t port;
    uint64_t number;

    if (i->is_octets && i->n_bytes == 6)
        return mac_value(s, v) ? NULL : "a MAC address";
    if (i->is_octets)
        return inet_pton(AF_INET6, s, v) == 1 ? NULL : "an IPv6 address";
    if (is_ip4(f))
        return inet_pton(AF_INET, s, v) == 1 ? NULL : "an IPv4 address";
    if (f == OFP_IN_PORT || f == OFP_IN_PHY_PORT) {
        if (!ofp_text_port(s, t->names, &port))
            return "a port's number or name";
        put_number(v, 4, port);
        return NULL;
    }
    if (!text_u64(s, &number) || (i->n_bits < 64 && number >> i->n_bits))
        return "a number of as many bits as the field has";
    put_number(v, i->n_bytes, number);
    return NULL;
}

/* "/24" of an IP address. */
static bool
prefix_mask(enum ofp_field f, const char *s, uint8_t *mask)
{
    const struct ofp_field_info *i = &ofp_fields[f];
    uint64_t n;

    if (!(is_ip4(f) || (i->is_octets && i->n_bytes == 16)) ||
        !text_u64(s, &n) || n > i->n_bits)
        return false;
    for (int at = 0; at<i->n_bytes; at++, n = n> 8 ? n - 8 : 0)
        mask[at] = n >= 8 ? 0xff : (uint8_t) (0xff00 >> n);
    return true;
}

static int
bad_value(const struct text *t, const char *key, const char *word,
          const char *allowed, enum ofp_field f)
{
    char why[96];

    snprintf(why, sizeof(why), "%s", allowed);
    if (strstr(allowed, "as many bits"))
        snprintf(why, sizeof(why), "a number of %u bits",
                 ofp_fields[f].n_bits);
    return text_fail(t, word, why, "%s: \"%s\" is not %s", key, word, why);
}

int
text_field(const struct text *t, const char *key, enum ofp_field f,
           char *value, uint8_t *v, uint8_t *mask, bool *has_mask)
{
    const struct ofp_field_info *i = &ofp_fields[f];
    char *slash = strchr(value, '/');
    const char *bad;

    ofp_field_ones(f, mask);
    if (has_mask && (strcmp(value, "*") == 0 || strcmp(value, "ANY") == 0)) {
        memset(v, 0, i->n_bytes);
        memset(mask, 0, i->n_bytes);
        *has_mask = true;
        return 0;
    }
    if (slash && (!has_mask || !i->maskable))
        return text_fail(t, value, "a value without a mask",
                         "%s cannot have a mask", key);
    if (slash)
        *slash++ = '\0';
    bad = one_value(t, f, value, v);
    if (bad)
        return bad_value(t, key, value, bad, f);
    if (has_mask)
        *has_mask = slash != NULL;
    if (slash && !prefix_mask(f, slash, mask)) {
        bad = one_value(t, f, slash, mask);
        if (bad)
            return bad_value(t, key, slash, bad, f);
    }
    for (int at = 0; at < i->n_bytes; at++)
        v[at] &= mask[at];
    return 0;
}
