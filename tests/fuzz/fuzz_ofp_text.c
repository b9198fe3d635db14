/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: anything as a flow, a group or a meter in text; the first octet
 * says which.  What is taken must say the same after it was shown and read
 * again, and its actions must fit a message.
 */
#include "ofp/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static void
check_flow(const char *s)
{
    struct ofp_arena arena = {0};
    struct ofp_flow_mod f, again;
    struct ofp_buf b = {0};
    struct err err = {0};

    if (ofp_text_flow(s, OFPFC_ADD, NULL, &arena, &f, &err) == 0) {
        struct ofp_flow_stats st = {.table = f.table,
                                    .priority = f.priority,
                                    .flags = f.flags,
                                    .idle_s = f.idle_s,
                                    .hard_s = f.hard_s,
                                    .cookie = f.cookie,
                                    .match = &f.match,
                                    .inst = &f.inst};

        ofp_put_flow(&b, OFP_V13, &st);
        require(b.n <= OFP_MAX_LEN);
        b.n = 0;
        ofp_text_put_flow_file(&b, &st, NULL);
        ofp_buf_u8(&b, 0);
        if (b.n < OFP_TEXT_MAX) {
            require(ofp_text_flow((char *) b.data, OFPFC_ADD, NULL, &arena,
                                  &again, &err) == 0);
            require(memcmp(&f.match, &again.match, sizeof(f.match)) == 0);
            require(ofp_instructions_equal(&f.inst, &again.inst));
        }
    } else {
        require(err.code && err.msg[0]);
    }
    ofp_buf_free(&b);
    ofp_arena_free(&arena);
}

static void
check_group(const char *s)
{
    struct ofp_arena arena = {0};
    struct ofp_group_mod g, again;
    struct ofp_buf b = {0};

    if (ofp_text_group(s, OFPGC_ADD, NULL, &arena, &g, NULL) == 0) {
        ofp_text_put_group(&b, &g.group, NULL);
        ofp_buf_u8(&b, 0);
        if (b.n < OFP_TEXT_MAX) {
            require(ofp_text_group((char *) b.data, OFPGC_ADD, NULL, &arena,
                                   &again, NULL) == 0);
            require(again.group.n_buckets == g.group.n_buckets);
        }
    }
    ofp_buf_free(&b);
    ofp_arena_free(&arena);
}

static void
check_meter(const char *s)
{
    struct ofp_meter_mod m, again;
    struct ofp_buf b = {0};

    if (ofp_text_meter(s, OFPMC_ADD, &m, NULL) == 0) {
        ofp_text_put_meter(&b, &m.meter);
        ofp_buf_u8(&b, 0);
        require(ofp_text_meter((char *) b.data, OFPMC_ADD, &again, NULL) == 0);
        require(memcmp(&m, &again, sizeof(m)) == 0);
    }
    ofp_buf_free(&b);
}

static void
check_lines(const char *s)
{
    static struct ofp_lines l;
    enum ofp_flow_command c;

    l = (struct ofp_lines){.rest = s};
    while (ofp_lines_next(&l))
        require(*ofp_text_command(l.line, &c) || l.line[0]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *s = malloc(n + 1);

    require(s);
    if (n)
        memcpy(s, data, n);
    s[n] = '\0';
    if (n > 0 && s[0] == 'G')
        check_group(s + 1);
    else if (n > 0 && s[0] == 'M')
        check_meter(s + 1);
    else
        check_flow(s);
    check_lines(s);
    free(s);
    return 0;
}
