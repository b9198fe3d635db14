/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of lib/ofconn share: a switch that is made up, the peer of a
 * connection, and scripts of bytes as hexadecimal text.
 */
#ifndef OFCONN_RIG_H
#define OFCONN_RIG_H

#include "ofconn/ofconn.h"

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

#define T_HELLO_13 "04000008 00000001"
#define OUR_HELLO  "04000010 00000001 00010008 00000012"

struct peer {
    uint8_t *out;     /* what was sent to it, and not looked at yet */
    size_t n;         /* octets */
    size_t unread;    /* of all: have not left */
    bool never_reads; /* they pile up */
};

struct rig {
    struct ofconn_switch *s; /* what is tested */
    char log[4096];          /* what the switch was asked for */
    uint64_t posted, done;   /* of the made-up datapath */
    bool is_full;            /* it takes nothing */
    uint16_t frags;          /* of SET_CONFIG */
    uint32_t n_entries;      /* of every multipart reply */
    uint32_t n_dumps;        /* begun and not ended */
    uint32_t fail_at;        /* message of a bundle that fails; ~0: none */
};

extern const struct ofconn_io rig_io; /* of a struct peer */
extern const struct ofconn_conf controller;

void rig_init(struct rig *);
void peer_uninit(struct peer *);

/* Octets of hexadecimal text; blanks are passed over. */
size_t unhex(const char *hex, uint8_t *to, size_t size);
/* Feeds it in pieces; all of it must be taken. */
void feed_now(struct ofconn *, const char *hex, size_t piece, uint64_t now);
/* What was sent since this was last asked. */
void expect(struct peer *, const char *hex);
/* An open connection of 1.3, hello and all, with nothing left to look at. */
struct ofconn *open_conn(struct rig *, struct peer *,
                         const struct ofconn_conf *);
/* Feeds a script to a fresh connection, whole and in pieces: what comes after
 * our hello, and how it ends (null: it goes on). */
void script(const char *in, const char *out, const char *why);

#endif
