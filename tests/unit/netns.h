/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of ports on real interfaces: a network namespace of the test
 * process's own (it and all in it vanish with the process), and raw sockets
 * that stand for the host at the other end of the wire.
 */
#ifndef TESTS_UNIT_NETNS_H
#define TESTS_UNIT_NETNS_H

#include <linux/virtio_net.h>
#include <stddef.h>
#include <stdint.h>

/* Moves the process into a new, empty network namespace without IPv6 noise;
 * skips the running test when it may not. */
void netns_enter(void);
/* A descriptor of the current namespace, for netns_switch(). */
int netns_self(void);
void netns_switch(int fd);
/* Runs a command (ip, tc); it must succeed. */
void netns_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Waits until an interface really sends: the kernel tells it of its carrier
 * from a work queue, and until then throws frames away without a word. */
void netns_wait(const char *iface);

/* A raw socket on an interface that is up, and has a carrier, or soon will;
 * deaf to what is sent there. */
int netns_raw(const char *iface);
/* Sends one frame; it must go. */
void netns_send(int fd, const void *frame, size_t n);
/* Sends one frame with an offload header; it must go. */
void netns_send_vnet(const char *iface, const struct virtio_net_hdr *,
                     const void *frame, size_t n);
/* The next frame, with its VLAN tag where it is on a wire; 0: none came for
 * `wait_ms`. */
size_t netns_recv(int fd, void *frame, size_t room, int wait_ms);

/* Internet checksum of what a frame's IP and L4 headers (TCP, UDP, over IPv4
 * or IPv6, behind any number of tags) should be, worked out the plain way,
 * octet by octet; returns null when right, else what is wrong. */
const char *netns_csum_wrong(const uint8_t *frame, size_t n);

#endif
