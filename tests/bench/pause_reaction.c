/* SPDX-License-Identifier: Apache-2.0
 *
 * pause_reaction: how fast does a pause begin?  A stream of a lossless
 * priority goes from one network namespace to another, by way of what is
 * measured.  Its receiver sends a PFC frame for that priority, again and
 * again, at moments that no one can foresee; the kernel stamps every frame of
 * the stream as it leaves the switch's end of the veth pair.  Frames that are
 * stamped after the PFC frame was sent, and before its pause could have ended,
 * are the reaction.
 *
 *   pause_reaction IN-NS IN-IF OUT-NS OUT-IF DST SRC SIZE PPS SAMPLES
 *                  IN-RATE OUT-RATE PAUSE-US SCHEDSTAT|-
 *
 * PPS 0 is as fast as it goes.  The stream itself is paused by PFC, as that of
 * a host is.  Rates, bit/s: those by which the switch counts quanta on its two
 * ports.  SAMPLES 0 measures half a second without a pause.
 *
 * The moment at which a PFC frame was sent is the one immediately before the
 * system call: what the call takes, receive softirq of the switch's port
 * included, is part of the reaction.  SCHEDSTAT is
 * /proc/PID/task/TID/schedstat of the thread that forwards: how long it waited
 * for a core, although it could have run, is read before each pause and once
 * its reaction is over.
 *
 * Prints a line of JSON; of each sample ns from PFC to the last frame, frames,
 * and ns of waiting.
 */
#include "enter.h"

#include "base/clock.h"
#include "qos/pfc.h"
#include "wire/eth.h"
#include "wire/macctl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define BURST       32 /* frames of one system call, at most */
#define MAX_FRAME   9216
#define MAX_SAMPLES 100000
#define PRIO        3
#define SEQ_OFS     18 /* in a frame that has its tag */
#define SLOT        128u
#define BLOCK       (1u << 16)
/* A pause begins so long after the stream resumed: this, and up to as much
 * again. */
#define GAP_NS (4 * NS_PER_MS)
/* So long after the PFC frame, and after the last frame of the stream, the
 * thread's waiting is read again. */
#define LOOK_NS  (300 * NS_PER_US)
#define QUIET_NS (100 * NS_PER_US)
#define STUCK_NS (2 * NS_PER_S)

/* A receive ring of short slots. */
struct ring {
    int fd;         /* packet socket */
    uint8_t *slots; /* mapped */
    uint32_t n;     /* slots */
    uint32_t next;  /* the one that is filled next */
};

struct sample {
    uint64_t last_ns; /* from the PFC frame to the last frame; 0: none came */
    uint64_t wait_ns; /* that the thread waited for a core */
    uint64_t send_ns; /* that sending the PFC frame took */
    uint32_t frames;  /* after the PFC frame */
};

struct bench {
    /* As told. */
    uint32_t size;           /* octets of a frame, without FCS */
    uint64_t pps;            /* frames a second; 0: no limit */
    uint32_t n_wanted;       /* samples */
    uint64_t pause_ns;       /* how long a pause lasts, at least */
    int stat_fd;             /* schedstat; -1: none */
    int send_fd;             /* sends the stream */
    struct ring in;          /* MAC control that the stream gets */
    struct ring out;         /* the stream, where it arrives */
    uint8_t pfc[MACCTL_LEN]; /* what pauses */
    struct pfc state;        /* of the stream: paused, or not */
    /* The stream. */
    uint64_t begin_ns;       /* monotonic; since when frames are due */
    uint64_t sent, received; /* frames */
    uint64_t expected;       /* number of the next one, without a loss */
    uint64_t disorder;       /* numbers that came late, or again */
    uint64_t n_paused;       /* loads put off since the stream was paused */
    /* The pause that is under way, real time. */
    bool is_pausing;   /* one is */
    uint64_t pause_at; /* when the PFC frame was sent */
    uint64_t next_at;  /* when the next one is to be */
    uint64_t last_at;  /* stamp of the last frame that came */
    uint64_t wait_0;   /* waiting of the thread before it */
    bool is_read;      /* waiting was read after last_at */
    uint32_t n;        /* samples */
    uint32_t n_void;   /* pauses before which no frame had come */
    struct sample sample[MAX_SAMPLES];
};

static uint8_t frames[BURST][MAX_FRAME];

static void
die(const char *what)
{
    fprintf(stderr, "pause_reaction: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* --- sockets ------------------------------------------------------------- */

static void
bind_to(int fd, const char *iface, uint16_t protocol)
{
    struct sockaddr_ll to = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(protocol),
                             .sll_ifindex = (int) if_nametoindex(iface)};

    if (fd < 0 || !to.sll_ifindex ||
        bind(fd, (struct sockaddr *) &to, sizeof(to)))
        die(iface);
}

static void
open_ring(struct ring *r, const char *iface, uint16_t protocol, uint32_t bytes)
{
    /* What matters of a frame; with the kernel's headers it fits a slot. */
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, 40)};
    struct sock_fprog prog = {1, code};
    struct tpacket_req req = {BLOCK, bytes / BLOCK, SLOT, bytes / SLOT};
    int version = TPACKET_V2, one = 1;

    r->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    r->n = req.tp_frame_nr;
    if (setsockopt(r->fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) ||
        setsockopt(r->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
        setsockopt(r->fd, SOL_PACKET, PACKET_VERSION, &version,
                   sizeof(version)) ||
        setsockopt(r->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
                   sizeof(one)) ||
        setsockopt(r->fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)))
        die("socket options");
    r->slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_POPULATE, r->fd, 0);
    if (r->slots == MAP_FAILED)
        die("mapping a ring");
    bind_to(r->fd, iface, protocol);
}

/* The slot that was filled next, or null. */
static struct tpacket2_hdr *
peek(struct ring *r)
{
    struct tpacket2_hdr *h = (void *) (r->slots + (size_t) r->next * SLOT);

    /* Pairs with the kernel's barrier before it gives the slot to us. */
    if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
        return NULL;
    return h;
}

static void
pop(struct ring *r, struct tpacket2_hdr *h)
{
    __atomic_store_n(&h->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    r->next = r->next + 1 == r->n ? 0 : r->next + 1;
}

static void
no_drops(const struct ring *r)
{
    struct tpacket_stats st;
    socklen_t len = sizeof(st);

    if (getsockopt(r->fd, SOL_PACKET, PACKET_STATISTICS, &st, &len) ||
        st.tp_drops) {
        errno = ENOBUFS;
        die("the receiver's ring did not hold all");
    }
}

/* --- samples ------------------------------------------------------------- */

static uint64_t
waited(const struct bench *b)
{
    char text[128] = "";
    unsigned long long run, wait;

    if (b->stat_fd < 0)
        return 0;
    if (pread(b->stat_fd, text, sizeof(text) - 1, 0) <= 0 ||
        sscanf(text, "%llu %llu", &run, &wait) != 2)
        die("schedstat");
    return wait;
}

static void
begin_pause(struct bench *b)
{
    struct sample *s = &b->sample[b->n];

    *s = (struct sample){0};
    b->wait_0 = waited(b);
    b->is_pausing = true;
    b->is_read = false;
    b->pause_at = clock_wall_ns();
    if (send(b->out.fd, b->pfc, sizeof(b->pfc), 0) != sizeof(b->pfc))
        die("sending a PFC frame");
    s->send_ns = clock_wall_ns() - b->pause_at;
}

static void
end_pause(struct bench *b, uint64_t at)
{
    b->is_pausing = false;
    b->next_at = at + GAP_NS + (uint64_t) lrand48() % GAP_NS;
    if (b->n < b->n_wanted)
        b->n++;
}

/* A frame of the stream, stamped at. */
static void
note(struct bench *b, uint64_t at)
{
    struct sample *s = &b->sample[b->n];

    if (b->is_pausing && at >= b->pause_at + b->pause_ns) {
        end_pause(b, at);
    } else if (b->is_pausing && at > b->pause_at) {
        s->last_ns = at - b->pause_at;
        s->frames++;
        b->is_read = false;
    }
    b->last_at = at;
}

/* A pause is due, or the reaction to one is over. */
static void
step(struct bench *b)
{
    uint64_t now = clock_wall_ns();

    if (!b->is_pausing) {
        if (now < b->next_at || b->n == b->n_wanted)
            return;
        if (b->last_at + NS_PER_MS < now) { /* there is nothing to pause */
            b->n_void++;
            b->next_at = now + GAP_NS;
            return;
        }
        begin_pause(b);
    } else if (!b->is_read && now > b->pause_at + LOOK_NS &&
               now > b->last_at + QUIET_NS) {
        b->sample[b->n].wait_ns = waited(b) - b->wait_0;
        b->is_read = true;
    } else if (now > b->pause_at + b->pause_ns + STUCK_NS) {
        errno = ETIMEDOUT;
        die("nothing came after a pause");
    }
}

/* --- the stream ---------------------------------------------------------- */

static void
take_stream(struct bench *b)
{
    struct tpacket2_hdr *h;

    while ((h = peek(&b->out))) {
        const uint8_t *frame = (const uint8_t *) h + h->tp_mac;
        int gone = h->tp_status & TP_STATUS_VLAN_VALID ? 4 : 0;
        uint64_t number;

        if (h->tp_snaplen >= (uint32_t) (SEQ_OFS - gone) + 8 &&
            !memcmp(frame, frames[0], 6)) {
            if (!(h->tp_status & TP_STATUS_TS_SOFTWARE)) {
                errno = ENOTSUP;
                die("the kernel does not stamp");
            }
            memcpy(&number, frame + SEQ_OFS - gone, sizeof(number));
            if (number < b->expected)
                b->disorder++;
            else
                b->expected = number + 1;
            b->received++;
            note(b, (uint64_t) h->tp_sec * NS_PER_S + h->tp_nsec);
        }
        pop(&b->out, h);
    }
}

static void
take_control(struct bench *b, uint64_t now)
{
    struct tpacket2_hdr *h;
    struct macctl m;

    while ((h = peek(&b->in))) {
        macctl_decode((const uint8_t *) h + h->tp_mac, MACCTL_LEN, &m);
        pfc_rx(&b->state, &m, now);
        pop(&b->in, h);
    }
    pfc_rx_expire(&b->state, now);
}

/* Sends what is due, at most a burst. */
static void
send_due(struct bench *b, uint64_t now)
{
    struct mmsghdr msgs[BURST] = {0};
    struct iovec iov[BURST];
    uint64_t due = BURST;
    int n;

    if (b->state.paused) {
        /* What is not sent meanwhile is not made up for. */
        b->begin_ns = b->pps ? now - b->sent * NS_PER_S / b->pps : now;
        b->n_paused++;
        return;
    }
    if (b->pps)
        due = (now - b->begin_ns) * b->pps / NS_PER_S - b->sent;
    if ((int64_t) due <= 0)
        return;
    n = due < BURST ? (int) due : BURST;
    for (int i = 0; i < n; i++) {
        uint64_t number = b->sent + (uint64_t) i;

        memcpy(frames[i] + SEQ_OFS, &number, sizeof(number));
        iov[i] = (struct iovec){frames[i], b->size};
        msgs[i].msg_hdr.msg_iov = &iov[i];
        msgs[i].msg_hdr.msg_iovlen = 1;
    }
    n = sendmmsg(b->send_fd, msgs, (unsigned) n, 0);
    if (n < 0 && errno != ENOBUFS && errno != EAGAIN)
        die("send");
    b->sent += n > 0 ? (uint64_t) n : 0;
}

static void
run(struct bench *b)
{
    uint64_t start, now, end = NS_PER_S / 2;

    start = clock_ns();
    b->begin_ns = start;
    b->next_at = clock_wall_ns() + 50 * NS_PER_MS;
    for (;;) {
        now = clock_ns();
        if (b->n_wanted ? b->n == b->n_wanted : now > start + end)
            break;
        take_control(b, now);
        send_due(b, now);
        take_stream(b);
        step(b);
    }
    b->n_wanted = b->n; /* no pause any more; what is under way arrives */
    for (end = clock_ns() + NS_PER_S / 5; clock_ns() < end;) {
        uint64_t before = b->received;

        take_stream(b);
        if (b->received != before)
            end = clock_ns() + NS_PER_S / 5;
        sched_yield();
    }
    no_drops(&b->out);
    no_drops(&b->in);
    printf("{\"seconds\": %.3f, ", (double) (now - start) / 1e9);
}

/* --- what is told, and is to be told ------------------------------------- */

static void
print(const struct bench *b)
{
    printf("\"sent\": %llu, \"lost\": %lld, \"disorder\": %llu, "
           "\"held_back\": %llu, \"void\": %u, \"samples\": [",
           (unsigned long long) b->sent, (long long) (b->sent - b->received),
           (unsigned long long) b->disorder, (unsigned long long) b->n_paused,
           b->n_void);
    for (uint32_t i = 0; i < b->n; i++)
        printf("%s[%llu, %u, %llu, %llu]", i ? ", " : "",
               (unsigned long long) b->sample[i].last_ns, b->sample[i].frames,
               (unsigned long long) b->sample[i].wait_ns,
               (unsigned long long) b->sample[i].send_ns);
    printf("]}\n");
}

static void
make_frames(const uint8_t dst[6], const uint8_t src[6])
{
    for (int i = 0; i < BURST; i++) {
        uint8_t *f = frames[i];

        memcpy(f, dst, 6);
        memcpy(f + 6, src, 6);
        f[12] = ETH_T_VLAN >> 8;
        f[13] = ETH_T_VLAN & 0xff;
        f[14] = PRIO << 5;
        f[16] = 0x88; /* local experimental EtherType 1 */
        f[17] = 0xb5;
    }
}

static void
set_pause(struct bench *b, uint64_t in_bps, uint64_t out_bps, uint64_t want_ns,
          const uint8_t mac[6])
{
    struct pfc_conf conf = {.rate_bps = in_bps,
                            .quanta = PFC_QUANTA_DEFAULT,
                            .honoured = 1u << PRIO};
    uint64_t quanta = want_ns / (512 * NS_PER_S / out_bps + 1);
    uint16_t time[N_PRIO] = {0};

    if (quanta < 1 || quanta > UINT16_MAX) {
        errno = ERANGE;
        die("a pause of that length at that rate");
    }
    time[PRIO] = (uint16_t) quanta;
    b->pause_ns = macctl_quanta_ns(time[PRIO], out_bps);
    macctl_encode_pfc(b->pfc, mac, 1u << PRIO, time);
    pfc_init(&b->state, &conf);
}

int
main(int argc, char **argv)
{
    static struct bench b;
    uint8_t dst[6], src[6];
    uint64_t in_bps, out_bps;
    int one = 1;

    if (argc != 14 || !eth_mac_parse(argv[5], dst) ||
        !eth_mac_parse(argv[6], src)) {
        fprintf(stderr, "usage: pause_reaction IN-NS IN-IF OUT-NS OUT-IF DST "
                        "SRC SIZE PPS SAMPLES IN-RATE OUT-RATE PAUSE-US "
                        "SCHEDSTAT|-\n");
        return 2;
    }
    b.size = (uint32_t) atoi(argv[7]);
    b.pps = strtoull(argv[8], NULL, 10);
    b.n_wanted = (uint32_t) atoi(argv[9]);
    in_bps = strtoull(argv[10], NULL, 10);
    out_bps = strtoull(argv[11], NULL, 10);
    errno = ERANGE;
    if (b.size < 60 || b.size > MAX_FRAME || b.n_wanted >= MAX_SAMPLES ||
        !in_bps || !out_bps)
        die("an argument");
    set_pause(&b, in_bps, out_bps, strtoull(argv[12], NULL, 10) * NS_PER_US,
              dst);
    b.stat_fd = strcmp(argv[13], "-") ? open(argv[13], O_RDONLY) : -1;
    if (b.stat_fd < 0 && strcmp(argv[13], "-"))
        die(argv[13]);
    make_frames(dst, src);
    srand48((long) clock_wall_ns());
    bench_enter(argv[1]);
    b.send_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    bind_to(b.send_fd, argv[2], 0);
    setsockopt(b.send_fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one));
    open_ring(&b.in, argv[2], MACCTL_ETHERTYPE, BLOCK);
    bench_enter(argv[3]);
    open_ring(&b.out, argv[4], ETH_P_ALL, 256 * BLOCK);
    run(&b);
    print(&b);
    return 0;
}
