/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows, groups and meters as ovs-ofctl shows them: see text.h.
 */
#include "ofp/text.h"

#include "wire/eth.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_PRIORITY 0x8000

void
ofp_text_printf(struct ofp_buf *b, const char *format, ...)
{
    char text[512];
    va_list ap;
    int n;

    va_start(ap, format);
    n = vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    if (n > 0)
        ofp_buf_bytes(b, text,
                      (size_t) n < sizeof(text) ? (size_t) n
                                                : sizeof(text) - 1);
}

/* Takes a comma off the end. */
static void
chomp(struct ofp_buf *b)
{
    if (!b->bad && b->n > 0 && b->data[b->n - 1] == ',')
        b->n--;
}

/* A name that cannot be taken for a number or for a separator. */
static bool
is_plain_name(const char *s)
{
    if (!isalpha((unsigned char) *s) && *s != '_')
        return false;
    for (; *s; s++)
        if (!isalnum((unsigned char) *s) && !strchr("_-.", *s))
            return false;
    return true;
}

void
ofp_text_put_port(struct ofp_buf *b, uint32_t port,
                  const struct ofp_names *names)
{
    static const char *const reserved[] = {"IN_PORT", "TABLE", "NORMAL",
                                           "FLOOD",   "ALL",   "CONTROLLER",
                                           "LOCAL",   "ANY"};
    const char *name;

    if (port >= OFPP_IN_PORT) {
        ofp_text_printf(b, "%s", reserved[port - OFPP_IN_PORT]);
        return;
    }
    name = names && names->name ? names->name(names->arg, port) : NULL;
    if (!name)
        ofp_text_printf(b, "%u", port);
    else if (is_plain_name(name))
        ofp_text_printf(b, "%s", name);
    else
        ofp_text_printf(b, "\"%s\"", name);
}

/* --- matches ------------------------------------------------------------- */

static void
put_octets(struct ofp_buf *b, enum ofp_field f, const uint8_t *v)
{
    char text[INET6_ADDRSTRLEN];

    if (ofp_fields[f].n_bytes == 6)
        ofp_text_printf(b, "%s", eth_mac_format(v, text));
    else
        ofp_text_printf(b, "%s",
                        inet_ntop(ofp_fields[f].n_bytes == 4 ? AF_INET
                                                             : AF_INET6,
                                  v, text, sizeof(text)));
}

/* How many leading bits are ones, when the rest are zeros; -1 when not so. */
static int
prefix_len(const uint8_t *mask, unsigned n)
{
    int len = 0;
    unsigned at = 0;

    while (at < n && mask[at] == 0xff)
        at++;
    len = (int) at * 8;
    if (at < n) {
        unsigned ones = (unsigned) __builtin_clz(~((unsigned) mask[at] << 24));

        if ((uint8_t) (0xff00 >> ones) != mask[at])
            return -1;
        len += (int) ones;
        at++;
    }
    for (; at < n; at++)
        if (mask[at])
            return -1;
    return len;
}

static bool
is_address(enum ofp_field f)
{
    return ofp_fields[f].is_octets || f == OFP_IPV4_SRC || f == OFP_IPV4_DST ||
           f == OFP_ARP_SPA || f == OFP_ARP_TPA;
}

static uint64_t
number_of(const uint8_t *v, unsigned n)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < n; i++)
        number = number << 8 | v[i];
    return number;
}

/* Fields that people know in hexadecimal. */
static bool
is_hex(enum ofp_field f)
{
    return f == OFP_METADATA || f == OFP_ETH_TYPE || f == OFP_TUNNEL_ID ||
           f == OFP_IPV6_FLABEL || f == OFP_VLAN_VID || f == OFP_IPV6_EXTHDR ||
           f == OFP_PBB_ISID;
}

/* A value with its mask; null: without. */
static void
put_value(struct ofp_buf *b, enum ofp_field f, const uint8_t *v,
          const uint8_t *mask, const struct ofp_names *names)
{
    unsigned n = ofp_fields[f].n_bytes;
    int prefix;

    if (is_address(f)) {
        put_octets(b, f, v);
        prefix = mask && n != 6 ? prefix_len(mask, n) : -1;
        if (prefix >= 0)
            ofp_text_printf(b, "/%d", prefix);
        else if (mask)
            ofp_text_printf(b, "/");
        if (mask && prefix < 0)
            put_octets(b, f, mask);
        return;
    }
    if (f == OFP_IN_PORT || f == OFP_IN_PHY_PORT)
        ofp_text_put_port(b, (uint32_t) number_of(v, n), names);
    else if (f == OFP_ETH_TYPE || f == OFP_IPV6_FLABEL)
        ofp_text_printf(b, f == OFP_ETH_TYPE ? "0x%04" PRIx64 : "0x%05" PRIx64,
                        number_of(v, n));
    else
        ofp_text_printf(b, is_hex(f) || mask ? "0x%" PRIx64 : "%" PRIu64,
                        number_of(v, n));
    if (mask)
        ofp_text_printf(b, "/0x%" PRIx64, number_of(mask, n));
}

static void
put_field(struct ofp_buf *b, const struct ofp_match *m, enum ofp_field f,
          const char *name, const struct ofp_names *names)
{
    uint8_t v[16], mask[16], ones[16];

    if (!ofp_match_has(m, f))
        return;
    ofp_key_get(&m->value, f, v);
    ofp_key_get(&m->mask, f, mask);
    ofp_field_ones(f, ones);
    ofp_text_printf(b, "%s=", name);
    put_value(b, f, v, memcmp(mask, ones, ofp_fields[f].n_bytes) ? mask : NULL,
              names);
    ofp_text_printf(b, ",");
}

/* The word for EtherType and protocol; *type, *proto: it says them. */
static void
put_protocol(struct ofp_buf *b, const struct ofp_match *m, bool *type,
             bool *proto)
{
    static const struct {
        uint16_t eth_type; /* as matched */
        int proto;         /* -1: it says nothing of it */
        const char *name;  /* the word */
    } words[] = {
        {0x0800, 1, "icmp"},   {0x0800, 6, "tcp"},    {0x0800, 17, "udp"},
        {0x0800, 132, "sctp"}, {0x0800, -1, "ip"},    {0x86dd, 58, "icmp6"},
        {0x86dd, 6, "tcp6"},   {0x86dd, 17, "udp6"},  {0x86dd, 132, "sctp6"},
        {0x86dd, -1, "ipv6"},  {0x0806, -1, "arp"},   {0x8035, -1, "rarp"},
        {0x8847, -1, "mpls"},  {0x8848, -1, "mplsm"},
    };
    int of = ofp_match_has(m, OFP_IP_PROTO) ? m->value.ip_proto : -1;

    *type = *proto = false;
    if (!ofp_match_has(m, OFP_ETH_TYPE))
        return;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i].eth_type == m->value.eth_type &&
            (words[i].proto == of || words[i].proto == -1)) {
            ofp_text_printf(b, "%s,", words[i].name);
            *type = true;
            *proto = words[i].proto != -1;
            return;
        }
}

static void
put_vlan(struct ofp_buf *b, const struct ofp_match *m)
{
    uint16_t vid = m->value.vlan_vid, mask = m->mask.vlan_vid;
    bool pcp = ofp_match_has(m, OFP_VLAN_PCP);

    if (!ofp_match_has(m, OFP_VLAN_VID))
        return;
    if (vid == 0 && mask & OFP_VID_PRESENT)
        ofp_text_printf(b, "vlan_tci=0x0000,");
    else if (mask == 0x1fff)
        ofp_text_printf(b, "dl_vlan=%u,", vid & 0xfffu);
    else if (mask != OFP_VID_PRESENT)
        ofp_text_printf(b, "vlan_tci=0x%04x/0x%04x,", vid, mask);
    else if (!pcp)
        ofp_text_printf(b, "vlan_tci=0x1000/0x1000,");
    if (pcp)
        ofp_text_printf(b, "dl_vlan_pcp=%u,", m->value.vlan_pcp);
}

static const struct {
    enum ofp_field field; /* which */
    const char *name;     /* as ovs-ofctl shows it */
} after_vlan[] = {
    {OFP_ETH_SRC, "dl_src"},          {OFP_ETH_DST, "dl_dst"},
    {OFP_ETH_TYPE, "dl_type"},        {OFP_IPV4_SRC, "nw_src"},
    {OFP_IPV4_DST, "nw_dst"},         {OFP_ARP_SPA, "arp_spa"},
    {OFP_ARP_TPA, "arp_tpa"},         {OFP_IPV6_SRC, "ipv6_src"},
    {OFP_IPV6_DST, "ipv6_dst"},       {OFP_IPV6_FLABEL, "ipv6_label"},
    {OFP_IP_PROTO, "nw_proto"},       {OFP_ARP_OP, "arp_op"},
    {OFP_ARP_SHA, "arp_sha"},         {OFP_ARP_THA, "arp_tha"},
    {OFP_IP_DSCP, "nw_tos"},          {OFP_IP_ECN, "nw_ecn"},
    {OFP_IPV6_EXTHDR, "ipv6_exthdr"}, {OFP_MPLS_LABEL, "mpls_label"},
    {OFP_MPLS_TC, "mpls_tc"},         {OFP_MPLS_BOS, "mpls_bos"},
    {OFP_PBB_ISID, "pbb_isid"},       {OFP_ICMPV4_TYPE, "icmp_type"},
    {OFP_ICMPV4_CODE, "icmp_code"},   {OFP_ICMPV6_TYPE, "icmp_type"},
    {OFP_ICMPV6_CODE, "icmp_code"},   {OFP_IPV6_ND_TARGET, "nd_target"},
    {OFP_IPV6_ND_SLL, "nd_sll"},      {OFP_IPV6_ND_TLL, "nd_tll"},
    {OFP_TCP_SRC, "tp_src"},          {OFP_TCP_DST, "tp_dst"},
    {OFP_UDP_SRC, "tp_src"},          {OFP_UDP_DST, "tp_dst"},
    {OFP_SCTP_SRC, "tp_src"},         {OFP_SCTP_DST, "tp_dst"},
};

static void
put_fields(struct ofp_buf *b, const struct ofp_match *m,
           const struct ofp_names *names)
{
    bool type, proto;

    put_protocol(b, m, &type, &proto);
    put_field(b, m, OFP_TUNNEL_ID, "tun_id", names);
    put_field(b, m, OFP_METADATA, "metadata", names);
    put_field(b, m, OFP_IN_PORT, "in_port", names);
    put_field(b, m, OFP_IN_PHY_PORT, "in_phy_port", names);
    put_vlan(b, m);
    for (size_t i = 0; i < sizeof(after_vlan) / sizeof(after_vlan[0]); i++) {
        enum ofp_field f = after_vlan[i].field;

        if ((f == OFP_ETH_TYPE && type) || (f == OFP_IP_PROTO && proto))
            continue;
        if (f == OFP_IP_DSCP && ofp_match_has(m, f))
            ofp_text_printf(b, "nw_tos=%u,", m->value.ip_dscp << 2);
        else
            put_field(b, m, f, after_vlan[i].name, names);
    }
}

void
ofp_text_put_match(struct ofp_buf *b, const struct ofp_match *m,
                   uint16_t priority, const struct ofp_names *names)
{
    if (priority != DEFAULT_PRIORITY)
        ofp_text_printf(b, "priority=%u,", priority);
    put_fields(b, m, names);
    chomp(b);
}

/* --- actions ------------------------------------------------------------- */

static void
put_output(struct ofp_buf *b, const struct ofp_action *a,
           const struct ofp_names *names)
{
    if (a->output.port == OFPP_CONTROLLER) {
        ofp_text_printf(b, "CONTROLLER:%u", a->output.max_len);
        return;
    }
    if (a->output.port < OFPP_MAX)
        ofp_text_printf(b, "output:");
    ofp_text_put_port(b, a->output.port, names);
}

static void
put_set_field(struct ofp_buf *b, const struct ofp_action *a)
{
    static const struct {
        enum ofp_field field; /* which */
        const char *name;     /* where it is another than ofp_fields' */
    } names[] = {
        {OFP_IPV4_SRC, "ip_src"},        {OFP_IPV4_DST, "ip_dst"},
        {OFP_IP_ECN, "nw_ecn"},          {OFP_IP_PROTO, "nw_proto"},
        {OFP_ICMPV4_TYPE, "icmp_type"},  {OFP_ICMPV4_CODE, "icmp_code"},
        {OFP_IPV6_FLABEL, "ipv6_label"}, {OFP_IPV6_ND_TARGET, "nd_target"},
        {OFP_IPV6_ND_SLL, "nd_sll"},     {OFP_IPV6_ND_TLL, "nd_tll"},
        {OFP_TUNNEL_ID, "tun_id"},
    };
    const char *name = ofp_fields[a->set.field].name;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].field == a->set.field)
            name = names[i].name;
    ofp_text_printf(b, "set_field:");
    if (a->set.field == OFP_VLAN_VID && !a->set.has_mask)
        ofp_text_printf(b, "%u", a->set.value[0] << 8 | a->set.value[1]);
    else
        put_value(b, a->set.field, a->set.value,
                  a->set.has_mask ? a->set.mask : NULL, NULL);
    ofp_text_printf(b, "->%s", name);
}

/* Words of actions, and what number follows. */
static const struct {
    const char *name;   /* as ovs-ofctl shows it */
    const char *format; /* of the number; null: there is none */
} act_words[OFP_N_ACTS] = {
    [OFP_ACT_COPY_TTL_IN] = {"copy_ttl_in", NULL},
    [OFP_ACT_POP_VLAN] = {"pop_vlan", NULL},
    [OFP_ACT_POP_MPLS] = {"pop_mpls", ":0x%04x"},
    [OFP_ACT_POP_PBB] = {"pop_pbb", NULL},
    [OFP_ACT_PUSH_MPLS] = {"push_mpls", ":0x%04x"},
    [OFP_ACT_PUSH_PBB] = {"push_pbb", ":0x%04x"},
    [OFP_ACT_PUSH_VLAN] = {"push_vlan", ":0x%04x"},
    [OFP_ACT_COPY_TTL_OUT] = {"copy_ttl_out", NULL},
    [OFP_ACT_DEC_NW_TTL] = {"dec_ttl", NULL},
    [OFP_ACT_DEC_MPLS_TTL] = {"dec_mpls_ttl", NULL},
    [OFP_ACT_SET_NW_TTL] = {"mod_nw_ttl", ":%u"},
    [OFP_ACT_SET_MPLS_TTL] = {"set_mpls_ttl", ":%u"},
    [OFP_ACT_SET_QUEUE] = {"set_queue", ":%u"},
    [OFP_ACT_GROUP] = {"group", ":%u"},
    [OFP_ACT_SET_VLAN_VID] = {"mod_vlan_vid", ":%u"},
    [OFP_ACT_SET_VLAN_PCP] = {"mod_vlan_pcp", ":%u"},
};

static unsigned
number_after(const struct ofp_action *a)
{
    switch (a->type) {
    case OFP_ACT_SET_NW_TTL:
    case OFP_ACT_SET_MPLS_TTL:
        return a->ttl;
    case OFP_ACT_SET_QUEUE:
        return a->queue;
    case OFP_ACT_GROUP:
        return a->group;
    case OFP_ACT_SET_VLAN_VID:
        return a->vid;
    case OFP_ACT_SET_VLAN_PCP:
        return a->pcp;
    default:
        return a->ethertype;
    }
}

static void
put_action(struct ofp_buf *b, const struct ofp_action *a,
           const struct ofp_names *names)
{
    switch (a->type) {
    case OFP_ACT_OUTPUT:
        put_output(b, a, names);
        return;
    case OFP_ACT_ENQUEUE:
        ofp_text_printf(b, "enqueue:");
        ofp_text_put_port(b, a->output.port, names);
        ofp_text_printf(b, ":%u", a->output.queue);
        return;
    case OFP_ACT_SET_FIELD:
        put_set_field(b, a);
        return;
    default:
        ofp_text_printf(b, "%s", act_words[a->type].name);
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (act_words[a->type].format)
        ofp_text_printf(b, act_words[a->type].format, number_after(a));
#pragma GCC diagnostic pop
}

/* Each with a comma behind it. */
static void
put_list(struct ofp_buf *b, const struct ofp_actions *l,
         const struct ofp_names *names)
{
    for (uint32_t i = 0; i < l->n; i++) {
        put_action(b, &l->a[i], names);
        ofp_text_printf(b, ",");
    }
}

void
ofp_text_put_actions(struct ofp_buf *b, const struct ofp_actions *l,
                     const struct ofp_names *names)
{
    if (l->n == 0)
        ofp_text_printf(b, "drop");
    put_list(b, l, names);
    chomp(b);
}

void
ofp_text_put_instructions(struct ofp_buf *b, const struct ofp_instructions *in,
                          const struct ofp_names *names)
{
    size_t at = b->n;

    if (in->has_meter)
        ofp_text_printf(b, "meter:%u,", in->meter);
    put_list(b, &in->apply, names);
    if (in->clear)
        ofp_text_printf(b, "clear_actions,");
    if (in->has_write) {
        ofp_text_printf(b, "write_actions(");
        put_list(b, &in->write, names);
        chomp(b);
        ofp_text_printf(b, "),");
    }
    if (in->has_metadata) {
        ofp_text_printf(b, "write_metadata:0x%" PRIx64, in->metadata);
        if (in->metadata_mask != UINT64_MAX)
            ofp_text_printf(b, "/0x%" PRIx64, in->metadata_mask);
        ofp_text_printf(b, ",");
    }
    if (in->has_goto)
        ofp_text_printf(b, "goto_table:%u", in->table);
    chomp(b);
    if (b->n == at)
        ofp_text_printf(b, "drop");
}

/* --- flows --------------------------------------------------------------- */

static void
put_flags(struct ofp_buf *b, uint16_t flags)
{
    static const char *const words[] = {"send_flow_rem", "check_overlap",
                                        "reset_counts", "no_packet_counts",
                                        "no_byte_counts"};

    for (unsigned i = 0; i < 5; i++)
        if (flags >> i & 1)
            ofp_text_printf(b, "%s ", words[i]);
}

static void
put_duration(struct ofp_buf *b, uint64_t ns)
{
    ofp_text_printf(b, "duration=%" PRIu64 ".%03us, ", ns / 1000000000u,
                    (unsigned) (ns % 1000000000u / 1000000u));
}

static void
put_count(struct ofp_buf *b, const char *name, uint64_t n)
{
    if (n == UINT64_MAX)
        ofp_text_printf(b, "%s=?, ", name);
    else
        ofp_text_printf(b, "%s=%" PRIu64 ", ", name, n);
}

static void
put_flow(struct ofp_buf *b, const struct ofp_flow_stats *f, bool with_stats,
         const struct ofp_names *names)
{
    size_t at;

    ofp_text_printf(b, "cookie=0x%" PRIx64 ", ", f->cookie);
    if (with_stats)
        put_duration(b, f->duration_ns);
    ofp_text_printf(b, "table=%u, ", f->table);
    if (with_stats) {
        put_count(b, "n_packets", f->n_packets);
        put_count(b, "n_bytes", f->n_bytes);
    }
    if (f->idle_s)
        ofp_text_printf(b, "idle_timeout=%u, ", f->idle_s);
    if (f->hard_s)
        ofp_text_printf(b, "hard_timeout=%u, ", f->hard_s);
    put_flags(b, f->flags);
    at = b->n;
    ofp_text_put_match(b, f->match, f->priority, names);
    if (b->n != at)
        ofp_text_printf(b, " ");
    ofp_text_printf(b, "actions=");
    ofp_text_put_instructions(b, f->inst, names);
}

void
ofp_text_put_flow(struct ofp_buf *b, const struct ofp_flow_stats *f,
                  bool with_stats, const struct ofp_names *names)
{
    ofp_text_printf(b, " ");
    put_flow(b, f, with_stats, names);
}

void
ofp_text_put_flow_file(struct ofp_buf *b, const struct ofp_flow_stats *f,
                       const struct ofp_names *names)
{
    put_flow(b, f, false, names);
}

/* --- groups and meters --------------------------------------------------- */

void
ofp_text_put_group(struct ofp_buf *b, const struct ofp_group *g,
                   const struct ofp_names *names)
{
    static const char *const types[] = {"all", "select", "indirect", "ff"};

    ofp_text_printf(b, "group_id=%u,type=%s", g->id, types[g->type & 3]);
    for (uint32_t i = 0; i < g->n_buckets; i++) {
        const struct ofp_bucket *k = &g->bucket[i];

        ofp_text_printf(b, ",bucket=");
        if (k->weight != (g->type == OFPGT_SELECT))
            ofp_text_printf(b, "weight:%u,", k->weight);
        if (k->watch_port != OFPP_ANY) {
            ofp_text_printf(b, "watch_port:");
            ofp_text_put_port(b, k->watch_port, names);
            ofp_text_printf(b, ",");
        }
        if (k->watch_group != OFPG_ANY)
            ofp_text_printf(b, "watch_group:%u,", k->watch_group);
        ofp_text_printf(b, "actions=");
        ofp_text_put_actions(b, &k->actions, names);
    }
}

void
ofp_text_put_meter(struct ofp_buf *b, const struct ofp_meter *m)
{
    static const char *const words[] = {"kbps", "pktps", "burst", "stats"};

    if (m->id == OFPM_CONTROLLER || m->id == OFPM_SLOWPATH)
        ofp_text_printf(b, "meter=%s",
                        m->id == OFPM_CONTROLLER ? "controller" : "slowpath");
    else
        ofp_text_printf(b, "meter=%u", m->id);
    for (unsigned i = 0; i < 4; i++)
        if (m->flags >> i & 1)
            ofp_text_printf(b, " %s", words[i]);
    ofp_text_printf(b, " bands=");
    for (uint32_t i = 0; i < m->n_bands; i++) {
        const struct ofp_band *k = &m->band[i];
        bool remark = k->type == OFPMBT_DSCP_REMARK;

        ofp_text_printf(b, "%stype=%s rate=%u", i ? " " : "",
                        remark ? "dscp_remark" : "drop", k->rate);
        if (m->flags & OFPMF_BURST || k->burst)
            ofp_text_printf(b, " burst_size=%u", k->burst);
        if (remark)
            ofp_text_printf(b, " prec_level=%u", k->prec_level);
    }
}
