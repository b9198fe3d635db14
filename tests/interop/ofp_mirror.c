/* SPDX-License-Identifier: Apache-2.0
 *
 * Shows lib/ofp to other implementations.  Reads messages of controllers, one
 * in hex per line, and says on the next line of its output what they said in
 * a message of the switch that carries the same: a flow-mod comes back as the
 * statistics of its flow, a group-mod as the description of its group.  What
 * is refused comes back as "error TYPE CODE: why".  With --samples it prints
 * instead one message of each kind that a switch sends, "VERSION NAME HEX".
 * With --text it reads "flow ...", "delete ...", "group ..." and "meter ..."
 * in the syntax of ovs-ofctl, and says each as it understood it.
 */
#include "ofp/reply.h"
#include "ofp/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS UINT64_C(5000000007) /* a duration */

static void
print_hex(const struct ofp_buf *b)
{
    for (size_t i = 0; i < b->n; i++)
        printf("%02x", b->data[i]);
    printf("\n");
}

static void
mirror_flow(struct ofp_buf *b, const struct ofp_msg *m)
{
    const struct ofp_flow_mod *f = &m->flow;
    struct ofp_flow_stats s = {.table = f->table,
                               .priority = f->priority,
                               .flags = f->flags,
                               .idle_s = f->idle_s,
                               .hard_s = f->hard_s,
                               .cookie = f->cookie,
                               .duration_ns = NS,
                               .n_packets = 3,
                               .n_bytes = 180,
                               .match = &f->match,
                               .inst = &f->inst};

    ofp_put_flow(b, m->version, &s);
}

/* Requests for flows name a match: it comes back as that of a flow. */
static void
mirror_request(struct ofp_buf *b, const struct ofp_msg *m)
{
    const struct ofp_flow_request *r = &m->flows;
    struct ofp_instructions inst = {0};
    struct ofp_flow_stats s = {.table = r->table,
                               .cookie = r->cookie,
                               .n_packets = r->out_port,
                               .n_bytes = r->cookie_mask,
                               .match = &r->match,
                               .inst = &inst};

    ofp_put_flow(b, m->version, &s);
}

/* One entry of a multipart reply; the kind that fits, or MP_DESC. */
static enum ofp_kind
mirror_entry(struct ofp_buf *b, const struct ofp_msg *m)
{
    struct ofp_desc d = {"", "", "", "", ofp_kind_name(m->kind)};

    switch (m->kind) {
    case OFPK_FLOW_MOD:
        mirror_flow(b, m);
        return OFPK_MP_FLOW;
    case OFPK_MP_FLOW:
    case OFPK_MP_AGGREGATE:
        mirror_request(b, m);
        return OFPK_MP_FLOW;
    case OFPK_GROUP_MOD:
        ofp_put_group_desc(b, &m->group.group);
        return OFPK_MP_GROUP_DESC;
    case OFPK_METER_MOD:
        ofp_put_meter_config(b, &m->meter.meter);
        return OFPK_MP_METER_CONFIG;
    case OFPK_MP_TABLE_FEATURES:
        for (uint32_t i = 0; i < m->features.n; i++)
            ofp_put_table_features(b, &m->features.t[i]);
        return OFPK_MP_TABLE_FEATURES;
    default:
        ofp_put_desc(b, &d);
        return OFPK_MP_DESC;
    }
}

static void
mirror_packet_out(struct ofp_buf *b, const struct ofp_msg *m)
{
    struct ofp_packet_in pi = {.buffer_id = m->packet_out.buffer_id,
                               .total_len = (uint32_t) m->packet_out.n,
                               .reason = 1,
                               .table = (uint8_t) m->packet_out.actions.n,
                               .in_port = m->packet_out.in_port,
                               .cookie = 7,
                               .data = m->packet_out.data,
                               .n = m->packet_out.n};

    ofp_send_packet_in(b, m->version, &pi);
}

static void
mirror_port_mod(struct ofp_buf *b, const struct ofp_msg *m)
{
    struct ofp_port p = {.number = m->port.port,
                         .name = "mirror",
                         .config = m->port.config,
                         .state = m->port.mask & 1,
                         .advertised = m->port.advertise};

    memcpy(p.hw_addr, m->port.hw_addr, 6);
    ofp_send_port_status(b, m->version, OFPPR_MODIFY, &p);
}

static void
mirror(struct ofp_buf *b, const struct ofp_msg *m)
{
    struct ofp_buf entries = {0};
    enum ofp_kind kind;
    size_t at;

    switch (m->kind) {
    case OFPK_HELLO:
        ofp_send_hello(b, m->xid, m->hello.versions);
        return;
    case OFPK_ECHO_REQUEST:
        ofp_send_echo_reply(b, m->version, m->xid, m->echo.data, m->echo.n);
        return;
    case OFPK_SET_CONFIG:
        ofp_send_config(b, m->version, m->xid, &m->config);
        return;
    case OFPK_PACKET_OUT:
        mirror_packet_out(b, m);
        return;
    case OFPK_PORT_MOD:
        mirror_port_mod(b, m);
        return;
    case OFPK_BARRIER_REQUEST:
        ofp_send_barrier_reply(b, m->version, m->xid);
        return;
    case OFPK_ROLE_REQUEST:
        ofp_send_role(b, m->xid, &m->role);
        return;
    case OFPK_SET_ASYNC:
        ofp_send_async(b, m->xid, &m->async);
        return;
    case OFPK_BUNDLE_CTRL:
        ofp_send_bundle_ctrl(b, m->xid, &m->bundle);
        return;
    case OFPK_QUEUE_GET_CONFIG:
        ofp_send_queue_config(b, m->version, m->xid, m->which.port, NULL, 0);
        return;
    default:
        kind = mirror_entry(&entries, m);
        at = ofp_multipart_begin(b, m->version, m->xid, kind);
        ofp_buf_bytes(b, entries.data, entries.n);
        ofp_multipart_end(b, at, m->more);
        ofp_buf_free(&entries);
    }
}

static void
answer(const uint8_t *p, size_t n)
{
    struct ofp_buf b = {0};
    struct ofp_msg m;
    struct ofp_error e;

    if (!ofp_msg_decode(p, n, &m, &e)) {
        printf("error %u %u: %s\n", e.type, e.code, e.msg);
        return;
    }
    if (m.kind == OFPK_BUNDLE_ADD) {
        answer(m.bundle_add.msg, m.bundle_add.n);
    } else {
        mirror(&b, &m);
        print_hex(&b);
    }
    ofp_buf_free(&b);
    ofp_msg_free(&m);
}

/* --- samples ------------------------------------------------------------- */

static const struct ofp_port sample_port = {.number = 3,
                                            .hw_addr = {2, 0, 0, 0, 0, 3},
                                            .name = "eth3",
                                            .config = 1,
                                            .state = OFPPS_LINK_DOWN,
                                            .curr =
                                                OFPPF_10GB_FD | OFPPF_COPPER,
                                            .advertised = OFPPF_AUTONEG,
                                            .supported =
                                                OFPPF_1GB_FD | OFPPF_FIBER,
                                            .peer = OFPPF_10MB_HD,
                                            .curr_speed = 10000000,
                                            .max_speed = 10000000};

static void
show(uint8_t version, const char *name, struct ofp_buf *b)
{
    printf("%u %s ", version, name);
    print_hex(b);
    b->n = 0;
}

static void
sample_messages(struct ofp_buf *b, uint8_t v)
{
    static const uint8_t frame[60] = {2, 0, 0, 0, 0, 1,    2,
                                      0, 0, 0, 0, 2, 0x88, 0xb5};
    const struct ofp_features f = {0x1122334455667788, 256, 254, 0, 1,
                                   &sample_port};
    const struct ofp_packet_in pi = {
        OFP_NO_BUFFER, 60, 1, 4, 3, 0xabcdef, 5, 0, frame, sizeof(frame)};
    const struct ofp_error e = {OFPET_FLOW_MOD_FAILED, OFPFMFC_OVERLAP, ""};
    const struct ofp_queue q[2] = {{3, 0, 100, 1000}, {3, 7, 0xffff, 0xffff}};
    struct ofp_flow_removed r = {.cookie = 9,
                                 .priority = 100,
                                 .reason = OFPRR_HARD_TIMEOUT,
                                 .table = 2,
                                 .duration_ns = NS,
                                 .idle_s = 10,
                                 .hard_s = 20,
                                 .n_packets = 5,
                                 .n_bytes = 500};
    const uint8_t vid[2] = {0x10, 5};

    ofp_match_set(&r.match, OFP_VLAN_VID, vid, NULL);
    ofp_send_features(b, v, 1, &f);
    show(v, "features", b);
    ofp_send_packet_in(b, v, &pi);
    show(v, "packet_in", b);
    ofp_send_flow_removed(b, v, &r);
    show(v, "flow_removed", b);
    ofp_send_port_status(b, v, OFPPR_ADD, &sample_port);
    show(v, "port_status", b);
    ofp_send_error(b, v, frame, sizeof(frame), &e);
    show(v, "error", b);
    ofp_send_queue_config(b, v, 1, 3, q, 2);
    show(v, "queue_config", b);
}

/* An entry, that `put` wrote into *b, as a multipart reply. */
static void
show_entry(uint8_t v, const char *name, enum ofp_kind kind, struct ofp_buf *b)
{
    struct ofp_buf whole = {0};
    size_t at = ofp_multipart_begin(&whole, v, 1, kind);

    ofp_buf_bytes(&whole, b->data, b->n);
    ofp_multipart_end(&whole, at, true);
    show(v, name, &whole);
    ofp_buf_free(&whole);
    b->n = 0;
}

static void
sample_entries(struct ofp_buf *b, uint8_t v)
{
    const struct ofp_desc d = {"Sluice", "virtual", "1.0", "none", "br0"};
    const struct ofp_aggregate a = {10, 1000, 3};
    const struct ofp_table_stats t = {4, NULL, 1000, 2, 30, 20};
    const struct ofp_port_stats p = {3, 1, 2, 3,  4,  5,  6,
                                     7, 8, 9, 10, 11, 12, NS};
    const struct ofp_queue_stats q = {3, 7, 100, 2, 1, NS};

    ofp_put_desc(b, &d);
    show_entry(v, "desc", OFPK_MP_DESC, b);
    ofp_put_aggregate(b, &a);
    show_entry(v, "aggregate", OFPK_MP_AGGREGATE, b);
    ofp_put_table(b, v, &t);
    show_entry(v, "table", OFPK_MP_TABLE, b);
    ofp_put_port_stats(b, v, &p);
    show_entry(v, "port_stats", OFPK_MP_PORT_STATS, b);
    ofp_put_queue_stats(b, v, &q);
    show_entry(v, "queue", OFPK_MP_QUEUE, b);
}

static void
sample_entries_13(struct ofp_buf *b)
{
    const struct ofp_pair pairs[2] = {{1, 100}, {2, 200}};
    const struct ofp_group_stats g = {7, 1, NS, {3, 300}, 2, pairs};
    const struct ofp_group_features gf = {15, 15, 0xff00,
                                          1u << OFP_ACT_OUTPUT |
                                              1u << OFP_ACT_GROUP};
    const struct ofp_meter_stats m = {8, 1, NS, {3, 300}, 2, pairs};
    const struct ofp_meter_features mf = {65535, 6, 15, 16, 0};

    ofp_put_group_stats(b, &g);
    show_entry(OFP_V13, "group", OFPK_MP_GROUP, b);
    ofp_put_group_features(b, &gf);
    show_entry(OFP_V13, "group_features", OFPK_MP_GROUP_FEATURES, b);
    ofp_put_meter_stats(b, &m);
    show_entry(OFP_V13, "meter", OFPK_MP_METER, b);
    ofp_put_meter_features(b, &mf);
    show_entry(OFP_V13, "meter_features", OFPK_MP_METER_FEATURES, b);
    ofp_put_port_desc(b, OFP_V13, &sample_port);
    show_entry(OFP_V13, "port_desc", OFPK_MP_PORT_DESC, b);
}

static void
print_samples(void)
{
    static const uint8_t versions[] = {OFP_V10, OFP_V13};
    struct ofp_buf b = {0};

    for (size_t i = 0; i < 2; i++) {
        sample_messages(&b, versions[i]);
        sample_entries(&b, versions[i]);
    }
    sample_entries_13(&b);
    ofp_buf_free(&b);
}

/* --- text ---------------------------------------------------------------- */

static int
say_flow(const char *s, enum ofp_flow_command command, struct ofp_buf *b,
         struct err *err)
{
    struct ofp_arena arena = {0};
    struct ofp_flow_mod f;
    int rc = ofp_text_flow(s, command, NULL, &arena, &f, err);

    if (!rc) {
        struct ofp_flow_stats st = {.table = f.table,
                                    .priority = f.priority,
                                    .flags = f.flags,
                                    .idle_s = f.idle_s,
                                    .hard_s = f.hard_s,
                                    .cookie = f.cookie,
                                    .match = &f.match,
                                    .inst = &f.inst};

        ofp_text_put_flow_file(b, &st, NULL);
    }
    ofp_arena_free(&arena);
    return rc;
}

static int
say_group(const char *s, struct ofp_buf *b, struct err *err)
{
    struct ofp_arena arena = {0};
    struct ofp_group_mod g;
    int rc = ofp_text_group(s, OFPGC_ADD, NULL, &arena, &g, err);

    if (!rc)
        ofp_text_put_group(b, &g.group, NULL);
    ofp_arena_free(&arena);
    return rc;
}

static int
say_meter(const char *s, struct ofp_buf *b, struct err *err)
{
    struct ofp_meter_mod m;
    int rc = ofp_text_meter(s, OFPMC_ADD, &m, err);

    if (!rc)
        ofp_text_put_meter(b, &m.meter);
    return rc;
}

static void
say(char *line)
{
    char *rest = strchr(line, ' ');
    struct ofp_buf b = {0};
    struct err err = {0};
    int rc;

    line[strcspn(line, "\n")] = '\0';
    rest = rest ? rest + 1 : line + strlen(line);
    if (strncmp(line, "group", 5) == 0)
        rc = say_group(rest, &b, &err);
    else if (strncmp(line, "meter", 5) == 0)
        rc = say_meter(rest, &b, &err);
    else
        rc = say_flow(rest,
                      strncmp(line, "delete", 6) ? OFPFC_ADD : OFPFC_DELETE,
                      &b, &err);
    if (rc)
        printf("error: %s [%s] allowed: %s\n", err.msg, err.value,
               err.allowed);
    else
        printf("%.*s\n", (int) b.n, (char *) b.data);
    fflush(stdout);
    ofp_buf_free(&b);
}

int
main(int argc, char *argv[])
{
    static char line[2 * OFP_MAX_LEN + 4];
    static uint8_t msg[OFP_MAX_LEN + 1];

    if (argc > 1 && strcmp(argv[1], "--samples") == 0) {
        print_samples();
        return 0;
    }
    while (fgets(line, sizeof(line), stdin)) {
        bool text = argc > 1 && strcmp(argv[1], "--text") == 0;
        size_t n = 0;
        unsigned v;

        if (text) {
            say(line);
            continue;
        }
        while (sscanf(line + 2 * n, "%2x", &v) == 1)
            msg[n++] = (uint8_t) v;
        answer(msg, n);
        fflush(stdout);
    }
    return 0;
}
