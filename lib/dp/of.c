/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenFlow in the datapath: its state, the changes of its tables, and what it
 * knows of ports.  See of.h for the threads.
 */
#include "dp/of_priv.h"

#include <stdlib.h>
#include <string.h>

struct dp_of *
dp_of_create(uint64_t seed)
{
    struct dp_of *of = calloc(1, sizeof(*of));

    if (!of)
        return NULL;
    of->tables = flow_tables_create(seed);
    of->changes = ring_create(DP_OF_CHANGES, sizeof(struct of_posted));
    of->ins = of_ring_create(DP_OF_IN_BYTES);
    of->outs = of_ring_create(DP_OF_OUT_BYTES);
    if (!of->tables || !of->changes || !of->ins || !of->outs) {
        dp_of_destroy(of);
        return NULL;
    }
    return of;
}

void
dp_of_destroy(struct dp_of *of)
{
    if (!of)
        return;
    of_ring_destroy(of->outs);
    of_ring_destroy(of->ins);
    ring_destroy(of->changes);
    flow_tables_destroy(of->tables);
    free(of);
}

struct flow_tables *
dp_flow_tables(struct dp *dp)
{
    return dp->of->tables;
}

const struct dp_of_counters *
dp_of_counters(const struct dp *dp)
{
    return &dp->of->n;
}

/* --- changes --------------------------------------------------------------
 */

uint64_t
dp_change_post(struct dp *dp, struct flow_change *change, bool atomic)
{
    struct of_posted p = {change, atomic};

    if (!ring_put(dp->of->changes, &p))
        return 0;
    return ++dp->of->n_posted;
}

uint64_t
dp_changes_done(const struct dp *dp)
{
    return __atomic_load_n(&dp->of->n_done, __ATOMIC_ACQUIRE);
}

static void
run_changes(struct dp *dp)
{
    struct dp_of *of = dp->of;
    bool done;

    for (int i = 0; i < DP_OF_CHANGES; i++) {
        if (!of->running.change) {
            if (!ring_get(of->changes, &of->running))
                break;
            if (of->running.atomic)
                flow_change_hide(of->running.change);
        }
        done = flow_change_run(of->tables, of->running.change, DP_OF_OPS);
        if (!done) { /* frames first, then more of it */
            dp->more = true;
            break;
        }
        of->running.change = NULL;
        __atomic_store_n(&of->n_done, of->n_done + 1, __ATOMIC_RELEASE);
        of->news = true;
    }
    dp->is_normal = flow_all_normal(of->tables);
    dp->counts_normal = flow_counts_normal(of->tables);
}

/* Before frames are received: what was posted before this turn is seen by all
 * frames of it. */
void
dp_of_turn(struct dp *dp)
{
    struct dp_of *of = dp->of;

    if (dp_unlikely(of->running.change || !ring_empty(of->changes)))
        run_changes(dp);
    if (dp_likely(dp->plan != NULL))
        of_packet_outs(dp);
}

bool
dp_of_news(struct dp *dp)
{
    bool news = dp->of->news;

    dp->of->news = false;
    return news;
}

/* --- ports ----------------------------------------------------------------
 */

static uint32_t
number_at(const struct dp_of *of, uint32_t number)
{
    uint32_t i = number * UINT32_C(0x9e3779b1) >> 22;

    while (of->number[i].number && of->number[i].number != number)
        i = (i + 1) % DP_OF_NUMBERS;
    return i;
}

/* The more copies a frame is made into, the more buffers it takes that come
 * after an XOFF: buffers count as low earlier. */
static void
set_low(struct dp *dp)
{
    uint64_t planned = dp->plan->low_buffers;
    uint64_t low = planned * (1 + (uint64_t) dp->of->copies);
    uint64_t most = pkt_pool_n_buffers(dp->pool) / 4;

    if (low > most)
        low = most > planned ? most : planned;
    for (int i = 0; i < DP_MAX_POOLS; i++)
        dp->buf[i].low_buffers = (uint32_t) low;
}

void
of_note_copies(struct dp *dp, uint32_t n)
{
    if (n <= dp->of->copies)
        return;
    dp->of->copies = n;
    set_low(dp);
}

/* Ports came or went. */
void
dp_of_adopt(struct dp *dp)
{
    struct dp_of *of = dp->of;

    memset(of->number, 0, sizeof(of->number));
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        struct dp_port *port = dp->port[i];
        uint32_t number = port ? port->conf->of_port : 0;

        if (number)
            of->number[number_at(of, number)] =
                (struct of_number){number, (uint16_t) i};
    }
    set_low(dp);
}

struct dp_port *
of_port(const struct dp *dp, uint32_t number)
{
    const struct of_number *n;

    if (!number)
        return NULL;
    n = &dp->of->number[number_at(dp->of, number)];
    return n->number ? dp->port[n->slot] : NULL;
}

void
dp_of_set_port(struct dp *dp, uint16_t slot, uint32_t config, bool link_up)
{
    struct dp_port *port = slot < DP_MAX_PORTS ? dp->port[slot] : NULL;

    if (!port)
        return;
    port->of_config = config;
    port->of_link_down = !link_up;
    port->no_recv = (config & (OFPPC_PORT_DOWN | OFPPC_NO_RECV)) != 0;
    port->no_send = (config & (OFPPC_PORT_DOWN | OFPPC_NO_FWD)) != 0;
    dp_port_set_longest(port);
}

void
dp_of_set_options(struct dp *dp, const struct dp_of_options *options)
{
    dp->of->options = *options;
}

void
dp_of_refuse(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        dp_forgo(b, b->pkt[i]);
        dp_drop(dp, in, DP_DROP_PORT_CONFIG, b->pkt[i]);
    }
    b->n = 0;
}
