/* SPDX-License-Identifier: Apache-2.0
 *
 * What is lib/netdev/afxdp's own, on real veth pairs: frames cross without a
 * copy, tags that the kernel moved aside are back, buffers come and go in the
 * right number, programs of others are respected and ours goes with us.  What
 * all ports on interfaces have in common is in test_afpacket.c and its
 * neighbours, which are built for this type too.  Needs root.
 */
#include "netdev/link.h"
#include "netdev/netdev.h"
#include "pkt/share.h"
#include "tests/unit/netns.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TCX_EGRESS 47 /* BPF_TCX_EGRESS; headers before Linux 6.6 lack it */

static const uint8_t plain[100] = "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\xb5";

static int
try_open(const char *name, struct pkt_pool *pool, uint32_t ring_bytes,
         struct netdev **dev, struct err *err)
{
    struct netdev_args args = {.name = name,
                               .pool = pool,
                               .ring_bytes = ring_bytes};

    return netdev_open(&netdev_afxdp, &args, dev, err);
}

static struct netdev *
open_port(const char *name, struct pkt_pool *pool)
{
    struct netdev *dev = NULL;
    struct err err = {0};

    cr_assert_eq(try_open(name, pool, 0, &dev, &err), 0, "%s", err.msg);
    return dev;
}

static void
make_pair(int i)
{
    netns_run("ip link add slc%d type veth peer name slp%d", i, i);
    netns_run("ip link set slc%d up && ip link set slp%d up", i, i);
}

static struct pkt *
receive(struct netdev *dev)
{
    struct pkt *p[PKT_BATCH];

    cr_assert_eq(dev->cls->rx(dev, p, PKT_BATCH), 1);
    return p[0];
}

static void
send_pkt(struct netdev *dev, struct pkt *p)
{
    uint32_t n_sent;

    cr_assert_eq(dev->cls->tx(dev, &p, 1, &n_sent), NETDEV_TX_OK);
    cr_assert_eq(n_sent, 1);
    pkt_free(p);
}

/* Lets the port find out what was sent. */
static void
settle(struct netdev *dev)
{
    struct pkt *p[PKT_BATCH];

    cr_assert_eq(dev->cls->rx(dev, p, PKT_BATCH), 0);
}

static uint32_t
attached_prog(const char *name)
{
    LIBBPF_OPTS(bpf_xdp_query_opts, query);

    cr_assert_eq(bpf_xdp_query((int) if_nametoindex(name), 0, &query), 0);
    return query.prog_id;
}

Test(afxdp, veth_is_native_and_frames_cross_without_a_copy)
{
    struct pkt_pool *pool;
    struct netdev *a, *b;
    uint8_t got[200];
    int peer_a, peer_b;

    netns_enter();
    make_pair(1);
    make_pair(2);
    pool = pkt_pool_create(4096, 64, 1522);
    a = open_port("slc1", pool);
    b = open_port("slc2", pool);
    cr_assert_str_eq(a->mode, "native");
    peer_a = netns_raw("slp1");
    peer_b = netns_raw("slp2");
    for (int i = 0; i < 3000; i++) { /* more than any ring */
        struct pkt *p;
        size_t bytes;
        const uint8_t *arena = pkt_pool_arena(pool, &bytes);

        netns_send(peer_a, plain, sizeof(plain));
        p = receive(a);
        cr_assert(p->data >= arena && p->data < arena + bytes);
        cr_assert_eq(pkt_at(pool, pkt_ofs(pool, p->data)), p);
        send_pkt(b, p);
        cr_assert_eq(netns_recv(peer_b, got, sizeof(got), 1000),
                     sizeof(plain));
    }
    settle(b);
    cr_assert_eq(pkt_pool_n_free(pool), 4096);
    netdev_close(a);
    netdev_close(b);
    pkt_collect(pool);
    cr_assert_eq(pkt_pool_n_free(pool), 4096);
    pkt_pool_destroy(pool);
}

/* A flood: the same frame leaves with a tag, with another one, and as it
 * came, from one buffer, which none of them may change for the others. */
Test(afxdp, copies_with_other_tags_do_not_disturb_each_other)
{
    static const uint8_t want[3][6] = {"\x81\0\x60\x05\x88\xb5",
                                       "\x88\xa8\x20\x07\x88\xb5",
                                       "\x88\xb5\0\0\0\0"};
    struct pkt_pool *pool;
    struct netdev *dev;
    struct pkt *p[3];
    uint8_t got[200];
    uint32_t n_sent;
    int peer;

    netns_enter();
    make_pair(1);
    pool = pkt_pool_create(64, 64, 1522);
    dev = open_port("slc1", pool);
    peer = netns_raw("slp1");
    for (int order = 0; order < 3; order++) {
        netns_send(peer, plain, sizeof(plain));
        p[order] = receive(dev);
        p[(order + 1) % 3] = pkt_clone(p[order]);
        p[(order + 2) % 3] = pkt_clone(p[order]);
        for (int i = 0; i < 2; i++) {
            p[i]->tx_tag = true;
            p[i]->tx_tpid = i ? 0x88a8 : 0x8100;
            p[i]->tx_tci = i ? 0x2007 : 0x6005;
        }
        cr_assert_eq(dev->cls->tx(dev, p, 3, &n_sent), NETDEV_TX_OK);
        cr_assert_eq(n_sent, 3);
        for (int i = 0; i < 3; i++)
            pkt_free(p[i]);
        for (int i = 0; i < 3; i++) {
            size_t n = i < 2 ? 104 : 100;

            cr_assert_eq(netns_recv(peer, got, sizeof(got), 1000), n);
            cr_assert_arr_eq(got, plain, 12);
            cr_assert_arr_eq(got + 12, want[i], i < 2 ? 6 : 2);
        }
    }
    settle(dev);
    cr_assert_eq(pkt_pool_n_free(pool), 64);
    netdev_close(dev);
    pkt_pool_destroy(pool);
}

/* Gives frames that leave there a tag beside the frame, as a VLAN interface
 * does (which not every kernel has). */
static void
tag_on_egress(const char *name)
{
    struct bpf_insn insns[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K,
         .dst_reg = BPF_REG_2,
         .imm = htons(0x8100)},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K,
         .dst_reg = BPF_REG_3,
         .imm = 0x6005},
        {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_skb_vlan_push},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K},
        {.code = BPF_JMP | BPF_EXIT},
    };
    int fd =
        bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "tag", "GPL", insns, 5, NULL);

    cr_assert_geq(fd, 0);
    if (bpf_link_create(fd, (int) if_nametoindex(name), TCX_EGRESS, NULL) < 0)
        cr_skip_test("needs tcx in the kernel");
}

Test(afxdp, tags_beside_the_frame_are_put_back)
{
    struct pkt_pool *pool;
    struct netdev *dev;
    struct pkt *p;
    int peer;

    netns_enter();
    make_pair(1);
    pool = pkt_pool_create(64, 64, 1522);
    dev = open_port("slc1", pool);
    peer = netns_raw("slp1");
    tag_on_egress("slp1");
    netns_send(peer, plain, sizeof(plain));
    p = receive(dev);
    cr_assert_eq(p->len, sizeof(plain) + 4);
    cr_assert_arr_eq(p->data, plain, 12);
    cr_assert_arr_eq(p->data + 12, "\x81\0\x60\x05\x88\xb5", 6);
    cr_assert_arr_eq(p->data + 18, plain + 14, sizeof(plain) - 14);
    pkt_free(p);
    netdev_close(dev);
    pkt_pool_destroy(pool);
}

Test(afxdp, spare_buffers_come_back_whatever_is_under_way)
{
    struct pkt_pool *pool;
    uint32_t n_spare;
    int peer;

    netns_enter();
    make_pair(1);
    pool = pkt_pool_create(64, 64, 1522);
    n_spare = pkt_spare_left(pool);
    peer = netns_raw("slp1");
    for (int round = 0; round < 20; round++) {
        struct netdev *dev = open_port("slc1", pool);

        cr_assert_lt(pkt_spare_left(pool), n_spare);
        for (int i = 0; i < 10 * round; i++)
            netns_send(peer, plain, sizeof(plain));
        for (int i = 0; i < round; i++) {
            struct pkt *p[1];

            if (dev->cls->rx(dev, p, 1))
                send_pkt(dev, p[0]);
        }
        netdev_close(dev);
        pkt_collect(pool);
        cr_assert_eq(pkt_pool_n_free(pool), 64);
        cr_assert_eq(pkt_spare_left(pool), n_spare);
    }
    pkt_pool_destroy(pool);
}

Test(afxdp, rings_that_do_not_fit_are_refused_with_the_numbers)
{
    struct pkt_pool *pool;
    struct netdev *dev;
    struct err err = {0};

    netns_enter();
    make_pair(1);
    pool = pkt_pool_create(64, 64, 1522);
    cr_assert_eq(try_open("slc1", pool, 16 << 20, &dev, &err), ENOSPC);
    cr_assert(strstr(err.msg, "ring of 9039 frames"), "%s", err.msg);
    cr_assert_eq(try_open("slc1", pool, 1, &dev, &err), EINVAL);
    cr_assert_eq(try_open("slc1", pool, 256 << 10, &dev, &err), 0, "%s",
                 err.msg);
    netdev_close(dev);
    pkt_pool_destroy(pool);
}

/* As a program that is not ours. */
static int
attach_foreign(const char *name)
{
    struct bpf_insn insns[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS},
        {.code = BPF_JMP | BPF_EXIT},
    };
    int fd =
        bpf_prog_load(BPF_PROG_TYPE_XDP, "foreign", "GPL", insns, 2, NULL);

    cr_assert_geq(fd, 0);
    cr_assert_eq(bpf_xdp_attach((int) if_nametoindex(name), fd,
                                XDP_FLAGS_DRV_MODE, NULL),
                 0);
    return fd;
}

Test(afxdp, a_program_of_others_is_respected, .timeout = 30)
{
    struct pkt_pool *pool;
    struct netdev *dev;
    struct err err = {0};
    uint32_t id;

    netns_enter();
    make_pair(1);
    pool = pkt_pool_create(64, 64, 1522);
    close(attach_foreign("slc1"));
    id = attached_prog("slc1");
    cr_assert_neq(id, 0);
    cr_assert_eq(try_open("slc1", pool, 0, &dev, &err), EBUSY);
    cr_assert(strstr(err.msg, "not ours"), "%s", err.msg);
    cr_assert_eq(attached_prog("slc1"), id);
    cr_assert_eq(pkt_pool_n_free(pool), 64);
    pkt_pool_destroy(pool);
}

Test(afxdp, the_program_goes_with_the_port_and_with_the_process)
{
    struct pkt_pool *pool;
    struct netdev *dev;
    int ready[2], status;
    pid_t pid;
    char c;

    netns_enter();
    make_pair(1);
    pool = pkt_pool_create(64, 64, 1522);
    dev = open_port("slc1", pool);
    cr_assert_neq(attached_prog("slc1"), 0);
    netdev_close(dev);
    cr_assert_eq(attached_prog("slc1"), 0);
    cr_assert_eq(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        dev = open_port("slc1", pool);
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    cr_assert_eq(read(ready[0], &c, 1), 1);
    cr_assert_neq(attached_prog("slc1"), 0);
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    dev = open_port("slc1", pool); /* at once */
    netdev_close(dev);
    cr_assert_eq(attached_prog("slc1"), 0);
    pkt_pool_destroy(pool);
}

Test(afxdp, several_receive_queues_are_refused_with_the_remedy)
{
    struct pkt_pool *pool;
    struct netdev *dev;
    struct err err = {0};

    netns_enter();
    netns_run("ip link add slc1 numrxqueues 2 numtxqueues 2 type veth "
              "peer name slp1");
    pool = pkt_pool_create(64, 64, 1522);
    cr_assert_eq(try_open("slc1", pool, 0, &dev, &err), EINVAL);
    cr_assert(strstr(err.msg, "2 receive queues"), "%s", err.msg);
    cr_assert(strstr(err.msg, "'ethtool -L slc1 rx 1'"), "%s", err.msg);
    netns_run("ethtool -L slc1 rx 1");
    cr_assert_eq(try_open("slc1", pool, 0, &dev, &err), ENOSPC);
    cr_assert(strstr(err.msg, "'ethtool -L PEER tx 1'"), "%s", err.msg);
    netns_run("ethtool -L slp1 tx 1");
    cr_assert_eq(try_open("slc1", pool, 0, &dev, &err), 0, "%s", err.msg);
    netdev_close(dev);
    pkt_pool_destroy(pool);
}

Test(afxdp, without_native_mode_a_virtual_interface_is_refused)
{
    struct pkt_pool *pool;
    struct netdev *dev;
    struct err err = {0};

    netns_enter();
    netns_run("ip link add slc1 type ifb");
    pool = pkt_pool_create(64, 64, 1522);
    cr_assert_eq(try_open("slc1", pool, 0, &dev, &err), EOPNOTSUPP);
    cr_assert(strstr(err.msg, "no native XDP"), "%s", err.msg);
    pkt_pool_destroy(pool);
}

Test(afxdp, generic_mode_moves_frames)
{
    struct netdev_args args = {.name = "slc1", .only_generic = true};
    struct netdev *dev;
    struct err err = {0};
    uint8_t got[200];
    int peer;

    netns_enter();
    make_pair(1);
    args.pool = pkt_pool_create(64, 64, 1522);
    cr_assert_eq(netdev_open(&netdev_afxdp, &args, &dev, &err), 0, "%s",
                 err.msg);
    cr_assert_str_eq(dev->mode, "generic");
    peer = netns_raw("slp1");
    netns_send(peer, plain, sizeof(plain));
    for (int i = 0; i < 100; i++) {
        struct pkt *p[1];

        if (dev->cls->rx(dev, p, 1)) {
            cr_assert_eq(p[0]->len, sizeof(plain));
            send_pkt(dev, p[0]);
            cr_assert_eq(netns_recv(peer, got, sizeof(got), 1000),
                         sizeof(plain));
            cr_assert_arr_eq(got, plain, sizeof(plain));
            netdev_close(dev);
            pkt_pool_destroy(args.pool);
            return;
        }
        usleep(10000);
    }
    cr_assert_fail("no frame came");
}
