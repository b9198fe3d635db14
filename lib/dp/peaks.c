/* SPDX-License-Identifier: Apache-2.0
 *
 * High-water marks.  The datapath keeps one set, at the cost of a comparison;
 * the control thread makes as many sets of it as it wants: it takes the marks
 * and has them begin anew on the dp thread (dp_post), which alone writes them.
 */
#include "dp/dp_priv.h"

void
dp_port_peaks(const struct dp_port *port, struct dp_port_peaks *out)
{
    for (int g = 0; g < N_PG; g++) {
        out->pg_bytes[g] = counter_get(&port->group[g].peak);
        out->pg_headroom[g] = counter_get(&port->group[g].headroom_peak);
    }
    for (int q = 0; q < N_QUEUE; q++)
        out->q_bytes[q] = counter_get(&port->n.q_peak[q]);
    for (int p = 0; p < N_PRIO; p++)
        out->late_bytes[p] = counter_get(&port->late_peak[p]);
}

void
dp_port_peaks_restart(struct dp_port *port)
{
    for (int g = 0; g < N_PG; g++) {
        struct buf_group *group = &port->group[g];

        counter_set(&group->peak, buf_group_held(group));
        counter_set(&group->headroom_peak, group->headroom_used);
    }
    for (int q = 0; q < N_QUEUE; q++) {
        port->queue[q].peak = port->queue[q].bytes;
        counter_set(&port->n.q_peak[q], port->queue[q].peak);
    }
    for (int p = 0; p < N_PRIO; p++)
        counter_set(&port->late_peak[p], 0);
}

void
dp_pool_peaks_restart(struct dp *dp)
{
    for (int i = 0; i < DP_MAX_POOLS; i++)
        counter_set(&dp->buf[i].shared_peak, dp->buf[i].shared_used);
    counter_set(&dp->hdrm.peak, dp->hdrm.used);
}

void
dp_port_pauses_restart(struct dp_port *port)
{
    struct pfc_counters *n = &port->pfc.n;

    for (int p = 0; p < N_PRIO; p++) {
        counter_set(&n->rx_longest_ns[p], 0);
        counter_set(&n->rx_longest_at_ns[p], 0);
        counter_set(&n->rx_last_ns[p], 0);
        counter_set(&n->rx_last_at_ns[p], 0);
        counter_set(&n->tx_longest_ns[p], 0);
        counter_set(&n->tx_longest_at_ns[p], 0);
        counter_set(&n->tx_last_ns[p], 0);
        counter_set(&n->tx_last_at_ns[p], 0);
    }
}
