/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_xdp: what AF_XDP allows, to measure afxdp ports against.  Frames that
 * come in on each of two interfaces go out of the other, by reference, from
 * one memory; nothing is looked at, copied, restored, counted or queued.
 *
 *   bare_xdp IFACE IFACE
 *
 * Native mode.  Runs until it is killed.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <xdp/xsk.h>

#define BATCH    32
#define N_FRAMES 2048u /* of each interface */
#define CHUNK    2048u

struct end {
    struct xsk_umem *umem;     /* the memory as this socket knows it */
    struct xsk_socket *sock;   /* the socket */
    struct xsk_ring_cons rx;   /* frames that came */
    struct xsk_ring_prod tx;   /* frames to send */
    struct xsk_ring_prod fill; /* free frames */
    struct xsk_ring_cons sent; /* frames that were sent */
};

static struct end ends[2];

static void
fail(const char *what)
{
    perror(what);
    exit(1);
}

/* Hands every frame to the socket. */
static void
load_program(const struct end *e, int ifindex)
{
    int map = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "bare", 4, 4, 1, NULL);
    struct bpf_insn insns[] = {
        {BPF_LDX | BPF_W | BPF_MEM, 2, 1,
         offsetof(struct xdp_md, rx_queue_index), 0},
        {BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map},
        {0, 0, 0, 0, 0},
        {BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 0},
        {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
    };
    LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
    int prog;

    if (map < 0 || xsk_socket__update_xskmap(e->sock, map))
        fail("map");
    prog = bpf_prog_load(BPF_PROG_TYPE_XDP, "bare", "GPL", insns,
                         sizeof(insns) / sizeof(insns[0]), NULL);
    if (prog < 0 || bpf_link_create(prog, ifindex, BPF_XDP, &opts) < 0)
        fail("program");
}

static void
open_end(int k, const char *iface, uint8_t *memory)
{
    struct end *e = &ends[k];
    struct xsk_umem_config uc = {
        .fill_size = N_FRAMES,
        .comp_size = N_FRAMES,
        .frame_size = CHUNK,
    };
    struct xsk_socket_config sc = {
        .rx_size = N_FRAMES,
        .tx_size = N_FRAMES,
        .libbpf_flags = XSK_LIBBPF_FLAGS__INHIBIT_PROG_LOAD,
        .bind_flags = XDP_USE_NEED_WAKEUP,
    };
    uint32_t idx = 0;

    if (xsk_umem__create(&e->umem, memory, UINT64_C(2) * N_FRAMES * CHUNK,
                         &e->fill, &e->sent, &uc) ||
        xsk_socket__create(&e->sock, iface, 0, e->umem, &e->rx, &e->tx, &sc))
        fail(iface);
    xsk_ring_prod__reserve(&e->fill, N_FRAMES, &idx);
    for (uint32_t i = 0; i < N_FRAMES; i++)
        *xsk_ring_prod__fill_addr(&e->fill, idx + i) =
            ((uint64_t) k * N_FRAMES + i) * CHUNK;
    xsk_ring_prod__submit(&e->fill, N_FRAMES);
    load_program(e, (int) if_nametoindex(iface));
}

/* Frames that `to` has sent for `from` are free again. */
static void
reclaim(struct end *from, struct end *to)
{
    uint32_t at = 0, idx = 0;
    uint32_t n = xsk_ring_cons__peek(&to->sent, N_FRAMES, &at);

    if (!n)
        return;
    /* The kernel says now and then only what it has taken off that ring. */
    if (xsk_ring_prod__reserve(&from->fill, n, &idx) != n) {
        xsk_ring_cons__cancel(&to->sent, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        *xsk_ring_prod__fill_addr(&from->fill, idx + i) =
            *xsk_ring_cons__comp_addr(&to->sent, at + i) &
            ~(uint64_t) (CHUNK - 1);
    xsk_ring_cons__release(&to->sent, n);
    xsk_ring_prod__submit(&from->fill, n);
}

/* Forwards one batch; returns how many frames. */
static uint32_t
forward(struct end *from, struct end *to)
{
    uint32_t at = 0, idx = 0, n;

    reclaim(from, to);
    n = xsk_ring_cons__peek(&from->rx, BATCH, &at);
    if (!n)
        return 0;
    if (xsk_ring_prod__reserve(&to->tx, n, &idx) != n)
        abort();
    for (uint32_t i = 0; i < n; i++)
        *xsk_ring_prod__tx_desc(&to->tx, idx + i) =
            *xsk_ring_cons__rx_desc(&from->rx, at + i);
    xsk_ring_cons__release(&from->rx, n);
    xsk_ring_prod__submit(&to->tx, n);
    while (xsk_prod_nb_free(&to->tx, N_FRAMES) < N_FRAMES)
        sendto(xsk_socket__fd(to->sock), NULL, 0, MSG_DONTWAIT, NULL, 0);
    return n;
}

int
main(int argc, char **argv)
{
    uint8_t *memory;

    if (argc != 3) {
        fprintf(stderr, "usage: bare_xdp IFACE IFACE\n");
        exit(2);
    }
    memory = mmap(NULL, (size_t) 2 * N_FRAMES * CHUNK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("memory");
    for (int k = 0; k < 2; k++)
        open_end(k, argv[1 + k], memory);
    for (;;) {
        struct pollfd pfd[2] = {{.fd = xsk_socket__fd(ends[0].sock),
                                 .events = POLLIN},
                                {.fd = xsk_socket__fd(ends[1].sock),
                                 .events = POLLIN}};

        if (forward(&ends[0], &ends[1]) + forward(&ends[1], &ends[0]) == 0)
            poll(pfd, 2, -1);
    }
}
