/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of lib/rpc quantity.c and suggest.c.
 */
#include "rpc/rpc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void
parses(const char *text, enum rpc_unit unit, int64_t want)
{
    struct err err;
    int64_t got = -1;

    err_clear(&err);
    cr_assert_eq(rpc_parse_quantity(text, unit, &got, &err), 0, "%s: %s", text,
                 err.msg);
    cr_assert_eq(got, want, "%s is %" PRId64, text, got);
}

static void
refuses(const char *text, enum rpc_unit unit, int code)
{
    struct err err;
    int64_t got = 4711;

    err_clear(&err);
    cr_assert_eq(rpc_parse_quantity(text, unit, &got, &err), code, "%s", text);
    cr_assert_eq(got, 4711);
    cr_assert_str_eq(err.value, text);
    cr_assert_str_not_empty(err.allowed);
    cr_assert(strstr(err.msg, text), "%s", err.msg);
    cr_assert(strstr(err.msg, err.allowed), "%s", err.msg);
}

Test(rpc_values, bytes)
{
    parses("0", RPC_U_BYTES, 0);
    parses("65536", RPC_U_BYTES, 65536);
    parses("64K", RPC_U_BYTES, 65536);
    parses("64k", RPC_U_BYTES, 65536);
    parses("64KiB", RPC_U_BYTES, 65536);
    parses("12B", RPC_U_BYTES, 12);
    parses("1M", RPC_U_BYTES, 1048576);
    parses("4G", RPC_U_BYTES, INT64_C(4294967296));
    parses("1.5K", RPC_U_BYTES, 1536);
    parses("1.25K", RPC_U_BYTES, 1280);
    parses("0.5M", RPC_U_BYTES, 524288);
    parses("1.000K", RPC_U_BYTES, 1024);
    parses("-3", RPC_U_BYTES, -3);
}

Test(rpc_values, rates)
{
    parses("200M", RPC_U_BPS, 200000000);
    parses("200Mbit", RPC_U_BPS, 200000000);
    parses("10G", RPC_U_BPS, INT64_C(10000000000));
    parses("2.5G", RPC_U_BPS, INT64_C(2500000000));
    parses("1T", RPC_U_BPS, INT64_C(1000000000000));
    parses("64k", RPC_U_BPS, 64000);
    parses("0.000001M", RPC_U_BPS, 1);
}

Test(rpc_values, times)
{
    parses("5", RPC_U_NS, 5);
    parses("5ns", RPC_U_NS, 5);
    parses("500us", RPC_U_NS, 500000);
    parses("10ms", RPC_U_NS, 10000000);
    parses("2s", RPC_U_NS, 2000000000);
    parses("0.5us", RPC_U_NS, 500);
    parses("300", RPC_U_S, 300);
    parses("300s", RPC_U_S, 300);
    parses("5min", RPC_U_S, 300);
    parses("1h", RPC_U_S, 3600);
    parses("1d", RPC_U_S, 86400);
}

Test(rpc_values, refused)
{
    static const char *const texts[] = {
        "",      "K",       "-",    "x",   "64Q", "64 K",
        " 64",   "0x10",    "1e3",  "1.",  ".5",  "1.5",
        "1..5K", "1.0001K", "64KK", "--1", "+1",  "1.1234567890K",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        refuses(texts[i], RPC_U_BYTES, EINVAL);
    refuses("1K", RPC_U_NONE, EINVAL);
    refuses("1M", RPC_U_NS, EINVAL);
    refuses("1ms", RPC_U_BYTES, EINVAL);
    refuses("9223372036854775808", RPC_U_NONE, ERANGE);
    refuses("99999999999G", RPC_U_BYTES, ERANGE);
    parses("9223372036854775807", RPC_U_NONE, INT64_MAX);
}

static void
formats(int64_t v, enum rpc_unit unit, const char *want)
{
    char text[32];
    int64_t back = -1;

    cr_assert_str_eq(rpc_format_quantity(v, unit, text, sizeof(text)), want);
    cr_assert_eq(rpc_parse_quantity(text, unit, &back, NULL), 0);
    cr_assert_eq(back, v);
}

Test(rpc_values, written)
{
    formats(0, RPC_U_BYTES, "0");
    formats(1, RPC_U_BYTES, "1");
    formats(65536, RPC_U_BYTES, "64K");
    formats(67108864, RPC_U_BYTES, "64M");
    formats(INT64_C(4) << 30, RPC_U_BYTES, "4G");
    formats(65537, RPC_U_BYTES, "65537");
    formats(-65536, RPC_U_BYTES, "-64K");
    formats(200000000, RPC_U_BPS, "200M");
    formats(INT64_C(2500000000), RPC_U_BPS, "2500M");
    formats(INT64_C(400000000000), RPC_U_BPS, "400G");
    formats(0, RPC_U_NS, "0");
    formats(7, RPC_U_NS, "7ns");
    formats(500000, RPC_U_NS, "500us");
    formats(2000000000, RPC_U_NS, "2s");
    formats(300, RPC_U_S, "5min");
    formats(7, RPC_U_S, "7s");
    formats(7, RPC_U_NONE, "7");
    formats(INT64_MAX, RPC_U_BYTES, "9223372036854775807");
}

static const char *const nouns[] = {"bridge", "port",   "pfc",   "pause",
                                    "buffer", "queue",  "map",   "mac",
                                    "stats",  "events", "apply", "export",
                                    "audit",  "doctor", NULL};

static void
suggests(const char *word, const char *want)
{
    const char *got = rpc_suggest(word, nouns);

    if (want)
        cr_assert(got && !strcmp(got, want), "%s -> %s", word, got);
    else
        cr_assert_null(got, "%s -> %s", word, got);
}

Test(rpc_values, suggest)
{
    suggests("prot", "port");
    suggests("brigde", "bridge");
    suggests("bufer", "buffer");
    suggests("buf", "buffer");
    suggests("queues", "queue");
    suggests("pcf", "pfc");
    suggests("Port", "port");
    suggests("stat", "stats");
    suggests("docter", "doctor");
    suggests("event", "events");
    suggests("", NULL);
    suggests("x", NULL);
    suggests("watchdog", NULL);
    suggests("interface", NULL);
    suggests("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL);
}
