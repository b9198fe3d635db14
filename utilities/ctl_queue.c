/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl queue: egress queues, their shares, rates and limits.
 */
#include "ctl.h"

#include "conf/conf.h"

#include <inttypes.h>
#include <stdio.h>

static const struct ctl_key keys[] = {
    {.name = "queue",
     .kind = CTL_QUEUE_MODE,
     .path = "queues",
     .bare = true,
     .doc = "share or strict, like 0:30% 1:70% 7:strict; shares sum to 100"},
    {.name = "max-rate",
     .kind = CTL_QUEUE_QTY,
     .path = "queues/max_rate_bps",
     .unit = RPC_U_BPS,
     .max = CONF_MAX_RATE,
     .doc = "most that a queue may send, like 0:10M; 0: no limit"},
    {.name = "limit",
     .kind = CTL_QUEUE_QTY,
     .path = "queues/limit_bytes",
     .unit = RPC_U_BYTES,
     .max = CONF_MAX_MEMORY,
     .doc = "drop above this when lossy, like 0:128K"},
    {.name = "wred-min",
     .kind = CTL_QUEUE_QTY,
     .path = "queues/wred_min_bytes",
     .unit = RPC_U_BYTES,
     .max = CONF_MAX_MEMORY,
     .doc = "early detection begins above, like 3:64K"},
    {.name = "wred-max",
     .kind = CTL_QUEUE_QTY,
     .path = "queues/wred_max_bytes",
     .unit = RPC_U_BYTES,
     .max = CONF_MAX_MEMORY,
     .doc = "and concerns every frame above, like 3:256K; 0: off"},
    {.name = "wred-probability",
     .kind = CTL_QUEUE_QTY,
     .path = "queues/wred_percent",
     .max = 100,
     .doc = "per cent at wred-max, like 3:5"},
    {.name = "ecn",
     .kind = CTL_QUEUE_SWITCH,
     .path = "queues/ecn",
     .doc = "mark what is ECN-capable in place of dropping it, like 3:on"},
    {.name = "alpha",
     .kind = CTL_QUEUE_ALPHA,
     .path = "queues/alpha",
     .doc = "limit of 2^alpha x what is free in its place, like 0:-1 or "
            "0:none"},
    {.name = "profile",
     .kind = CTL_QUEUE_TEXT,
     .path = "queues/profile",
     .doc = "profile of the bridge with the limit, like 0:lossy or 0:none"},
    {.name = NULL}};

/* "64K-256K 5%", and what came of it. */
static void
add_wred(struct ctl_table *t, struct json_object *q)
{
    char low[32], high[32];
    int64_t max = ctl_int(q, "wred_max_bytes");

    if (max)
        ctl_table_printf(t, "%s-%s %" PRId64 "%%%s",
                         rpc_format_quantity(ctl_int(q, "wred_min_bytes"),
                                             RPC_U_BYTES, low, sizeof(low)),
                         rpc_format_quantity(max, RPC_U_BYTES, high,
                                             sizeof(high)),
                         ctl_int(q, "wred_percent"),
                         ctl_bool(q, "ecn") ? " ecn" : "");
    else
        ctl_table_text(t, "off");
    ctl_table_qty(t, ctl_int(q, "ecn_marked"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(q, "wred_drops"), RPC_U_NONE);
}

static void
add_row(struct ctl_table *t, struct json_object *q)
{
    char text[32];

    ctl_table_text(t, ctl_text(q, "port"));
    ctl_table_qty(t, ctl_int(q, "queue"), RPC_U_NONE);
    ctl_table_text(t, ctl_join(ctl_get(q, "priorities"), text, sizeof(text)));
    ctl_table_text(t, ctl_text(q, "mode"));
    ctl_table_qty(t, ctl_int(q, "weight"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(q, "max_rate_bps"), RPC_U_BPS);
    ctl_table_qty(t, ctl_int(q, "limit_bytes"), RPC_U_BYTES);
    ctl_table_text(t, ctl_bool(q, "lossless") ? "yes" : "no");
    ctl_table_text(t, ctl_bool(q, "paused") ? "yes" : "no");
    ctl_table_qty(t, ctl_int(q, "frames"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(q, "bytes"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(q, "peak_bytes"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(q, "tx_frames"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(q, "tx_bytes"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(q, "drops"), RPC_U_NONE);
    add_wred(t, q);
    ctl_table_qty(t, ctl_int(q, "drop_bytes"), RPC_U_NONE);
}

/* The first columns are those of SONiC's `show queue counters`. */
static void
add_row_for_people(struct ctl_table *t, struct json_object *q)
{
    char text[32];

    ctl_table_text(t, ctl_text(q, "port"));
    ctl_table_printf(t, "UC%" PRId64, ctl_int(q, "queue"));
    ctl_table_qty(t, ctl_int(q, "tx_frames"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(q, "tx_bytes"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(q, "drops"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(q, "drop_bytes"), RPC_U_NONE);
    ctl_table_text(t, ctl_join(ctl_get(q, "priorities"), text, sizeof(text)));
    ctl_table_text(t, ctl_text(q, "mode"));
    ctl_table_qty(t, ctl_int(q, "weight"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(q, "max_rate_bps"), RPC_U_BPS);
    ctl_table_qty(t, ctl_int(q, "limit_bytes"), RPC_U_BYTES);
    ctl_table_text(t, ctl_bool(q, "lossless") ? "yes" : "no");
    ctl_table_text(t, ctl_bool(q, "paused") ? "yes" : "no");
    ctl_table_qty(t, ctl_int(q, "frames"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(q, "bytes"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(q, "peak_bytes"), RPC_U_BYTES);
    add_wred(t, q);
}

static void
show_queues(struct ctl *ctl, struct json_object *result)
{
    bool tsv = ctl->format == CTL_TSV;
    struct ctl_table *t = ctl_table_create(
        ctl,
        tsv ? "Port|>Queue|Prios|Mode|>Weight|>Max rate|>Limit|Lossless|"
              "Paused|>Frames|>Bytes|>Peak|>Tx frames|>Tx bytes|>Drops|"
              "WRED|>Marked|>WRED drops|>Drop bytes"
            : "Port|TxQ|>Counter/pkts|>Counter/bytes|>Drop/pkts|>Drop/bytes|"
              "Prios|Mode|>Weight|>Max rate|>Limit|Lossless|Paused|>Queued|"
              ">Bytes|>Peak|WRED|>Marked|>WRED drops");

    for (size_t i = 0; i < ctl_len(result); i++) {
        if (tsv)
            add_row(t, ctl_at(result, i));
        else
            add_row_for_people(t, ctl_at(result, i));
    }
    ctl_table_print(t, "no ports");
}

static enum ctl_status
run_set(struct ctl *ctl, struct json_object *params)
{
    if (!ctl_get(params, "queues"))
        return ctl_usage_error(ctl, "queue set: nothing to set");
    return ctl_run_method(ctl, params);
}

static const struct ctl_verb verbs[] = {
    {.name = "show",
     .args = {{"PORT", "port", true}},
     .options = CTL_O_RAW,
     .doc = "Queues: what was sent and dropped, shares, what waits; --raw as "
            "if it had never been cleared.",
     .method = "queue.show",
     .show = show_queues},
    {.name = "clear",
     .args = {{"PORT", "port", true}},
     .doc = "Begins the counters of queues anew, for every client.",
     .method = "queue.clear"},
    {.name = "set",
     .args = {{"PORT", "port", false}},
     .keys = keys,
     .doc = "Shares, strict queues, maximum rates and limits.",
     .method = "queue.set",
     .run = run_set},
    {.name = NULL}};

const struct ctl_noun ctl_queue = {.name = "queue",
                                   .doc =
                                       "Egress queues: scheduling and limits.",
                                   .verbs = verbs};
