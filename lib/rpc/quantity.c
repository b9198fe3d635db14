/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes, rates and times as people write them ("64K", "200M", "10ms") and the
 * way back.  Integer arithmetic throughout: what was typed is what is stored.
 * Called by the dispatcher for parameters and by sluicectl; any thread.
 */
#include "rpc/rpc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct suffix {
    const char *text; /* without regard to case; null ends the table */
    int64_t factor;   /* how many of the unit it is */
};

/* The first name of each factor is the one that is written; larger factors
 * come later. */
static const struct suffix bytes_suffixes[] = {
    {"", 1},
    {"B", 1},
    {"K", INT64_C(1) << 10},
    {"KiB", INT64_C(1) << 10},
    {"M", INT64_C(1) << 20},
    {"MiB", INT64_C(1) << 20},
    {"G", INT64_C(1) << 30},
    {"GiB", INT64_C(1) << 30},
    {NULL, 0},
};
static const struct suffix bps_suffixes[] = {
    {"", 1},
    {"bit", 1},
    {"K", 1000},
    {"Kbit", 1000},
    {"M", 1000000},
    {"Mbit", 1000000},
    {"G", 1000000000},
    {"Gbit", 1000000000},
    {"T", INT64_C(1000000000000)},
    {"Tbit", INT64_C(1000000000000)},
    {NULL, 0},
};
static const struct suffix ns_suffixes[] = {
    {"ns", 1},       {"", 1},           {"us", 1000},
    {"ms", 1000000}, {"s", 1000000000}, {NULL, 0},
};
static const struct suffix s_suffixes[] = {
    {"s", 1}, {"", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}, {NULL, 0},
};
static const struct suffix ms_suffixes[] = {
    {"ms", 1}, {"", 1}, {"s", 1000}, {"min", 60000}, {NULL, 0},
};
static const struct suffix no_suffixes[] = {{"", 1}, {NULL, 0}};

static const struct {
    const struct suffix *suffixes; /* of the unit */
    const char *what;              /* for messages: "... is not <what>" */
    const char *allowed;           /* what would have been accepted */
} units[] = {
    [RPC_U_NONE] = {no_suffixes, "a whole number", "a whole number"},
    [RPC_U_BYTES] = {bytes_suffixes, "a size",
                     "bytes, or with K, M or G (1024-based), like 64K"},
    [RPC_U_BPS] = {bps_suffixes, "a rate",
                   "bit/s, or with K, M, G or T (1000-based), like 200M"},
    [RPC_U_NS] = {ns_suffixes, "a time",
                  "nanoseconds, or with us, ms or s, like 500us"},
    [RPC_U_S] = {s_suffixes, "a time",
                 "seconds, or with min, h or d, like 5min"},
    [RPC_U_MS] = {ms_suffixes, "a time",
                  "milliseconds, or with ms, s or min, like 2s"},
};

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits at *p into *v; false when they do not fit. */
static bool
read_digits(const char **p, int64_t *v)
{
    for (; is_digit(**p); ++*p)
        if (__builtin_mul_overflow(*v, 10, v) ||
            __builtin_add_overflow(*v, **p - '0', v))
            return false;
    return true;
}

/* Adds the fraction at p (behind the point) times factor to *v.  It must come
 * to a whole number: 1.5K is 1536, 1.5 bytes are nothing. */
static bool
add_fraction(const char *p, int64_t factor, int64_t *v)
{
    __int128 part = 0, scale = 1;

    for (; is_digit(*p); p++) {
        if (scale >= 1000000000)
            return false;
        part = part * 10 + (*p - '0');
        scale *= 10;
    }
    part *= factor;
    if (part % scale)
        return false;
    return !__builtin_add_overflow(*v, (int64_t) (part / scale), v);
}

static const struct suffix *
find_suffix(const struct suffix *s, const char *text)
{
    for (; s->text; s++)
        if (!strcasecmp(s->text, text))
            return s;
    return NULL;
}

/* Parses text; 0, EINVAL (no such thing) or ERANGE (too large). */
static int
parse(const char *text, const struct suffix *suffixes, int64_t *out)
{
    const char *p = text, *fraction = NULL;
    bool negative = *p == '-';
    const struct suffix *s;
    int64_t v = 0;

    p += negative;
    if (!is_digit(*p))
        return EINVAL;
    if (!read_digits(&p, &v))
        return ERANGE;
    if (*p == '.') {
        fraction = ++p;
        if (!is_digit(*p))
            return EINVAL;
        while (is_digit(*p))
            p++;
    }
    s = find_suffix(suffixes, p);
    if (!s)
        return EINVAL;
    if (__builtin_mul_overflow(v, s->factor, &v))
        return ERANGE;
    if (fraction && !add_fraction(fraction, s->factor, &v))
        return EINVAL;
    *out = negative ? -v : v;
    return 0;
}

int
rpc_parse_quantity(const char *text, enum rpc_unit unit, int64_t *out,
                   struct err *err)
{
    int error = parse(text, units[unit].suffixes, out);

    if (error == ERANGE)
        return err_set(err, error, NULL, text, units[unit].allowed,
                       "'%.60s' is too large; allowed: %s", text,
                       units[unit].allowed);
    if (error)
        return err_set(err, error, NULL, text, units[unit].allowed,
                       "'%.60s' is not %s; allowed: %s", text,
                       units[unit].what, units[unit].allowed);
    return 0;
}

char *
rpc_format_quantity(int64_t v, enum rpc_unit unit, char *out, size_t size)
{
    const struct suffix *best = units[unit].suffixes;

    for (const struct suffix *s = best; s->text; s++)
        if (v && s->factor > best->factor && v % s->factor == 0)
            best = s;
    snprintf(out, size, "%" PRId64 "%s", v / best->factor,
             v ? best->text : "");
    return out;
}
