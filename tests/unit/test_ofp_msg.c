/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/ofp: whole messages.  Those of the fuzz corpus were written by another
 * implementation (os-ken; see tests/interop/test_ofp_codec.py): they are cut
 * at every octet here, with and without a header that says so.
 */
#include "ofp/reply.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decodes from memory of exactly n octets. */
static bool
decode(const uint8_t *p, size_t n, struct ofp_error *e, enum ofp_kind *kind)
{
    uint8_t *exact = malloc(n ? n : 1);
    struct ofp_msg m;
    bool ok;

    memcpy(exact, p, n);
    ok = ofp_msg_decode(exact, n, &m, e);
    if (ok) {
        *kind = m.kind;
        ofp_msg_free(&m);
    }
    free(exact);
    return ok;
}

/* Kinds that end where they end: any length will do, from `least` on. */
static bool
has_tail(enum ofp_kind k)
{
    return k == OFPK_HELLO || k == OFPK_ECHO_REQUEST || k == OFPK_PACKET_OUT ||
           k == OFPK_BUNDLE_CTRL || k == OFPK_FLOW_MOD ||
           k == OFPK_GROUP_MOD || k == OFPK_METER_MOD ||
           k == OFPK_MP_TABLE_FEATURES;
}

static void
cut_everywhere(const char *name, uint8_t *msg, size_t n)
{
    struct ofp_error e;
    enum ofp_kind whole = OFP_N_KINDS, kind;
    bool ok = decode(msg, n, &e, &whole);

    for (size_t at = 0; at < n; at++) {
        cr_assert_not(decode(msg, at, &e, &kind), "%s cut at %zu", name, at);
        cr_assert_eq(e.type, OFPET_BAD_REQUEST);
        cr_assert_eq(e.code, OFPBRC_BAD_LEN);
    }
    for (size_t at = OFP_HEADER_LEN; at < n; at++) {
        msg[2] = (uint8_t) (at >> 8);
        msg[3] = (uint8_t) at;
        if (decode(msg, at, &e, &kind) && ok && !has_tail(whole))
            cr_assert_fail("%s is taken with %zu octets", name, at);
    }
}

Test(ofp_msg, cut_at_every_octet)
{
    const char *top = getenv("top_srcdir");
    struct dirent *entry;
    char dir[4096], path[8192];
    unsigned n_files = 0;
    DIR *d;

    snprintf(dir, sizeof(dir), "%s/tests/fuzz/corpus/fuzz_ofp",
             top ? top : ".");
    d = opendir(dir);
    cr_assert(d, "%s", dir);
    while ((entry = readdir(d))) {
        uint8_t msg[4096];
        size_t n;
        FILE *f;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
        f = fopen(path, "rb");
        cr_assert(f, "%s", path);
        n = fread(msg, 1, sizeof(msg), f);
        fclose(f);
        cut_everywhere(entry->d_name, msg, n);
        n_files++;
    }
    closedir(d);
    cr_assert_geq(n_files, 100);
}

/* A flow-mod of 1.3 that adds, with a body of instructions behind an empty
 * match. */
static size_t
flow_mod(uint8_t *msg, const void *inst, size_t n)
{
    struct wcursor w = wcursor_init(msg, OFP_MAX_LEN);
    size_t len = 56 + n;

    wcursor_u8(&w, 4);
    wcursor_u8(&w, 14);
    wcursor_be16(&w, (uint16_t) len);
    wcursor_be32(&w, 1);
    wcursor_zero(&w, 24);
    wcursor_be32(&w, OFP_NO_BUFFER);
    wcursor_be32(&w, OFPP_ANY);
    wcursor_be32(&w, OFPG_ANY);
    wcursor_be32(&w, 0);
    wcursor_be32(&w, 0x00010004);
    wcursor_be32(&w, 0);
    wcursor_bytes(&w, inst, n);
    return len;
}

static void
expect_flow_error(const char *what, const void *inst, size_t n, uint16_t type,
                  uint16_t code)
{
    static uint8_t msg[OFP_MAX_LEN];
    struct ofp_error e;
    enum ofp_kind kind;

    cr_assert_not(decode(msg, flow_mod(msg, inst, n), &e, &kind), "%s", what);
    cr_expect(e.type == type && e.code == code, "%s: %u/%u (%s)", what, e.type,
              e.code, e.msg);
}
#define EXPECT(what, type, code, ...)                            \
    do {                                                         \
        const uint8_t inst[] = {__VA_ARGS__};                    \
        expect_flow_error(what, inst, sizeof(inst), type, code); \
    } while (0)

Test(ofp_msg, lengths_in_every_nesting)
{
    EXPECT("an instruction cut in its head", 3, OFPBIC_BAD_LEN, 0, 4, 0);
    EXPECT("an instruction of no length", 3, OFPBIC_BAD_LEN, 0, 5, 0, 0, 0, 0,
           0, 0);
    EXPECT("an instruction beyond the end", 3, OFPBIC_BAD_LEN, 0, 4, 0, 16, 0,
           0, 0, 0);
    EXPECT("goto-table of 16 octets", 3, OFPBIC_BAD_LEN, 0, 1, 0, 16, 1, 0, 0,
           0, 0, 0, 0, 0, 0, 0, 0, 0);
    EXPECT("write-metadata of 16 octets", 3, OFPBIC_BAD_LEN, 0, 2, 0, 16, 0, 0,
           0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    EXPECT("an action of no length", 2, OFPBAC_BAD_LEN, 0, 4, 0, 16, 0, 0, 0,
           0, 0, 18, 0, 0, 0, 0, 0, 0);
    EXPECT("an action of 12 octets", 2, OFPBAC_BAD_LEN, 0, 4, 0, 24, 0, 0, 0,
           0, 0, 18, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    EXPECT("an action beyond its list", 2, OFPBAC_BAD_LEN, 0, 4, 0, 16, 0, 0,
           0, 0, 0, 0, 0, 16, 0, 0, 0, 1);
    EXPECT("an output of 8 octets", 2, OFPBAC_BAD_LEN, 0, 4, 0, 16, 0, 0, 0, 0,
           0, 0, 0, 8, 0, 0, 0, 1);
    EXPECT("a set-field beyond its action", 2, OFPBAC_BAD_SET_LEN, 0, 4, 0, 24,
           0, 0, 0, 0, 0, 25, 0, 16, 0x80, 0, 0x06, 16, 0, 0, 0, 0, 0, 0, 0,
           0);
    EXPECT("a set-field that leaves 8 octets", 2, OFPBAC_BAD_SET_LEN, 0, 4, 0,
           32, 0, 0, 0, 0, 0, 25, 0, 24, 0x80, 0, 0x0a, 2, 8, 0, 0, 0, 0, 0, 0,
           0, 0, 0, 0, 0, 0, 0, 0, 0);
    EXPECT("home's own numbers", 2, OFPBAC_BAD_TYPE, 0, 4, 0, 16, 0, 0, 0, 0,
           0, 1, 0, 8, 0, 5, 0, 0);
}

/* What Open vSwitch has and Sluice has not is no mistake in the length. */
Test(ofp_msg, actions_of_open_vswitch_that_are_not_known)
{
    static const uint8_t load[24] = {0xff, 0xff, 0, 24, 0, 0, 0x23, 0x20,
                                     0,    7,    0, 15, 0, 0, 0x1e, 2};
    static const uint8_t resubmit[16] = {0xff, 0xff, 0, 16, 0, 0,
                                         0x23, 0x20, 0, 1,  0, 3};
    static const uint8_t queue[24] = {0xff, 0xff, 0,    24, 0,
                                      0,    0x23, 0x20, 0,  4};
    static const uint8_t versions[] = {OFP_V10, OFP_V13};

    for (int i = 0; i < 2; i++) {
        struct ofp_arena arena = {0};
        struct ofp_actions list;
        struct ofp_error e;

        cr_assert_not(ofp_actions_decode(load, sizeof(load), versions[i],
                                         &arena, &list, &e));
        cr_assert_eq(e.type, OFPET_BAD_ACTION);
        cr_assert_eq(e.code, OFPBAC_BAD_EXP_TYPE, "%s", e.msg);
        cr_assert_not(ofp_actions_decode(resubmit, sizeof(resubmit),
                                         versions[i], &arena, &list, &e));
        cr_assert_eq(e.code, OFPBAC_BAD_EXP_TYPE, "%s", e.msg);
        cr_assert_not(ofp_actions_decode(queue, sizeof(queue), versions[i],
                                         &arena, &list, &e));
        cr_assert_eq(e.code, OFPBAC_BAD_LEN, "%s", e.msg);
        ofp_arena_free(&arena);
    }
}

Test(ofp_msg, lists_have_a_bound)
{
    static uint8_t inst[8 + 8 * (OFP_MAX_ACTIONS + 1)], msg[OFP_MAX_LEN];
    struct ofp_error e;
    enum ofp_kind kind;

    for (uint32_t n = OFP_MAX_ACTIONS; n <= OFP_MAX_ACTIONS + 1; n++) {
        struct wcursor w = wcursor_init(inst, sizeof(inst));

        wcursor_be16(&w, 4);
        wcursor_be16(&w, (uint16_t) (8 + 8 * n));
        wcursor_be32(&w, 0);
        for (uint32_t i = 0; i < n; i++) {
            wcursor_be32(&w, 18 << 16 | 8); /* pop a tag */
            wcursor_be32(&w, 0);
        }
        if (n == OFP_MAX_ACTIONS) {
            cr_assert(decode(msg, flow_mod(msg, inst, 8 + 8 * n), &e, &kind));
            continue;
        }
        cr_assert_not(decode(msg, flow_mod(msg, inst, 8 + 8 * n), &e, &kind));
        cr_assert_eq(e.code, OFPBAC_TOO_MANY);
    }
}

Test(ofp_msg, memory_of_a_message_is_bounded)
{
    struct ofp_arena a = {0};
    size_t n = 0;

    cr_assert_null(ofp_arena_get(&a, OFP_ARENA_MAX + 1));
    while (ofp_arena_get(&a, 4000))
        n += 4000;
    cr_assert_leq(n, OFP_ARENA_MAX);
    cr_assert_gt(n, OFP_ARENA_MAX - 8192);
    ofp_arena_free(&a);
}

Test(ofp_msg, what_only_10_says_is_kept_at_home_and_translated)
{
    struct ofp_action list[] = {{.type = OFP_ACT_SET_VLAN_VID, .vid = 0xabc},
                                {.type = OFP_ACT_SET_VLAN_PCP, .pcp = 5},
                                {.type = OFP_ACT_ENQUEUE,
                                 .output = {.port = 3, .queue = 4}}};
    const struct ofp_instructions in = {.has_apply = true, .apply = {3, list}};
    struct ofp_instructions again;
    struct ofp_arena arena = {0};
    struct ofp_buf b = {0};

    ofp_instructions_encode(&b, OFP_VHOME, &in);
    cr_assert(
        ofp_instructions_decode(b.data, b.n, OFP_VHOME, &arena, &again, NULL));
    cr_assert(ofp_instructions_equal(&in, &again));
    ofp_buf_free(&b);
    ofp_instructions_encode(&b, OFP_V13, &in);
    cr_assert(
        ofp_instructions_decode(b.data, b.n, OFP_V13, &arena, &again, NULL));
    cr_assert_eq(again.apply.n, 3);
    cr_assert_eq(again.apply.a[0].set.field, OFP_VLAN_VID);
    cr_assert_eq(again.apply.a[0].set.value[0], 0x1a);
    cr_assert_eq(again.apply.a[1].set.field, OFP_VLAN_PCP);
    cr_assert_eq(again.apply.a[2].type, OFP_ACT_ENQUEUE);
    cr_assert_eq(again.apply.a[2].output.queue, 4);
    cr_assert_eq(again.apply.a[2].output.port, 3);
    ofp_buf_free(&b);
    ofp_arena_free(&arena);
}

Test(ofp_msg, errors_have_numbers_and_names)
{
    uint8_t msg[200] = {4, 14, 0, 200, 0, 0, 0, 9};
    struct ofp_error e = {OFPET_BUNDLE_FAILED, OFPBFC_BAD_ID, ""};
    struct ofp_buf b = {0};
    char name[64];

    ofp_send_error(&b, OFP_V13, msg, sizeof(msg), &e);
    cr_assert_eq(b.n, 16 + 128u);
    cr_assert_eq(memcmp(b.data + 4,
                        "\0\0\0\x09\xff\xff\x08\xfe"
                        "ONF",
                        11),
                 0);
    cr_assert_eq(memcmp(b.data + 16, msg, 128), 0);
    ofp_buf_free(&b);
    e = (struct ofp_error){OFPET_HELLO_FAILED, 0, "no version in common"};
    ofp_send_error(&b, OFP_V13, msg, sizeof(msg), &e);
    cr_assert_eq(b.n, 12 + strlen(e.msg));
    ofp_buf_free(&b);
    cr_assert_str_eq(ofp_error_name(4, 9, name), "BAD_MATCH/BAD_PREREQ");
    cr_assert_str_eq(ofp_error_name(17, 2, name), "BUNDLE_FAILED/BAD_ID");
    cr_assert_str_eq(ofp_error_name(13, 9, name), "TABLE_FEATURES_FAILED/9");
    cr_assert_str_eq(ofp_error_name(99, 9, name), "99/9");
}
