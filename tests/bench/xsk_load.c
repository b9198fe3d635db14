/* SPDX-License-Identifier: Apache-2.0
 *
 * See xsk_load.h.
 */
#include "xsk_load.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Frames that were sent and that no one has let go of yet. */
#define N_DONE 2048
/* The queue is in use for a while after its last socket was closed. */
#define TRIES   200
#define WAIT_US 10000

int
xsk_load_open(struct xsk_load *l, const char *iface)
{
    const struct xsk_umem_config uc = {
        .fill_size = XSK_LOAD_BURST,
        .comp_size = N_DONE,
        .frame_size = XSK_LOAD_MAX,
    };
    const struct xsk_socket_config sc = {
        .tx_size = XSK_LOAD_BURST,
        .libbpf_flags = XSK_LIBBPF_FLAGS__INHIBIT_PROG_LOAD,
        .bind_flags = XDP_COPY,
    };
    const size_t bytes = (size_t) XSK_LOAD_BURST * XSK_LOAD_MAX;
    int rc;

    l->frames = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (l->frames == MAP_FAILED)
        return errno;
    rc = xsk_umem__create(&l->umem, l->frames, bytes, &l->fill, &l->done, &uc);
    if (rc)
        return -rc;
    for (int i = 0; i < TRIES; i++) {
        rc =
            xsk_socket__create(&l->sock, iface, 0, l->umem, NULL, &l->tx, &sc);
        if (rc != -EBUSY)
            break;
        usleep(WAIT_US);
    }
    return -rc;
}

static void
forget_done(struct xsk_load *l)
{
    uint32_t at = 0, n = xsk_ring_cons__peek(&l->done, N_DONE, &at);

    if (n)
        xsk_ring_cons__release(&l->done, n);
}

int
xsk_load_send(struct xsk_load *l, const uint32_t lens[], uint32_t n)
{
    uint32_t at = 0;
    ssize_t rc;

    /* It is empty whenever we return. */
    if (xsk_ring_prod__reserve(&l->tx, n, &at) != n)
        return ENOSPC;
    for (uint32_t i = 0; i < n; i++)
        *xsk_ring_prod__tx_desc(&l->tx, at + i) =
            (struct xdp_desc){.addr = (uint64_t) i * XSK_LOAD_MAX,
                              .len = lens[i]};
    xsk_ring_prod__submit(&l->tx, n);
    do {
        forget_done(l);
        rc = sendto(xsk_socket__fd(l->sock), NULL, 0, MSG_DONTWAIT, NULL, 0);
    } while (rc < 0 &&
             (errno == EAGAIN || errno == EBUSY || errno == ENOBUFS));
    return rc < 0 ? errno : 0;
}
