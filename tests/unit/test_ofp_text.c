/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/ofp: the text syntax of ovs-ofctl.  tests/unit/data has flow files, and
 * what Open vSwitch 3.1 showed of the switch that they were loaded into.
 */
#include "ofp/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
number_of(void *arg, const char *name, uint32_t *port)
{
    (void) arg;
    if (strcmp(name, "p1") && strcmp(name, "p2") && strcmp(name, "odd name"))
        return false;
    *port = name[0] == 'o' ? 3 : name[1] == '1' ? 2 : 1;
    return true;
}

static const char *
name_of(void *arg, uint32_t port)
{
    (void) arg;
    return port == 2 ? "p1" : port == 1 ? "p2" : port == 3 ? "odd name" : NULL;
}

static const struct ofp_names names = {number_of, name_of, NULL};

static char *
slurp(const char *name)
{
    const char *top = getenv("top_srcdir");
    char path[4096];
    char *text = calloc(1, 65536);
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "%s/tests/unit/data/%s", top ? top : ".",
             name);
    f = fopen(path, "rb");
    cr_assert(f, "%s", path);
    n = fread(text, 1, 65535, f);
    cr_assert(n > 0 && n < 65535);
    fclose(f);
    return text;
}

/* The flow as a line of a file, in the caller's memory. */
static char *
show(const struct ofp_flow_mod *f, const struct ofp_names *with)
{
    struct ofp_flow_stats s = {.table = f->table,
                               .priority = f->priority,
                               .flags = f->flags,
                               .idle_s = f->idle_s,
                               .hard_s = f->hard_s,
                               .cookie = f->cookie,
                               .match = &f->match,
                               .inst = &f->inst};
    struct ofp_buf b = {0};

    ofp_text_put_flow_file(&b, &s, with);
    ofp_buf_u8(&b, 0);
    return (char *) b.data;
}

/* Reads a line, and its form as we show it: both say the same. */
static void
round_trip(const char *line)
{
    struct ofp_arena arena = {0};
    struct ofp_flow_mod f, again;
    struct err err = {0};
    char *text;

    for (int with = 0; with < 2; with++) {
        cr_assert_eq(ofp_text_flow(line, OFPFC_ADD, &names, &arena, &f, &err),
                     0, "%s: %s", line, err.msg);
        text = show(&f, with ? &names : NULL);
        cr_assert_eq(ofp_text_flow(text, OFPFC_ADD, &names, &arena, &again,
                                   &err),
                     0, "%s: %s", text, err.msg);
        cr_assert_eq(memcmp(&f.match, &again.match, sizeof(f.match)), 0, "%s",
                     text);
        cr_assert(ofp_instructions_equal(&f.inst, &again.inst), "%s\n%s", line,
                  text);
        cr_assert(f.table == again.table && f.priority == again.priority &&
                      f.cookie == again.cookie && f.flags == again.flags &&
                      f.idle_s == again.idle_s && f.hard_s == again.hard_s,
                  "%s", text);
        free(text);
    }
    ofp_arena_free(&arena);
}

Test(ofp_text, flow_files_and_dumps_of_open_vswitch_load)
{
    static const struct {
        const char *name; /* of the file */
        unsigned n;       /* flows in it */
    } files[] = {{"flows.txt", 33},
                 {"ovs-dump-flows-13.txt", 32},
                 {"ovs-dump-flows-13-names.txt", 32},
                 {"ovs-dump-flows-10.txt", 20}};

    for (size_t i = 0; i < 4; i++) {
        char *text = slurp(files[i].name);
        struct ofp_lines lines = {.rest = text};
        unsigned n = 0;

        for (; ofp_lines_next(&lines); n++)
            round_trip(lines.line);
        cr_assert_not(lines.too_long);
        cr_assert_eq(n, files[i].n, "%s: %u", files[i].name, n);
        free(text);
    }
}

/* An octet may have one digit, as it may for ovs-ofctl. */
Test(ofp_text, addresses_may_be_short)
{
    static const uint8_t want[6] = {0, 1, 0x0a, 0xb, 0xcc, 0};
    struct ofp_arena arena = {0};
    struct ofp_flow_mod f;
    struct err err = {0};

    cr_assert_eq(ofp_text_flow("dl_src=0:1:a:0B:cc:0/1:0:0:0:0:0,"
                               "actions=mod_dl_dst:0:1:a:0B:cc:0,"
                               "set_field:0:1:A:B:CC:0->eth_src,output:1",
                               OFPFC_ADD, &names, &arena, &f, &err),
                 0, "%s", err.msg);
    for (int i = 0; i < 2; i++)
        cr_assert_arr_eq(f.inst.apply.a[i].set.value, want, 6);
    ofp_arena_free(&arena);
}

/* What Open vSwitch showed of a flow is what we show of it. */
Test(ofp_text, dumps_look_as_those_of_open_vswitch)
{
    char *text = slurp("ovs-dump-flows-13.txt");
    struct ofp_lines lines = {.rest = text};
    unsigned n_same = 0, n = 0;

    for (; ofp_lines_next(&lines); n++) {
        struct ofp_arena arena = {0};
        struct ofp_flow_mod f;
        const char *want = strstr(lines.line, "n_bytes=0, ") + 11;
        char *got;

        cr_assert_eq(ofp_text_flow(lines.line, OFPFC_ADD, &names, &arena, &f,
                                   NULL),
                     0);
        got = show(&f, NULL);
        n_same +=
            strcmp(strstr(got, "table=") + strlen("table=0, "), want) == 0;
        free(got);
        ofp_arena_free(&arena);
    }
    /* Three differ: vlan_tci=0x0000/0x1fff, set_mpls_ttl(9), enqueue. */
    cr_assert_eq(n_same, n - 3, "%u of %u", n_same, n);
    free(text);
}

Test(ofp_text, groups_load)
{
    static const char *const files[] = {"groups.txt",
                                        "ovs-dump-groups-13.txt"};

    for (size_t i = 0; i < 2; i++) {
        char *text = slurp(files[i]);
        struct ofp_lines lines = {.rest = text};
        unsigned n = 0;

        for (; ofp_lines_next(&lines); n++) {
            struct ofp_arena arena = {0};
            struct ofp_group_mod g, again;
            struct ofp_buf b = {0}, c = {0};
            struct err err = {0};

            cr_assert_eq(ofp_text_group(lines.line, OFPGC_ADD, &names, &arena,
                                        &g, &err),
                         0, "%s: %s", lines.line, err.msg);
            ofp_text_put_group(&b, &g.group, &names);
            ofp_buf_u8(&b, 0);
            cr_assert_eq(ofp_text_group((char *) b.data, OFPGC_ADD, &names,
                                        &arena, &again, &err),
                         0, "%s: %s", b.data, err.msg);
            ofp_text_put_group(&c, &again.group, NULL);
            ofp_buf_u8(&c, 0);
            if (i == 1 && !strstr(lines.line, "push_vlan"))
                cr_assert_str_eq((char *) c.data, lines.line);
            ofp_buf_free(&b);
            ofp_buf_free(&c);
            ofp_arena_free(&arena);
        }
        cr_assert_eq(n, 6);
        free(text);
    }
}

/* A line that is refused, the word that is named, and a part of the reason. */
static const struct {
    const char *line;  /* of a flow to add */
    const char *value; /* word in the error; null: not looked at */
    const char *why;   /* part of the sentence */
} refused[] = {
    {"in_port=1", NULL, "there are no actions"},
    {"reg0=1,actions=drop", "reg0", "extension of Open vSwitch"},
    {"tcp_flags=syn,actions=drop", "tcp_flags", "extension of Open vSwitch"},
    {"bogus=1,actions=drop", "bogus", "no word of a flow"},
    {"importance=1,actions=drop", "importance", "1.4"},
    {"table=254,actions=drop", "254", "0 to 253"},
    {"priority=65536,actions=drop", "65536", "0 to 65535"},
    {"priority=x,actions=drop", "x", "0 to 65535"},
    {"nw_src=1.2.3.4,actions=drop", "ipv4_src", "beside ip"},
    {"tp_dst=80,actions=drop", "tcp_dst", "beside tcp"},
    {"ip,nw_src=1.2.3,actions=drop", "1.2.3", "an IPv4 address"},
    {"ip,nw_src=1.2.3.4/33,actions=drop", "33", "an IPv4 address"},
    {"dl_src=1:2,actions=drop", "1:2", "a MAC address"},
    {"dl_src=1:2:3:4:5:006,actions=drop", "1:2:3:4:5:006", "a MAC address"},
    {"dl_src=1:2:3:4:5:6:7,actions=drop", "1:2:3:4:5:6:7", "a MAC address"},
    {"dl_src=1:2:3::5:6,actions=drop", "1:2:3::5:6", "a MAC address"},
    {"in_port=eth9,actions=drop", "eth9", "a port's number or name"},
    {"dl_vlan=4096,actions=drop", "4096", "0 to 4095"},
    {"vlan_vid=5,actions=drop", NULL, "0x1000"},
    {"ip,nw_tos=3,actions=drop", "3", "ECN"},
    {"ip,nw_proto=1/3,actions=drop", NULL, "cannot have a mask"},
    {"tcp,udp,actions=drop", "udp", "given twice"},
    {"ip,tcp=3,actions=drop", NULL, "has no value"},
    {"dl_type=,actions=drop", "dl_type", "needs a value"},
    {"cookie=1/2,actions=drop", NULL, "no mask"},
    {"out_port=1,actions=drop", "out_port", "deletions"},
    {"actions=resubmit(,1)", "resubmit", "extension of Open vSwitch"},
    {"actions=learn(table=1)", "learn", "extension of Open vSwitch"},
    {"actions=foo", "foo", "neither an action nor a port"},
    {"actions=output:eth9", "eth9", "no port"},
    {"actions=output:TABLE", "TABLE", "only a packet-out"},
    {"actions=output:0", NULL, "port 0"},
    {"actions=drop,output:1", "drop", "other actions"},
    {"actions=mod_vlan_vid:4096", "4096", "0 to 4095"},
    {"actions=set_field:1->bogus", "bogus", "no field"},
    {"actions=set_field:1->reg0", "reg0", "extension"},
    {"actions=set_field:1->in_port", "in_port", "cannot be set"},
    {"actions=set_field:1.2.3.4", NULL, "a value and a field"},
    {"actions=set_field:1.2.3.4->ip_src", NULL, "depends on"},
    {"actions=push_vlan:0x800", "push_vlan", "0x8100 or 0x88a8"},
    {"actions=goto_table:0", "goto_table", "higher"},
    {"table=3,actions=goto_table:2", "goto_table", "higher"},
    {"actions=goto_table:1,goto_table:2", "goto_table", "twice"},
    {"actions=write_actions(goto_table:2)", "goto_table", "only actions"},
    {"actions=enqueue:1", NULL, "a port and a queue"},
    {"actions=dec_ttl(1,2)", "1,2", "no argument"},
    {"actions=mod_tp_dst:1", "mod_tp_dst", "tcp, udp or sctp"},
    {"actions=controller(userdata=1)", "userdata", "extension"},
    {"ip,actions=pop_mpls:0x800", NULL, "no MPLS"},
    {"vlan_tci=0,actions=pop_vlan", NULL, "no tag"},
};

Test(ofp_text, what_is_wrong_is_named)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct ofp_arena arena = {0};
        struct ofp_flow_mod f;
        struct err err = {0};

        cr_expect_neq(ofp_text_flow(refused[i].line, OFPFC_ADD, &names, &arena,
                                    &f, &err),
                      0, "%s is taken", refused[i].line);
        cr_expect(strstr(err.msg, refused[i].why), "%s: %s", refused[i].line,
                  err.msg);
        if (refused[i].value)
            cr_expect_str_eq(err.value, refused[i].value, "%s: %s (%s)",
                             refused[i].line, err.value, err.msg);
        ofp_arena_free(&arena);
    }
}

Test(ofp_text, deletions_and_strictness)
{
    struct ofp_arena arena = {0};
    struct ofp_flow_mod f;
    struct err err = {0};

    cr_assert_eq(ofp_text_flow("", OFPFC_DELETE, &names, &arena, &f, &err), 0);
    cr_assert(f.table == OFPTT_ALL && f.match.present == 0);
    cr_assert_eq(ofp_text_flow("cookie=0x10/-1,out_port=p1,out_group=7,tcp",
                               OFPFC_DELETE, &names, &arena, &f, &err),
                 0, "%s", err.msg);
    cr_assert(f.cookie == 16 && f.cookie_mask == UINT64_MAX &&
              f.out_port == 2 && f.out_group == 7);
    cr_assert_neq(ofp_text_flow("priority=1", OFPFC_DELETE, &names, &arena, &f,
                                &err),
                  0);
    cr_assert_eq(ofp_text_flow("priority=1,in_port=LOCAL", OFPFC_DELETE_STRICT,
                               &names, &arena, &f, &err),
                 0);
    cr_assert(f.priority == 1 && f.match.value.in_port == OFPP_LOCAL);
    cr_assert_neq(ofp_text_flow("in_port=1,actions=drop", OFPFC_DELETE, &names,
                                &arena, &f, &err),
                  0);
    cr_assert_eq(ofp_text_flow("cookie=1/0xf,in_port=65534,actions=1",
                               OFPFC_MODIFY, &names, &arena, &f, &err),
                 0, "%s", err.msg);
    cr_assert(f.cookie_mask == 0xf && f.match.value.in_port == OFPP_LOCAL);
    ofp_arena_free(&arena);
}

Test(ofp_text, lines_of_a_file)
{
    static const char text[] = "# comment\n\n  add in_port=1 # more\r\n"
                               "NXST_FLOW reply (xid=0x4):\n"
                               "delete_strict priority=3\nadded=1";
    struct ofp_lines l = {.rest = text};
    enum ofp_flow_command c = OFPFC_ADD;

    cr_assert(ofp_lines_next(&l) && l.number == 3);
    cr_assert_str_eq(ofp_text_command(l.line, &c), "in_port=1");
    cr_assert_eq(c, OFPFC_ADD);
    cr_assert(ofp_lines_next(&l) && l.number == 5);
    cr_assert_str_eq(ofp_text_command(l.line, &c), "priority=3");
    cr_assert_eq(c, OFPFC_DELETE_STRICT);
    cr_assert(ofp_lines_next(&l) && l.number == 6);
    cr_assert_str_eq(ofp_text_command(l.line, &c), "added=1");
    cr_assert_not(ofp_lines_next(&l));
}

Test(ofp_text, enqueue_survives_its_form_in_dumps)
{
    struct ofp_arena arena = {0};
    struct ofp_actions l;

    cr_assert_eq(ofp_text_actions("1,set_queue:3,output:2,pop_queue,3", NULL,
                                  &arena, &l, NULL),
                 0);
    cr_assert_eq(l.n, 3);
    cr_assert(l.a[1].type == OFP_ACT_ENQUEUE && l.a[1].output.queue == 3 &&
              l.a[1].output.port == 2 && l.a[2].type == OFP_ACT_OUTPUT);
    cr_assert_eq(ofp_text_actions("TABLE", NULL, &arena, &l, NULL), 0);
    ofp_arena_free(&arena);
}

Test(ofp_text, meters)
{
    static const struct {
        const char *line; /* of a meter to add */
        const char *why;  /* null: it is fine */
    } lines[] = {
        {"meter=1 kbps bands=type=drop rate=10", NULL},
        {"meter=1,pktps,burst,stats,band=type=drop,rate=1,burst_size=2", NULL},
        {"meter=controller kbps bands=type=dscp_remark rate=1 prec_level=1",
         NULL},
        {"kbps bands=type=drop rate=10", "no meter=N"},
        {"meter=0 kbps bands=type=drop rate=10", "from 1"},
        {"meter=1 bands=type=drop rate=10", "kbps and pktps"},
        {"meter=1 kbps pktps bands=type=drop rate=10", "kbps and pktps"},
        {"meter=1 kbps", "needs a band"},
        {"meter=1 kbps bands=rate=10", "begins with its type"},
        {"meter=1 kbps bands=type=x", "drop or dscp_remark"},
        {"meter=1 kbps bands=type=drop bogus=3", "no word of a band"},
        {"meter=1 kbps rate=3", "no word of a meter"},
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct ofp_meter_mod m, again;
        struct err err = {0};
        struct ofp_buf b = {0};
        int rc = ofp_text_meter(lines[i].line, OFPMC_ADD, &m, &err);

        cr_expect_eq(rc == 0, lines[i].why == NULL, "%s: %s", lines[i].line,
                     err.msg);
        if (lines[i].why) {
            cr_expect(strstr(err.msg, lines[i].why), "%s: %s", lines[i].line,
                      err.msg);
            continue;
        }
        ofp_text_put_meter(&b, &m.meter);
        ofp_buf_u8(&b, 0);
        cr_assert_eq(ofp_text_meter((char *) b.data, OFPMC_ADD, &again, &err),
                     0, "%s", err.msg);
        cr_assert_eq(memcmp(&m, &again, sizeof(m)), 0);
        ofp_buf_free(&b);
    }
}
