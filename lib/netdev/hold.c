/* SPDX-License-Identifier: Apache-2.0
 *
 * Holding the senders of a TAP: see hold.h.  libnl-3 carries the requests;
 * their attributes are written here, because libnl-route does not know the
 * burst of TBF in octets (at an octet a second it does not fit into ticks) and
 * the BPF classifier.
 */
#include "netdev/hold.h"

#include "base/clock.h"
#include "netdev/nl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/netlink.h>
#include <netlink/route/qdisc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_CLASS     8
#define ROOT        TC_H_MAKE(1u << 16, 0)
#define TRUNK       TC_H_MAKE(1u << 16, 1)
#define LEAF(p)     TC_H_MAKE(1u << 16, 0x10u + (p))
#define LEAF_TBF(p) TC_H_MAKE((0x10u + (p)) << 16, 0)
#define DEAD        TC_H_MAKE(1u << 16, 0xff)
#define DEAD_FIFO   TC_H_MAKE(0xffu << 16, 0)

/* What a class may hold.  Senders' socket buffers end it long before; beyond
 * it frames are dropped, and counted. */
#define LIMIT_BYTES (512u << 20)
/* Open: faster than any rate of a port, in bursts of the largest super-frames.
 * Held: as slow as can be said; one frame may leave, the burst. */
#define OPEN_BPS    UINT64_C(8000000000000)
#define OPEN_BURST  (1u << 20)
#define HELD_BPS    UINT64_C(8)
#define FRAME_SLACK 64u
/* How far the rate may be exceeded to make up for a late timer. */
#define BURST_NS UINT64_C(5000000)
/* What a class sends in its turn. */
#define QUANTUM_BYTES 16384
/* What waits for the address of one neighbour, in frames, before the kernel
 * drops the oldest: more than senders' socket buffers hold. */
#define NEIGH_FRAMES 65536
/* The kernel's scheduler counts time in ticks of 64 ns. */
#define TICK_NS 64

struct hold {
    char name[NETDEV_NAME_MAX + 1]; /* of the interface */
    int ifindex;                    /* its number */
    uint32_t frame_bytes;           /* longest frame */
    struct netdev_hold conf;        /* in force */
    struct nl_sock *sk;             /* control: requests */
    struct nl_sock *thread_sk;      /* the thread's requests */
    int kick_fd;                    /* packet socket, priority DEAD; or -1 */
    int wake_fd;                    /* eventfd: something is wanted */
    pthread_t thread;               /* makes changes */
    bool has_thread;                /* it runs */

    uint8_t wanted;       /* hold_want(); release pairs with the thread's
                             acquire */
    uint64_t wanted_ns;   /* when that was; relaxed, a measurement */
    bool stop;            /* control's; release, the thread's acquire */
    pthread_mutex_t lock; /* the tree and what follows: control's and the
                             thread's */
    bool is_on;           /* there is a tree */
    uint8_t held; /* in force; written under the lock, release, and read
                     by hold_is_late(), acquire */
    uint8_t seen; /* hold_want()'s own: what it wanted last */

    counter_t n_holds;  /* the thread's: see hold_stats */
    counter_t n_failed; /* the same */
    counter_t worst_ns; /* the same */
};

/* --- requests ------------------------------------------------------------ */

/* A request about a part of the tree, its kind and its open options. */
static struct nl_msg *
request(const struct hold *h, int type, int flags, uint32_t parent,
        uint32_t handle, const char *kind)
{
    struct tcmsg tcm = {.tcm_family = AF_UNSPEC,
                        .tcm_ifindex = h->ifindex,
                        .tcm_parent = parent,
                        .tcm_handle = handle};
    struct nl_msg *msg = nlmsg_alloc_simple(type, flags);

    if (!msg)
        abort(); /* the control plane has no memory at all */
    if (type == RTM_NEWTFILTER)
        tcm.tcm_info = TC_H_MAKE(1u << 16, htons(ETH_P_ALL));
    if (nlmsg_append(msg, &tcm, sizeof(tcm), NLMSG_ALIGNTO) ||
        nla_put_string(msg, TCA_KIND, kind))
        abort();
    return msg;
}

/* Sends it, and waits for the answer; takes msg.  0 or an errno. */
static int
submit(struct nl_sock *sk, struct nl_msg *msg)
{
    return nl_errno(nl_send_sync(sk, msg));
}

/* A rate as the kernel's schedulers want it: 32 bits, and 64 beside it. */
static struct tc_ratespec
ratespec(uint64_t bytes_ps)
{
    return (struct tc_ratespec){
        .linklayer = TC_LINKLAYER_ETHERNET, /* no table of ours is needed */
        .rate = bytes_ps < UINT32_MAX ? (uint32_t) bytes_ps : UINT32_MAX,
    };
}

static int
put_tbf(const struct hold *h, struct nl_sock *sk, int flags, int prio,
        bool held)
{
    uint64_t bytes_ps = (held ? HELD_BPS : OPEN_BPS) / 8;
    struct tc_tbf_qopt opt = {.rate = ratespec(bytes_ps),
                              .limit = LIMIT_BYTES};
    struct nl_msg *msg = request(h, RTM_NEWQDISC, flags, LEAF((uint32_t) prio),
                                 LEAF_TBF((uint32_t) prio), "tbf");
    struct nlattr *nest = nla_nest_start(msg, TCA_OPTIONS);
    uint32_t burst = held ? h->frame_bytes + FRAME_SLACK : OPEN_BURST;

    nla_put(msg, TCA_TBF_PARMS, sizeof(opt), &opt);
    nla_put_u32(msg, TCA_TBF_BURST, burst);
    nla_put_u64(msg, TCA_TBF_RATE64, bytes_ps);
    nla_nest_end(msg, nest);
    return submit(sk, msg);
}

/* A class of the HTB: what it is sure of, and what it may have. */
static int
put_class(const struct hold *h, uint32_t parent, uint32_t id, uint64_t bps,
          uint64_t most_bps)
{
    struct tc_htb_opt opt = {
        .rate = ratespec(bps / 8),
        .ceil = ratespec(most_bps / 8),
        .buffer = BURST_NS / TICK_NS,
        .cbuffer = BURST_NS / TICK_NS,
        .quantum = QUANTUM_BYTES,
    };
    struct nl_msg *msg =
        request(h, RTM_NEWTCLASS, NLM_F_CREATE, parent, id, "htb");
    struct nlattr *nest = nla_nest_start(msg, TCA_OPTIONS);

    nla_put(msg, TCA_HTB_PARMS, sizeof(opt), &opt);
    nla_put_u64(msg, TCA_HTB_RATE64, bps / 8);
    nla_put_u64(msg, TCA_HTB_CEIL64, most_bps / 8);
    nla_nest_end(msg, nest);
    return submit(h->sk, msg);
}

static int
put_root(const struct hold *h)
{
    struct tc_htb_glob glob = {.version = 3, .rate2quantum = 10};
    struct nl_msg *msg = request(h, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE,
                                 TC_H_ROOT, ROOT, "htb");
    struct nlattr *nest = nla_nest_start(msg, TCA_OPTIONS);

    glob.defcls = LEAF(h->conf.default_prio) & 0xffff;
    nla_put(msg, TCA_HTB_INIT, sizeof(glob), &glob);
    nla_nest_end(msg, nest);
    return submit(h->sk, msg);
}

static int
put_dead_end(const struct hold *h)
{
    struct tc_fifo_qopt opt = {.limit = 0};
    struct nl_msg *msg;
    int rc = put_class(h, TRUNK, DEAD, h->conf.rate_bps, h->conf.rate_bps);

    if (rc)
        return rc;
    msg = request(h, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, DEAD, DEAD_FIFO,
                  "pfifo");
    nla_put(msg, TCA_OPTIONS, sizeof(opt), &opt);
    return submit(h->sk, msg);
}

static int
put_rates(const struct hold *h)
{
    uint64_t bps = h->conf.rate_bps;
    int rc = put_class(h, ROOT, TRUNK, bps, bps);

    for (uint32_t p = 0; p < N_CLASS && !rc; p++)
        rc = put_class(h, TRUNK, LEAF(p), bps / N_CLASS, bps);
    return rc;
}

static int
put_filter(const struct hold *h, int flags)
{
    struct sock_filter insns[HOLD_MAX_INSNS];
    uint16_t n = hold_filter(&h->conf, insns);
    struct nl_msg *msg =
        request(h, RTM_NEWTFILTER, NLM_F_CREATE | flags, ROOT, 1, "bpf");
    struct nlattr *nest = nla_nest_start(msg, TCA_OPTIONS);

    nla_put_u16(msg, TCA_BPF_OPS_LEN, n);
    nla_put(msg, TCA_BPF_OPS, (int) (n * sizeof(insns[0])), insns);
    nla_nest_end(msg, nest);
    return submit(h->sk, msg);
}

/* What is sent before the address of its receiver is known waits in front of
 * every queueing discipline, in a queue that by default holds no more than one
 * socket's buffer: what it drops holds nobody back. */
static int
widen_neighbours(const struct hold *h, uint8_t family, const char *table)
{
    struct ndtmsg ndtm = {.ndtm_family = family};
    struct nl_msg *msg = nlmsg_alloc_simple(RTM_SETNEIGHTBL, 0);
    struct nlattr *nest;
    int rc;

    if (!msg || nlmsg_append(msg, &ndtm, sizeof(ndtm), NLMSG_ALIGNTO))
        abort();
    nla_put_string(msg, NDTA_NAME, table);
    nest = nla_nest_start(msg, NDTA_PARMS);
    nla_put_u32(msg, NDTPA_IFINDEX, (uint32_t) h->ifindex);
    nla_put_u32(msg, NDTPA_QUEUE_LEN, NEIGH_FRAMES);
    nla_nest_end(msg, nest);
    rc = submit(h->sk, msg);
    /* Without that protocol on the interface nobody waits. */
    return rc == ENOENT || rc == ENODEV ? 0 : rc;
}

static int
put_tree(const struct hold *h)
{
    int rc = put_root(h);

    if (!rc)
        rc = put_rates(h);
    for (int p = 0; p < N_CLASS && !rc; p++)
        rc = put_tbf(h, h->sk, NLM_F_CREATE | NLM_F_EXCL, p, false);
    if (!rc)
        rc = put_dead_end(h);
    if (!rc)
        rc = widen_neighbours(h, AF_INET, "arp_cache");
    if (!rc)
        rc = widen_neighbours(h, AF_INET6, "ndisc_cache");
    return rc ? rc : put_filter(h, NLM_F_EXCL);
}

static void
take_tree(const struct hold *h)
{
    submit(h->sk, request(h, RTM_DELQDISC, 0, TC_H_ROOT, ROOT, "htb"));
}

/* --- the thread ----------------------------------------------------------
 */

/* A class that opens is not looked at until the kernel's timer for it runs
 * out, which counts in hours, or until something is sent.  So something is
 * sent: to a class that has no room, where it is dropped at once, after which
 * the kernel looks at all classes.  Nobody sees the frame. */
static void
kick(struct hold *h)
{
    static const uint8_t frame[ETH_ZLEN] = {[12] = 0x88, [13] = 0xb5};

    /* "No buffer space": that is how it should be. */
    if (send(h->kick_fd, frame, sizeof(frame), MSG_DONTWAIT) >= 0 ||
        errno != ENOBUFS)
        counter_add(&h->n_failed, 1);
}

/* Makes what is in force what is wanted.  Under the lock. */
static void
follow(struct hold *h)
{
    uint8_t wanted = __atomic_load_n(&h->wanted, __ATOMIC_ACQUIRE);
    uint64_t since_ns = __atomic_load_n(&h->wanted_ns, __ATOMIC_RELAXED);
    uint8_t change = wanted ^ h->held;

    for (unsigned m = change; m; m &= m - 1) {
        int p = __builtin_ctz(m);

        if (put_tbf(h, h->thread_sk, 0, p, wanted >> p & 1))
            counter_add(&h->n_failed, 1);
    }
    if (change & (uint8_t) ~wanted)
        kick(h);
    if (change & wanted) {
        uint64_t now_ns = clock_ns();

        if (now_ns > since_ns && now_ns - since_ns > h->worst_ns)
            counter_set(&h->worst_ns, now_ns - since_ns);
        counter_add(&h->n_holds,
                    (unsigned) __builtin_popcount(change & wanted));
    }
    __atomic_store_n(&h->held, wanted, __ATOMIC_RELEASE);
}

static void *
run(void *arg)
{
    struct hold *h = arg;
    uint64_t n;

    while (read(h->wake_fd, &n, sizeof(n)) == sizeof(n) || errno == EINTR) {
        if (__atomic_load_n(&h->stop, __ATOMIC_ACQUIRE))
            break;
        pthread_mutex_lock(&h->lock);
        if (h->is_on)
            follow(h);
        pthread_mutex_unlock(&h->lock);
    }
    return NULL;
}

static int
start_thread(struct hold *h)
{
    sigset_t all, old;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&h->thread, NULL, run, h);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    h->has_thread = rc == 0;
    return rc;
}

static void
wake(struct hold *h)
{
    uint64_t one = 1;

    /* Full is woken up, too; nothing else can be. */
    if (write(h->wake_fd, &one, sizeof(one)) < 0)
        counter_add(&h->n_failed, 1);
}

/* --- from outside -------------------------------------------------------- */

void
hold_want(struct hold *h, uint8_t held)
{
    if (held == h->seen)
        return;
    h->seen = held;
    __atomic_store_n(&h->wanted_ns, clock_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&h->wanted, held, __ATOMIC_RELEASE);
    wake(h);
}

bool
hold_is_late(const struct hold *h)
{
    uint8_t held = __atomic_load_n(&h->held, __ATOMIC_ACQUIRE);

    if (!(h->seen & (uint8_t) ~held))
        return false;
    return clock_ns() - __atomic_load_n(&h->wanted_ns, __ATOMIC_RELAXED) >
           HOLD_LATE_NS;
}

static int
open_kick(struct hold *h)
{
    struct sockaddr_ll sll = {.sll_family = AF_PACKET,
                              .sll_ifindex = h->ifindex};
    int prio = (int) DEAD;

    h->kick_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (h->kick_fd < 0 || bind(h->kick_fd, (const void *) &sll, sizeof(sll)) ||
        setsockopt(h->kick_fd, SOL_SOCKET, SO_PRIORITY, &prio, sizeof(prio)))
        return errno;
    return 0;
}

static int
open_all(struct hold *h)
{
    int rc;

    h->wake_fd = eventfd(0, EFD_CLOEXEC);
    h->sk = nl_socket_alloc();
    h->thread_sk = nl_socket_alloc();
    if (h->wake_fd < 0 || !h->sk || !h->thread_sk)
        return ENOMEM;
    rc = nl_errno(nl_connect(h->sk, NETLINK_ROUTE));
    if (!rc)
        rc = nl_errno(nl_connect(h->thread_sk, NETLINK_ROUTE));
    if (!rc)
        rc = open_kick(h);
    if (!rc)
        rc = put_tree(h);
    h->is_on = rc == 0;
    return rc ? rc : start_thread(h);
}

int
hold_open(const char *name, uint32_t ifindex, uint32_t frame_bytes,
          const struct netdev_hold *conf, struct hold **out, struct err *err)
{
    struct hold *h = calloc(1, sizeof(*h));
    int rc;

    if (!h)
        return err_sys(err, ENOMEM, "\"%s\": back-pressure", name);
    strncpy(h->name, name, NETDEV_NAME_MAX);
    h->ifindex = (int) ifindex;
    h->frame_bytes = frame_bytes;
    h->conf = *conf;
    h->kick_fd = h->wake_fd = -1;
    pthread_mutex_init(&h->lock, NULL);
    rc = open_all(h);
    if (rc) {
        hold_close(h);
        return err_sys(err, rc,
                       "\"%s\": its senders cannot be held back (the kernel "
                       "needs the schedulers HTB and TBF and the classifier "
                       "BPF)",
                       name);
    }
    *out = h;
    return 0;
}

/* From one configuration to another, with the tree that there is. */
static int
change(struct hold *h, const struct netdev_hold *conf)
{
    struct netdev_hold was = h->conf;
    int rc;

    h->conf = *conf;
    rc = put_rates(h);
    if (!rc)
        rc = put_filter(h, NLM_F_REPLACE);
    if (rc) {
        h->conf = was;
        put_rates(h);
    }
    return rc;
}

/* Without a tree, to one.  What is wanted already is held soon. */
static int
turn_on(struct hold *h, const struct netdev_hold *conf)
{
    int rc;

    h->conf = *conf;
    rc = put_tree(h);
    h->is_on = rc == 0;
    __atomic_store_n(&h->held, 0, __ATOMIC_RELEASE);
    if (rc)
        take_tree(h);
    wake(h);
    return rc;
}

int
hold_set(struct hold *h, const struct netdev_hold *conf, struct err *err)
{
    int rc = 0;

    pthread_mutex_lock(&h->lock);
    if (conf)
        rc = h->is_on ? change(h, conf) : turn_on(h, conf);
    else if (h->is_on)
        take_tree(h);
    if (!conf)
        h->is_on = false;
    pthread_mutex_unlock(&h->lock);
    return rc ? err_sys(err, rc, "\"%s\": its senders cannot be held back",
                        h->name)
              : 0;
}

void
hold_close(struct hold *h)
{
    if (!h)
        return;
    if (h->has_thread) {
        __atomic_store_n(&h->stop, true, __ATOMIC_RELEASE);
        wake(h);
        pthread_join(h->thread, NULL);
    }
    if (h->sk)
        take_tree(h);
    if (h->kick_fd >= 0)
        close(h->kick_fd);
    if (h->wake_fd >= 0)
        close(h->wake_fd);
    nl_socket_free(h->sk);
    nl_socket_free(h->thread_sk);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

/* What a part of the tree dropped.  At the dead end that is what it is for. */
static void
read_part(struct nl_object *obj, void *arg)
{
    struct rtnl_tc *tc = (struct rtnl_tc *) obj;
    struct hold_stats *out = arg;
    uint32_t handle = rtnl_tc_get_handle(tc);

    if (handle == ROOT && !strcmp(rtnl_tc_get_kind(tc), "htb"))
        out->is_intact = true;
    for (uint32_t p = 0; p < N_CLASS; p++)
        if (handle == LEAF_TBF(p))
            out->n_drops += rtnl_tc_get_stat(tc, RTNL_TC_DROPS);
}

/* Of the interface alone, whatever else the cache has. */
static void
read_ours(struct nl_cache *cache, const struct hold *h, struct hold_stats *out)
{
    for (struct nl_object *o = nl_cache_get_first(cache); o;
         o = nl_cache_get_next(o))
        if (rtnl_tc_get_ifindex((struct rtnl_tc *) o) == h->ifindex)
            read_part(o, out);
}

void
hold_read(struct hold *h, struct hold_stats *out)
{
    struct nl_cache *cache;

    *out = (struct hold_stats){
        .n_holds = counter_get(&h->n_holds),
        .n_failed = counter_get(&h->n_failed),
        .worst_ns = counter_get(&h->worst_ns),
    };
    if (!h->is_on || rtnl_qdisc_alloc_cache(h->sk, &cache)) {
        out->is_intact = true; /* not known to be gone */
        return;
    }
    read_ours(cache, h, out);
    nl_cache_free(cache);
}
