/* SPDX-License-Identifier: Apache-2.0
 *
 * Network namespaces for tests: see netns.h.
 */
#include "tests/unit/netns.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static void
quiet_ipv6(void)
{
    int fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY);

    if (fd >= 0) {
        /* Where it fails the tests see some more frames, and pass over
         * them. */
        if (write(fd, "1", 1) != 1)
            cr_log_info("IPv6 stays on\n");
        close(fd);
    }
}

void
netns_enter(void)
{
    if (unshare(CLONE_NEWNET))
        cr_skip_test("needs root: cannot make a network namespace (%s)",
                     strerror(errno));
    quiet_ipv6();
}

int
netns_self(void)
{
    int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

    cr_assert_geq(fd, 0);
    return fd;
}

void
netns_switch(int fd)
{
    cr_assert_eq(setns(fd, CLONE_NEWNET), 0);
}

void
netns_run(const char *fmt, ...)
{
    char cmd[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(cmd, sizeof(cmd), fmt, args);
    va_end(args);
    cr_assert_eq(system(cmd), 0, "failed: %s", cmd);
}

static void
bind_raw(int fd, const char *iface, uint16_t protocol)
{
    struct sockaddr_ll sll = {.sll_family = AF_PACKET,
                              .sll_protocol = htons(protocol),
                              .sll_ifindex = (int) if_nametoindex(iface)};

    cr_assert_neq(sll.sll_ifindex, 0, "no interface %s", iface);
    cr_assert_eq(bind(fd, (const void *) &sll, sizeof(sll)), 0);
}

void
netns_wait(const char *iface)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    for (int i = 0; i < 1000; i++) {
        struct ifreq ifr = {0};

        snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", iface);
        cr_assert_eq(ioctl(fd, SIOCGIFFLAGS, &ifr), 0, "%s", iface);
        if (ifr.ifr_flags & IFF_RUNNING) {
            close(fd);
            return;
        }
        usleep(10000);
    }
    cr_assert_fail("%s has no carrier", iface);
}

int
netns_raw(const char *iface)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    int one = 1;
    int bytes = 64 << 20;

    netns_wait(iface);
    cr_assert_geq(fd, 0);
    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one));
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
    bind_raw(fd, iface, ETH_P_ALL);
    return fd;
}

void
netns_send(int fd, const void *frame, size_t n)
{
    ssize_t sent = send(fd, frame, n, 0);

    cr_assert_eq(sent, (ssize_t) n, "%zu octets: %s", n, strerror(errno));
}

void
netns_send_vnet(const char *iface, const struct virtio_net_hdr *vnet,
                const void *frame, size_t n)
{
    struct iovec iov[2] = {{(void *) vnet, sizeof(*vnet)},
                           {(void *) frame, n}};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    int one = 1;
    ssize_t sent;

    cr_assert_geq(fd, 0);
    cr_assert_eq(setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one,
                            sizeof(one)),
                 0);
    bind_raw(fd, iface, 0);
    sent = writev(fd, iov, 2);
    cr_assert_eq(sent, (ssize_t) (n + sizeof(*vnet)), "%zu octets: %s", n,
                 strerror(errno));
    close(fd);
}

size_t
netns_recv(int fd, void *frame, size_t room, int wait_ms)
{
    struct pollfd pfd = {.fd = fd, .events = POLLIN};
    struct iovec iov = {frame, room};
    char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    uint8_t *at = frame;
    struct tpacket_auxdata aux = {0};
    struct cmsghdr *cmsg;
    ssize_t n;

    if (poll(&pfd, 1, wait_ms) <= 0)
        return 0;
    n = recvmsg(fd, &msg, MSG_DONTWAIT);
    cr_assert_gt(n, 0);
    cmsg = CMSG_FIRSTHDR(&msg);
    if (cmsg)
        memcpy(&aux, CMSG_DATA(cmsg), sizeof(aux));
    if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
        return (size_t) n;
    cr_assert_leq((size_t) n + 4, room);
    memmove(at + 16, at + 12, (size_t) n - 12);
    at[12] = (uint8_t) (aux.tp_vlan_tpid >> 8);
    at[13] = (uint8_t) aux.tp_vlan_tpid;
    at[14] = (uint8_t) (aux.tp_vlan_tci >> 8);
    at[15] = (uint8_t) aux.tp_vlan_tci;
    return (size_t) n + 4;
}

static unsigned
be16(const uint8_t *p)
{
    return (unsigned) (p[0] << 8 | p[1]);
}

static uint32_t
plain_sum(const uint8_t *p, size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += i % 2 ? p[i] : (uint32_t) p[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

static bool
sums_to_ones(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

const char *
netns_csum_wrong(const uint8_t *frame, size_t n)
{
    const uint8_t *l3 = frame + 14;
    const uint8_t *end = frame + n;
    size_t l4_len, ihl;
    uint32_t pseudo;
    uint8_t proto;

    while (be16(l3 - 2) == 0x8100 || be16(l3 - 2) == 0x88a8)
        l3 += 4;
    if (be16(l3 - 2) == 0x0800) {
        ihl = (size_t) (l3[0] & 15) * 4;
        if (!sums_to_ones(plain_sum(l3, ihl)))
            return "IPv4 header checksum";
        if (be16(l3 + 2) > (size_t) (end - l3) ||
            (be16(l3 + 2) < (size_t) (end - l3) && n > 60))
            return "IPv4 total length";
        proto = l3[9];
        l4_len = be16(l3 + 2) - ihl;
        pseudo = plain_sum(l3 + 12, 8);
    } else if (be16(l3 - 2) == 0x86dd) {
        ihl = 40;
        if (be16(l3 + 4) + ihl != (size_t) (end - l3))
            return "IPv6 payload length";
        proto = l3[6];
        l4_len = be16(l3 + 4);
        pseudo = plain_sum(l3 + 8, 32);
    } else {
        return NULL;
    }
    if (proto != 6 && proto != 17)
        return NULL;
    if (proto == 17 && be16(l3 + ihl + 4) != l4_len)
        return "UDP length";
    pseudo += proto + (uint32_t) l4_len + plain_sum(l3 + ihl, l4_len);
    if (!sums_to_ones(pseudo))
        return proto == 6 ? "TCP checksum" : "UDP checksum";
    return NULL;
}
