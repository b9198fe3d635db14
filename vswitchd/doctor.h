/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the doctor: m_doctor.c looks at what a lossless class needs of
 * the port itself, doctor_peer.c at who is at the other end.  Control thread.
 */
#ifndef VSWITCHD_DOCTOR_H
#define VSWITCHD_DOCTOR_H

#include "methods.h"
#include "qos/headroom.h"

enum verdict { YES, UNSURE, NO };

/* One lossless priority of a port, looked at. */
struct diagnosis {
    const struct port_view *v;    /* the port */
    int prio;                     /* the priority */
    int group;                    /* its group */
    uint64_t stall_ns;            /* to be survived */
    struct headroom need;         /* every term */
    uint64_t headroom_bytes;      /* that there is */
    uint64_t n_slots;             /* of the receive ring */
    uint64_t ring_bytes;          /* what it holds, in frames of full size */
    uint64_t ring_needed_bytes;   /* what arrives during a stall */
    uint64_t n_ring_pauses;       /* of the peer, for a ring too full */
    enum verdict verdict;         /* so far */
    struct json_object *findings; /* what is wrong */
};

/* Adds a finding.  short_bytes 0: not a matter of size; command null: none of
 * ours mends it. */
void doctor_find(struct diagnosis *, enum verdict, const char *term,
                 uint64_t short_bytes, const char *command, const char *fmt,
                 ...) __attribute__((format(printf, 6, 7)));

/* Does the host behind a tap hold back who sends, as far as it can? */
void doctor_host(struct diagnosis *);
/* Datagrams that arrived in this network namespace, and that sockets had no
 * room for. */
uint64_t doctor_socket_drops(void);

/* Does the other end keep to the rate that is counted on, and does it obey? */
void doctor_peer(struct diagnosis *);

#endif
