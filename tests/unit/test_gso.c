/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/netdev/gso: super-frames are cut into what a sender without offloads
 * would have sent, and checksums are right by another way of working them
 * out; headers that lie are refused.
 */
#include "netdev/gso.h"

#include "base/rng.h"
#include "tests/unit/netns.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define FIN 0x01
#define PSH 0x08
#define ACK 0x10
#define ECE 0x40
#define CWR 0x80

static void
put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t) (v >> 8);
    p[1] = (uint8_t) v;
}

static void
put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v & 0xffff);
}

static unsigned
get16(const uint8_t *p)
{
    return (unsigned) (p[0] << 8 | p[1]);
}

static uint32_t
get32(const uint8_t *p)
{
    return (uint32_t) get16(p) << 16 | get16(p + 2);
}

struct super {
    uint8_t frame[GSO_MAX_FRAME + 100]; /* the super-frame */
    uint8_t seen[GSO_MAX_FRAME];        /* payload of its segments */
    size_t len;                         /* of the frame */
    size_t hdr_len;                     /* of its headers */
    size_t l3;                          /* next to the payload */
    size_t l4;                          /* TCP or UDP */
    struct virtio_net_hdr vnet;         /* what the kernel would say */
};

static struct super s; /* too large for the stack of a test */

static size_t
add_eth(uint8_t *f, const char *tags, size_t tags_len, unsigned type)
{
    memcpy(f, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01", 12);
    memcpy(f + 12, tags, tags_len);
    put16(f + 12 + tags_len, type);
    return 14 + tags_len;
}

static size_t
add_ip(uint8_t *f, size_t at, bool v6, uint8_t proto, size_t payload)
{
    uint8_t *ip = f + at;

    if (v6) {
        memset(ip, 0, 40);
        ip[0] = 0x60;
        ip[1] = 0x20; /* ECT(0) */
        put16(ip + 4, (unsigned) (payload & 0xffff));
        ip[6] = proto;
        ip[7] = 64;
        for (int i = 8; i < 40; i++)
            ip[i] = (uint8_t) (i * 7);
        return at + 40;
    }
    memcpy(ip,
           "\x45\x02\0\0\xff\xfe\x40\0\x40\0\0\0\x0a\x01\x02\x03"
           "\xc0\xa8\xfe\x04",
           20);
    put16(ip + 2, (unsigned) ((payload + 20) & 0xffff));
    ip[9] = proto;
    return at + 20;
}

static void
fill_payload(size_t from, size_t n)
{
    struct rng r = {n};

    for (size_t i = 0; i < n; i++)
        s.frame[from + i] = (uint8_t) rng_u64(&r);
    s.hdr_len = from;
    s.len = from + n;
}

static void
make_tcp(const char *tags, size_t tags_len, bool v6, uint8_t flags,
         size_t payload, uint16_t size)
{
    memset(&s, 0, sizeof(s));
    s.l3 = add_eth(s.frame, tags, tags_len, v6 ? 0x86dd : 0x0800);
    s.l4 = add_ip(s.frame, s.l3, v6, 6, 32 + payload);
    put16(s.frame + s.l4, 0x1234);
    put16(s.frame + s.l4 + 2, 80);
    put32(s.frame + s.l4 + 4, 0xfffffff0); /* wraps within the frame */
    put32(s.frame + s.l4 + 8, 77);
    s.frame[s.l4 + 12] = 8 << 4; /* 12 octets of options */
    s.frame[s.l4 + 13] = flags;
    memcpy(s.frame + s.l4 + 20, "\x01\x01\x08\x0a\0\1\2\3\4\5\6\7", 12);
    fill_payload(s.l4 + 32, payload);
    s.vnet = (struct virtio_net_hdr){
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .gso_type = v6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4,
        .hdr_len = (uint16_t) s.hdr_len,
        .gso_size = size,
        .csum_start = (uint16_t) s.l4,
        .csum_offset = 16,
    };
}

static void
make_udp(bool v6, size_t payload, uint16_t size)
{
    memset(&s, 0, sizeof(s));
    s.l3 = add_eth(s.frame, "", 0, v6 ? 0x86dd : 0x0800);
    s.l4 = add_ip(s.frame, s.l3, v6, 17, 8 + payload);
    put16(s.frame + s.l4, 4000);
    put16(s.frame + s.l4 + 2, 4001);
    put16(s.frame + s.l4 + 4, (unsigned) ((8 + payload) & 0xffff));
    fill_payload(s.l4 + 8, payload);
    s.vnet = (struct virtio_net_hdr){
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .gso_type = VIRTIO_NET_HDR_GSO_UDP_L4,
        .gso_size = size,
        .csum_start = (uint16_t) s.l4,
        .csum_offset = 6,
    };
}

/* Cuts s up; checks what all kinds have in common; returns how many. */
static unsigned
cut(const uint8_t *tag,
    void (*check)(const uint8_t *seg, unsigned i, bool last))
{
    size_t shift = tag ? 4 : 0;
    uint8_t out[2048];
    struct gso g;
    size_t n_seen = 0;
    unsigned i = 0;
    uint32_t n;

    cr_assert_eq(gso_begin(&g, s.frame, s.len, &s.vnet, tag, 1518), 0);
    while (!gso_is_done(&g)) {
        size_t payload;
        const char *wrong;

        memset(out, 0xee, sizeof(out));
        n = gso_next(&g, out);
        cr_assert_gt(n, s.hdr_len + shift);
        cr_assert_leq(n, 1518);
        cr_assert_eq(out[n], 0xee, "wrote past the end");
        payload = n - s.hdr_len - shift;
        memcpy(s.seen + n_seen, out + s.hdr_len + shift, payload);
        n_seen += payload;
        cr_assert(payload == s.vnet.gso_size || n_seen == s.len - s.hdr_len);
        wrong = netns_csum_wrong(out, n);
        cr_assert_null(wrong, "segment %u: %s", i, wrong);
        if (tag)
            cr_assert_arr_eq(out + 12, tag, 4);
        if (check)
            check(out + shift, i, gso_is_done(&g));
        i++;
    }
    cr_assert_eq(gso_next(&g, out), 0);
    cr_assert_eq(n_seen, s.len - s.hdr_len);
    cr_assert_arr_eq(s.seen, s.frame + s.hdr_len, n_seen);
    return i;
}

static void
check_tcp(const uint8_t *seg, unsigned i, bool last)
{
    uint8_t flags = s.frame[s.l4 + 13];
    bool ecn = s.vnet.gso_type & VIRTIO_NET_HDR_GSO_ECN;

    cr_assert_eq(get32(seg + s.l4 + 4),
                 (uint32_t) (0xfffffff0 + i * s.vnet.gso_size));
    cr_assert_eq(get32(seg + s.l4 + 8), 77);
    cr_assert_arr_eq(seg + s.l4 + 20, s.frame + s.l4 + 20, 12);
    if (!last)
        flags &= (uint8_t) ~(FIN | PSH);
    if (ecn && i > 0)
        flags &= (uint8_t) ~CWR;
    cr_assert_eq(seg[s.l4 + 13], flags);
    if (seg[s.l3] >> 4 == 4)
        cr_assert_eq(get16(seg + s.l3 + 4), (0xfffe + i) & 0xffff);
}

Test(gso, tcp_is_cut_as_its_sender_would)
{
    const char *tags[] = {"", "\x81\x00\x60\x05",
                          "\x88\xa8\x60\x05\x81\x00\x20\x06"};
    size_t payloads[] = {1, 1447, 1448, 1449, 2896, 5000, 65000};

    for (size_t t = 0; t < 3; t++) {
        for (size_t p = 0; p < 7; p++) {
            for (int v6 = 0; v6 < 2; v6++) {
                /* Two tags in the frame and one beside it do not fit. */
                uint16_t size = t == 2 ? 1400 : v6 ? 1424 : 1444;

                make_tcp(tags[t], t * 4, v6, FIN | PSH | ACK, payloads[p],
                         size);
                cr_assert_eq(cut(NULL, check_tcp),
                             (payloads[p] + size - 1) / size);
                cut((const uint8_t *) "\x81\x00\xa0\x00", check_tcp);
            }
        }
    }
}

Test(gso, cwr_is_on_the_first_alone_when_ecn_says_so)
{
    make_tcp("", 0, false, ACK | ECE | CWR, 5000, 1000);
    s.vnet.gso_type |= VIRTIO_NET_HDR_GSO_ECN;
    cr_assert_eq(cut(NULL, check_tcp), 5);
    /* Accurate ECN uses the bit as a counter: left alone. */
    make_tcp("", 0, true, ACK | ECE | CWR, 5000, 1000);
    cr_assert_eq(cut(NULL, check_tcp), 5);
}

Test(gso, start_of_l4_need_not_be_told)
{
    make_tcp("", 0, false, ACK, 5000, 1000);
    s.vnet.flags = 0;
    s.vnet.csum_start = 0;
    cr_assert_eq(cut(NULL, check_tcp), 5);
}

Test(gso, ip_options_and_extension_headers_are_repeated)
{
    memset(&s, 0, sizeof(s));
    make_tcp("", 0, true, ACK | PSH, 4000, 1000);
    /* Hop-by-hop options, 8 octets, between IPv6 and TCP. */
    memmove(s.frame + s.l4 + 8, s.frame + s.l4, s.len - s.l4);
    memcpy(s.frame + s.l4, "\x06\0\x01\x04\0\0\0\0", 8);
    s.frame[s.l3 + 6] = 0;
    s.len += 8;
    s.vnet.csum_start += 8;
    {
        uint8_t out[2048];
        struct gso g;

        cr_assert_eq(gso_begin(&g, s.frame, s.len, &s.vnet, NULL, 1518), 0);
        for (int i = 0; i < 4; i++) {
            uint8_t plain[2048];
            uint32_t n = gso_next(&g, out);

            cr_assert_eq(n, s.hdr_len + 8 + 1000);
            cr_assert_arr_eq(out + s.l4, s.frame + s.l4, 8);
            cr_assert_eq(get16(out + s.l3 + 4), 8 + 32 + 1000);
            /* Without the options it is a frame that can be checked. */
            memcpy(plain, out, s.l4);
            memcpy(plain + s.l4, out + s.l4 + 8, n - s.l4 - 8);
            plain[s.l3 + 6] = 6;
            put16(plain + s.l3 + 4, 32 + 1000);
            cr_assert_null(netns_csum_wrong(plain, n - 8));
        }
    }
}

static void
check_udp(const uint8_t *seg, unsigned i, bool last)
{
    if (!last)
        cr_assert_eq(get16(seg + s.l4 + 4), 8u + s.vnet.gso_size);
    if (seg[s.l3] >> 4 == 4)
        cr_assert_eq(get16(seg + s.l3 + 4), (0xfffe + i) & 0xffff);
}

Test(gso, udp_is_cut_into_datagrams)
{
    for (int v6 = 0; v6 < 2; v6++) {
        make_udp(v6, 10001, 1000);
        cr_assert_eq(cut(NULL, check_udp), 11);
        cut((const uint8_t *) "\x81\x00\x60\x01", check_udp);
    }
}

/* Puts Ethernet, outer IP and what the tunnel adds before an inner frame. */
static size_t
wrap(size_t inner_ofs, bool v6, uint8_t proto, const char *add, size_t n_add)
{
    static uint8_t inner[sizeof(s.frame)];
    size_t n = s.len - inner_ofs;
    size_t outer, at;

    memcpy(inner, s.frame + inner_ofs, n);
    outer = add_eth(s.frame, "", 0, v6 ? 0x86dd : 0x0800);
    at = add_ip(s.frame, outer, v6, proto, n_add + n);
    memcpy(s.frame + at, add, n_add);
    memcpy(s.frame + at + n_add, inner, n);
    s.l3 += at + n_add - inner_ofs;
    s.l4 += at + n_add - inner_ofs;
    s.hdr_len += at + n_add - inner_ofs;
    s.len = at + n_add + n;
    s.vnet.csum_start = (uint16_t) s.l4;
    return at;
}

/* In a tunnel: the inner packet, as a frame of its own, must check as well. */
static void
check_inner(const uint8_t *seg, unsigned i, bool last)
{
    uint8_t plain[2048];
    size_t inner_len = get16(seg + s.l3 + (seg[s.l3] >> 4 == 4 ? 2 : 4)) +
                       (seg[s.l3] >> 4 == 4 ? 0u : 40u);

    memcpy(plain, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01", 12);
    put16(plain + 12, seg[s.l3] >> 4 == 4 ? 0x0800 : 0x86dd);
    memcpy(plain + 14, seg + s.l3, inner_len);
    cr_assert_null(netns_csum_wrong(plain, 14 + inner_len));
    check_tcp(seg, i, last);
}

Test(gso, tcp_in_a_tunnel)
{
    const char *vxlan = "\xc0\x00\x12\xb5\0\0\0\0\x08\0\0\0\0\0\x03\0";

    for (int outer6 = 0; outer6 < 2; outer6++) {
        for (int v6 = 0; v6 < 2; v6++) {
            uint8_t udp[16];

            /* VXLAN, without an outer checksum (IPv4), and with one. */
            for (int csum = outer6; csum < 2; csum++) {
                make_tcp("", 0, v6, FIN | ACK, 20000, 1200);
                memcpy(udp, vxlan, 16);
                put16(udp + 6, csum ? 0xbeef : 0);
                wrap(0, outer6, 17, (const char *) udp, 16);
                if (csum) {
                    cr_assert_eq(cut(NULL, check_inner), 17);
                } else {
                    uint8_t out[2048];
                    struct gso g;

                    cr_assert_eq(gso_begin(&g, s.frame, s.len, &s.vnet, NULL,
                                           1518),
                                 0);
                    for (unsigned i = 0; !gso_is_done(&g); i++) {
                        gso_next(&g, out);
                        check_inner(out, i, gso_is_done(&g));
                        cr_assert_eq(get16(out + 14 + 20 + 6), 0);
                    }
                }
            }
            /* GRE with a key; IP in IP. */
            make_tcp("", 0, v6, FIN | ACK, 20000, 1200);
            wrap(14, outer6, 47,
                 v6 ? "\x20\0\x86\xdd\0\0\0\x07" : "\x20\0\x08\0\0\0\0\x07",
                 8);
            cr_assert_eq(cut(NULL, check_inner), 17);
            make_tcp("", 0, v6, FIN | ACK, 20000, 1200);
            wrap(14, outer6, v6 ? 41 : 4, "", 0);
            if (!outer6 || v6)
                cr_assert_eq(cut(NULL, check_inner), 17);
        }
    }
}

static int
begin(size_t room)
{
    struct gso g = {.n_done = 123};
    int rc = gso_begin(&g, s.frame, s.len, &s.vnet, NULL, room);

    if (rc)
        cr_assert_eq(g.n_done, 123, "written on failure");
    return rc;
}

Test(gso, headers_that_lie_are_refused)
{
    make_tcp("", 0, false, ACK, 5000, 1000);
    cr_assert_eq(begin(1518), 0);
    cr_assert_eq(begin(s.hdr_len + 1000), 0);
    cr_assert_eq(begin(s.hdr_len + 999), EMSGSIZE);
    s.vnet.gso_size = 0;
    cr_assert_eq(begin(1518), EINVAL);
    s.vnet.gso_size = GSO_MIN_SIZE - 1;
    cr_assert_eq(begin(1518), EINVAL);
    s.vnet.gso_size = 1000;
    s.vnet.gso_type = VIRTIO_NET_HDR_GSO_TCPV6;
    cr_assert_eq(begin(1518), EINVAL);
    s.vnet.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
    cr_assert_eq(begin(1518), EINVAL);
    s.vnet.gso_type = VIRTIO_NET_HDR_GSO_UDP; /* IP fragments: never asked */
    cr_assert_eq(begin(1518), EINVAL);
    s.vnet.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
    for (unsigned start = 0; start < 70; start++) {
        s.vnet.csum_start = (uint16_t) start;
        cr_assert_eq(begin(1518), start == 34 || start == 0 ? 0 : EINVAL, "%u",
                     start);
    }
    s.vnet.csum_start = 0xffff;
    cr_assert_eq(begin(1518), EINVAL);
    s.vnet.csum_start = 34;
    s.frame[s.l4 + 12] = 4 << 4; /* shorter than a TCP header */
    cr_assert_eq(begin(1518), EINVAL);
    s.frame[s.l4 + 12] = 8 << 4;
    s.len = s.hdr_len; /* no payload */
    cr_assert_eq(begin(1518), EINVAL);
    s.len = 20;
    cr_assert_eq(begin(1518), EINVAL);
    s.len = GSO_MAX_FRAME + 1;
    cr_assert_eq(begin(1518), EINVAL);
}

Test(gso, tunnel_fields_that_differ_per_packet_are_refused)
{
    make_tcp("", 0, false, ACK, 5000, 1000);
    wrap(14, false, 47, "\x10\0\x08\0\0\0\0\x07", 8); /* sequence number */
    cr_assert_eq(begin(1518), EINVAL);
    make_tcp("", 0, false, ACK, 5000, 1000);
    wrap(14, false, 47, "\x80\0\x08\0\0\0\0\0", 8); /* checksum */
    cr_assert_eq(begin(1518), EINVAL);
    make_tcp("", 0, false, ACK, 5000, 1000);
    wrap(14, false, 99, "\x80\0\x08\0\0\0\0\0", 8); /* who knows */
    cr_assert_eq(begin(1518), EINVAL);
}

Test(gso, partial_checksum_is_completed)
{
    for (int v6 = 0; v6 < 2; v6++) {
        for (size_t n = 1; n < 200; n++) {
            uint32_t pseudo;

            make_udp(v6, n, 0);
            /* What the kernel leaves: the folded sum of the pseudo header. */
            pseudo = 17 + 8 + (uint32_t) n;
            for (size_t i = v6 ? 8 : 12; i < (v6 ? 40u : 20u); i += 2)
                pseudo += get16(s.frame + s.l3 + i);
            while (pseudo >> 16)
                pseudo = (pseudo & 0xffff) + (pseudo >> 16);
            put16(s.frame + s.l4 + 6, pseudo);
            if (!v6) { /* its own header is always complete */
                uint32_t sum = 0;

                for (size_t i = 0; i < 20; i += 2)
                    sum += get16(s.frame + s.l3 + i);
                while (sum >> 16)
                    sum = (sum & 0xffff) + (sum >> 16);
                put16(s.frame + s.l3 + 10, ~sum & 0xffff);
            }
            cr_assert(gso_complete(s.frame, s.len, s.l4, 6));
            cr_assert_null(netns_csum_wrong(s.frame, s.len), "%zu", n);
        }
    }
}

Test(gso, checksum_of_zero_is_written_as_ones)
{
    /* The sum of the whole is all ones: its complement would be zero. */
    uint8_t f[60] = {0};

    put16(f + 34, 0xffff);
    cr_assert(gso_complete(f, sizeof(f), 34, 6));
    cr_assert_eq(get16(f + 40), 0xffff);
}

Test(gso, sctp_gets_its_own_checksum)
{
    /* An INIT of 32 octets; CRC32c worked out with another tool. */
    uint8_t f[14 + 20 + 32];
    static const uint8_t sctp[32] = {0x0f, 0xa0, 0x0f, 0xa1, 0, 0, 0, 0,
                                     0,    0,    0,    0,    1, 0, 0, 20,
                                     0xde, 0xad, 0xbe, 0xef, 0, 1, 0, 0,
                                     0,    5,    0,    0x05, 1, 2, 3, 4};

    add_eth(f, "", 0, 0x0800);
    add_ip(f, 14, false, 132, 32);
    memcpy(f + 34, sctp, 32);
    cr_assert(gso_complete(f, sizeof(f), 34, 8));
    cr_assert_arr_eq(f + 42, "\x8d\x42\xc4\x8a", 4);
}

Test(gso, checksum_outside_of_the_frame_is_refused)
{
    uint8_t f[64] = {0}, before[64];

    memset(f, 0x5a, sizeof(f));
    memcpy(before, f, sizeof(f));
    cr_assert_not(gso_complete(f, sizeof(f), 62, 1));
    cr_assert_not(gso_complete(f, sizeof(f), 63, 0));
    cr_assert_not(gso_complete(f, sizeof(f), 64, 0));
    cr_assert_not(gso_complete(f, sizeof(f), 65535, 65535));
    cr_assert_not(gso_complete(f, sizeof(f), 34, 65535));
    cr_assert_not(gso_complete(f, sizeof(f), 0, 6));
    cr_assert_arr_eq(f, before, sizeof(f));
    cr_assert(gso_complete(f, sizeof(f), 62, 0));
    cr_assert(gso_complete(f, sizeof(f), 14, 48));
}

Test(gso, garbage_never_reads_or_writes_outside)
{
    struct rng r = {42};
    unsigned n_begun = 0;

    for (int round = 0; round < 20000; round++) {
        uint8_t out[1700];
        struct gso g;
        unsigned n_segs = 0;

        make_tcp("", 0, rng_below(&r, 2), ACK, rng_range(&r, 1, 3000),
                 (uint16_t) rng_below(&r, 1500));
        for (uint64_t i = rng_below(&r, 4); i > 0; i--)
            s.frame[rng_below(&r, 60)] = (uint8_t) rng_u64(&r);
        if (rng_below(&r, 2))
            s.vnet.csum_start = (uint16_t) rng_below(&r, 100);
        s.len = rng_range(&r, 0, s.len);
        if (gso_begin(&g, s.frame, s.len, &s.vnet, NULL, 1600))
            continue;
        n_begun++;
        while (!gso_is_done(&g)) {
            uint32_t n;

            memset(out + 1600, 0xee, 100);
            n = gso_next(&g, out);
            cr_assert_gt(n, 0);
            cr_assert_leq(n, 1600);
            cr_assert_eq(out[1600], 0xee);
            cr_assert_leq(++n_segs, GSO_MAX_FRAME / GSO_MIN_SIZE);
        }
    }
    cr_assert_gt(n_begun, 1000);
}
