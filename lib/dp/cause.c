/* SPDX-License-Identifier: Apache-2.0
 *
 * Who waits for whom: in which egress queue the frames of an ingress group
 * lie.  Nothing is kept for that; the queues are asked when an XOFF or XON is
 * told (a sample, so that it costs the same however much is queued), or by
 * `pfc graph` (all of them).  dp thread.
 */
#include "dp/dp_priv.h"

/* Frames of a queue, and queues, that are looked at for a cause. */
#define SAMPLE_FRAMES 64
#define SAMPLE_QUEUES 32

static bool
is_charged_to(const struct pkt *p, uint16_t slot, uint8_t pg)
{
    return p->owner->in_port == slot && p->owner->pg == pg;
}

/* Bytes of the group in the queue, by its first frames. */
static uint64_t
share_of(const struct dp_queue *queue, uint16_t slot, uint8_t pg)
{
    uint64_t bytes = 0;
    uint32_t n = 0;

    for (const struct pkt *p = queue->head; p && n < SAMPLE_FRAMES;
         p = p->next, n++)
        if (is_charged_to(p, slot, pg))
            bytes += p->owner->charge_bytes;
    /* A queue that is being emptied may have fewer than it says. */
    return n && n < queue->frames ? bytes * queue->frames / n : bytes;
}

void
dp_find_cause(const struct dp *dp, uint16_t slot, uint8_t pg,
              struct dp_cause *out)
{
    uint32_t n_queues = 0;

    *out = (struct dp_cause){.port = PKT_NO_PORT};
    for (int i = dp_set_next(&dp->busy, 0); i >= 0;
         i = dp_set_next(&dp->busy, i + 1)) {
        const struct dp_port *port = dp->port[i];

        for (unsigned m = port->ready; m; m &= m - 1) {
            uint8_t q = (uint8_t) __builtin_ctz(m);
            uint64_t bytes = share_of(&port->queue[q], slot, pg);

            if (bytes > out->bytes)
                *out = (struct dp_cause){port->slot, q, bytes};
            if (++n_queues == SAMPLE_QUEUES)
                return;
        }
    }
}

/* --- the graph ----------------------------------------------------------- */

/* What lies in one queue, by group. */
struct found {
    uint64_t bytes[DP_MAX_PORTS][N_PG];
    uint32_t frames[DP_MAX_PORTS][N_PG];
};

static void
look_into(const struct dp_queue *queue, struct found *f)
{
    uint32_t n = 0;

    memset(f, 0, sizeof(*f));
    for (const struct pkt *p = queue->head; p && n < DP_WAIT_FRAMES;
         p = p->next, n++) {
        const struct pkt *o = p->owner;

        if (o->in_port == PKT_NO_PORT)
            continue;
        f->bytes[o->in_port][o->pg] += o->charge_bytes;
        f->frames[o->in_port][o->pg]++;
    }
}

static uint8_t
paused_for(const struct dp_port *port, uint8_t queue)
{
    uint8_t prios = 0;

    for (int p = 0; p < N_PRIO; p++)
        if ((port->pfc.paused >> p & 1) && (port->stops[p] >> queue & 1))
            prios |= (uint8_t) (1u << p);
    return prios;
}

static uint32_t
add_waits(const struct dp *dp, const struct dp_port *port, uint8_t q,
          const struct found *f, struct dp_wait out[], uint32_t n,
          uint32_t max)
{
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        for (uint8_t g = 0; g < N_PG; g++) {
            if (!f->frames[i][g] || !dp->port[i])
                continue;
            if (n < max)
                out[n] = (struct dp_wait){
                    .in_port = (uint16_t) i,
                    .pg = g,
                    .xoff = dp->port[i]->xoff >> g & 1,
                    .out_port = port->slot,
                    .queue = q,
                    .paused_for = paused_for(port, q),
                    .bytes = f->bytes[i][g],
                    .frames = f->frames[i][g],
                };
            n++;
        }
    }
    return n;
}

uint32_t
dp_waits(struct dp *dp, struct dp_wait out[], uint32_t max)
{
    struct found found;
    uint32_t n = 0;

    for (int i = dp_set_next(&dp->busy, 0); i >= 0;
         i = dp_set_next(&dp->busy, i + 1)) {
        const struct dp_port *port = dp->port[i];

        for (unsigned m = port->ready & port->paused_q; m; m &= m - 1) {
            uint8_t q = (uint8_t) __builtin_ctz(m);

            look_into(&port->queue[q], &found);
            n = add_waits(dp, port, q, &found, out, n, max);
        }
    }
    return n;
}
