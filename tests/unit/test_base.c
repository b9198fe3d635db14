/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/base: cursors never pass an end, errors keep what they are told, the
 * random generator repeats itself, and the log holds back what is too much.
 */
#include "base/clock.h"
#include "base/cursor.h"
#include "base/err.h"
#include "base/log.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(cursor, reads_network_order)
{
    const uint8_t b[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    struct cursor c = cursor_init(b, sizeof(b));

    cr_assert_eq(cursor_u8(&c), 1);
    cr_assert_eq(cursor_be16(&c), 0x0203);
    cr_assert_eq(cursor_be32(&c), 0x04050607);
    cr_assert_eq(cursor_be64(&c), UINT64_C(0x08090a0b0c0d0e0f));
    cr_assert_eq(c.left, 0);
    cr_assert_not(c.bad);
}

Test(cursor, past_the_end_is_zero_and_bad_for_good)
{
    const uint8_t b[] = {1, 2, 3};
    struct cursor c = cursor_init(b, sizeof(b));

    cr_assert_eq(cursor_be16(&c), 0x0102);
    cr_assert_eq(cursor_be16(&c), 0);
    cr_assert(c.bad);
    cr_assert_eq(cursor_u8(&c), 0, "one octet was left, but a read failed");
    cr_assert_null(cursor_take(&c, 1));
}

Test(cursor, writes_what_fits_and_nothing_else)
{
    uint8_t b[8] = {0};
    struct wcursor c = wcursor_init(b, 7);

    wcursor_be32(&c, 0xdeadbeef);
    wcursor_be16(&c, 0x0102);
    wcursor_be16(&c, 0xffff); /* one octet of room */
    cr_assert(c.bad);
    cr_assert_arr_eq(b, ((uint8_t[]){0xde, 0xad, 0xbe, 0xef, 1, 2, 0, 0}), 8);
}

Test(err, keeps_path_value_and_what_is_allowed)
{
    struct err e;

    cr_assert_eq(err_set(&e, ERANGE, "/a/b", "9", "0 to 7", "b is %d", 9),
                 ERANGE);
    cr_assert_eq(e.code, ERANGE);
    cr_assert_str_eq(e.path, "/a/b");
    cr_assert_str_eq(e.value, "9");
    cr_assert_str_eq(e.allowed, "0 to 7");
    cr_assert_str_eq(e.msg, "b is 9");
    cr_assert_eq(err_set(NULL, EINVAL, NULL, NULL, NULL, "x"), EINVAL);
}

Test(err, cuts_what_is_too_long)
{
    struct err e;
    char text[2000];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    err_set(&e, EINVAL, text, text, text, "%s", text);
    cr_assert_eq(strlen(e.path), sizeof(e.path) - 1);
    cr_assert_eq(strlen(e.msg), sizeof(e.msg) - 1);
    err_sys(&e, ENOENT, "opening %s", "x");
    cr_assert_str_eq(e.msg, "opening x: No such file or directory");
    cr_assert_str_empty(e.path);
}

Test(rng, same_seed_same_numbers_within_bounds)
{
    struct rng a = {42}, b = {42};
    uint64_t seen = 0;

    for (int i = 0; i < 1000; i++) {
        uint64_t v = rng_range(&a, 3, 9);

        cr_assert_eq(v, rng_range(&b, 3, 9));
        cr_assert(v >= 3 && v <= 9);
        seen |= UINT64_C(1) << v;
    }
    cr_assert_eq(seen, 0x3f8, "every value of the range came up");
}

Test(log, limit_opens_again_with_the_next_second)
{
    struct log_limit l = {0};
    uint64_t now = 5 * NS_PER_S;

    log_init("test", LOG_DEST_STDERR, LOG_LVL_ERR);
    for (int i = 0; i < 3; i++)
        cr_assert(log_limit_ok(&l, 3, now));
    cr_assert_not(log_limit_ok(&l, 3, now + 1));
    cr_assert_eq(l.held, 1);
    cr_assert(log_limit_ok(&l, 3, now + NS_PER_S));
    cr_assert_eq(l.held, 0);
}

/* What a message quotes may be anybody's: it makes no line of its own. */
Test(log, a_record_is_one_line)
{
    FILE *was = stderr;
    char *text = NULL;
    size_t n = 0;

    log_init("test", LOG_DEST_STDERR, LOG_LVL_ERR);
    stderr = open_memstream(&text, &n);
    log_err("one\ntwo\r\n\tthree\033[2J\177 \303\244%s", "\n");
    fclose(stderr);
    stderr = was;
    cr_assert(strstr(text, " test: error: one two   three [2J  \303\244 \n"),
              "%s", text);
    cr_assert_eq(strchr(text, '\n'), text + n - 1, "%s", text);
    free(text);
}

Test(log, level_words)
{
    enum log_level level = LOG_LVL_ERR;

    cr_assert(log_level_parse("debug", &level));
    cr_assert_eq(level, LOG_LVL_DEBUG);
    cr_assert_not(log_level_parse("loud", &level));
    cr_assert_eq(level, LOG_LVL_DEBUG);
}
