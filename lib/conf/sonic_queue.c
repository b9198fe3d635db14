/* SPDX-License-Identifier: Apache-2.0
 *
 * SONiC's egress queues (QUEUE, SCHEDULER, WRED_PROFILE): see sonic.h.
 * Control thread.
 *
 * Weights of SONiC are relative; here they are per cent.  Frames have no
 * colours here: the thresholds of green ones hold for all.
 */
#include "conf/sonic_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_WEIGHT 1000000

static void
put_number(struct json_object *o, const char *member, int64_t v)
{
    json_object_object_add(o, member, json_object_new_int64(v));
}

/* --- SCHEDULER --------------------------------------------------------------
 */

/* Octets per second, by SONiC's default, or packets. */
static int
take_rate(struct sonic *s, const char *path, struct json_object *row,
          struct json_object *v, struct json_object *queue)
{
    struct json_object *meter = NULL;
    int64_t pir = 0;
    int rc = sonic_number(s, path, "pir", v, 0, (int64_t) (CONF_MAX_RATE / 8),
                          &pir);

    if (rc)
        return rc;
    json_object_object_get_ex(row, "meter_type", &meter);
    if (!strcmp(sonic_text(meter), "packets"))
        sonic_note(s, path, "pir", "rates in packets do not exist here");
    else if (pir > 0 && pir * 8 < (int64_t) CONF_MIN_RATE)
        sonic_note(s, path, "pir", "is below the lowest rate, %d bit/s",
                   (int) CONF_MIN_RATE);
    else
        put_number(queue, "max_rate_bps", pir * 8);
    return 0;
}

static int
take_type(struct sonic *s, const char *path, struct json_object *v,
          struct sonic_port *p, int q)
{
    const char *text = sonic_text(v);
    char at[CONF_PATH_SIZE];

    if (!strcmp(text, "STRICT")) {
        p->strict = (uint8_t) (p->strict | 1u << q);
    } else if (!strcmp(text, "DWRR") || !strcmp(text, "WRR")) {
        p->ets = (uint8_t) (p->ets | 1u << q);
        if (text[0] == 'W')
            sonic_note(s, path, "type", "octets are weighed, not packets");
    } else {
        conf_path_join(at, path, "type");
        return sonic_refuse(s, at, v, "is no type", "STRICT, DWRR, WRR");
    }
    return 0;
}

static int
take_scheduler(struct sonic *s, struct sonic_port *p, int q, const char *base,
               struct json_object *v)
{
    struct json_object *row, *queue = sonic_elem(p, "queues", q);
    char name[SONIC_NAME_SIZE], path[CONF_PATH_SIZE];
    int64_t weight = 1;
    int rc = sonic_ref(s, base, "scheduler", v, "SCHEDULER", name, &row);

    if (rc)
        return rc;
    conf_path_join(path, "/SCHEDULER", name);
    json_object_object_foreach (row, key, val) {
        if (rc)
            break;
        if (!strcmp(key, "type"))
            rc = take_type(s, path, val, p, q);
        else if (!strcmp(key, "weight"))
            rc = sonic_number(s, path, key, val, 0, MAX_WEIGHT, &weight);
        else if (!strcmp(key, "pir"))
            rc = take_rate(s, path, row, val, queue);
        else if (strcmp(key, "meter_type"))
            sonic_note(s, path, key, "has no counterpart");
    }
    if (!weight && p->ets >> q & 1)
        sonic_note(s, path, "weight", "0 is no weight: 1 is taken");
    p->weight[q] = weight ? (uint32_t) weight : 1;
    return rc;
}

/* --- WRED_PROFILE -----------------------------------------------------------
 */

static int
take_ecn(struct sonic *s, const char *path, struct json_object *v,
         struct json_object *queue)
{
    static const char *const modes[] = {"ecn_none",         "ecn_green",
                                        "ecn_yellow",       "ecn_red",
                                        "ecn_green_yellow", "ecn_green_red",
                                        "ecn_yellow_red",   "ecn_all"};
    const char *text = sonic_text(v);
    char at[CONF_PATH_SIZE];
    size_t i = 0;
    bool on;

    while (i < 8 && strcmp(text, modes[i]))
        i++;
    if (i == 8) {
        conf_path_join(at, path, "ecn");
        return sonic_refuse(s, at, v, "is no mode",
                            "ecn_none, ecn_all, or colours like ecn_green");
    }
    on = strstr(text, "green") || !strcmp(text, "ecn_all");
    json_object_object_add(queue, "ecn", json_object_new_boolean(on));
    if (i && i < 7)
        sonic_note(s, path, "ecn", "there are no colours: it is %s for all",
                   on ? "on" : "off");
    return 0;
}

/* Members of the one colour that counts. */
static int
take_green(struct sonic *s, const char *path, const char *key,
           struct json_object *v, struct json_object *queue)
{
    static const struct {
        const char *key, *ours;
        int64_t max;
    } greens[] = {
        {"green_min_threshold", "wred_min_bytes", (int64_t) CONF_MAX_MEMORY},
        {"green_max_threshold", "wred_max_bytes", (int64_t) CONF_MAX_MEMORY},
        {"green_drop_probability", "wred_percent", 100},
    };
    int64_t n = 0;
    int rc;

    for (int i = 0; i < 3; i++) {
        if (strcmp(key, greens[i].key))
            continue;
        rc = sonic_number(s, path, key, v, 0, greens[i].max, &n);
        if (!rc)
            put_number(queue, greens[i].ours, n);
        return rc;
    }
    if (!strncmp(key, "yellow_", 7) || !strncmp(key, "red_", 4) ||
        !strncmp(key, "wred_yellow", 11) || !strncmp(key, "wred_red", 8))
        sonic_note(s, path, key,
                   "there are no colours: %.32s is not taken, what green has "
                   "holds for all frames",
                   sonic_text(v));
    else if (strcmp(key, "wred_green_enable") || strcmp(sonic_text(v), "true"))
        sonic_note(s, path, key,
                   strcmp(key, "wred_green_enable")
                       ? "has no counterpart"
                       : "what cannot be marked is dropped on lossy queues "
                         "all the same");
    return 0;
}

static int
take_wred(struct sonic *s, struct sonic_port *p, int q, const char *base,
          struct json_object *v)
{
    struct json_object *row, *queue = sonic_elem(p, "queues", q);
    struct json_object *green = NULL, *ecn = NULL;
    char name[SONIC_NAME_SIZE], path[CONF_PATH_SIZE];
    int rc = sonic_ref(s, base, "wred_profile", v, "WRED_PROFILE", name, &row);

    if (rc)
        return rc;
    conf_path_join(path, "/WRED_PROFILE", name);
    json_object_object_foreach (row, key, val) {
        if (!rc)
            rc = strcmp(key, "ecn") ? take_green(s, path, key, val, queue)
                                    : take_ecn(s, path, val, queue);
    }
    json_object_object_get_ex(row, "wred_green_enable", &green);
    json_object_object_get_ex(queue, "ecn", &ecn);
    if (rc)
        return rc;
    if (!json_object_object_get_ex(row, "green_max_threshold", NULL)) {
        sonic_note(s, path, NULL,
                   "has no green thresholds: it neither drops nor marks");
        json_object_object_add(queue, "ecn", json_object_new_boolean(false));
    } else if (strcmp(sonic_text(green), "false") ||
               json_object_get_boolean(ecn)) {
        return 0;
    }
    json_object_object_del(queue, "wred_min_bytes");
    put_number(queue, "wred_max_bytes", 0);
    return 0;
}

/* --- QUEUE ------------------------------------------------------------------
 */

static int
take_queue(struct sonic *s, struct sonic_port *p, int q, const char *path,
           struct json_object *row)
{
    int rc = 0;

    json_object_object_foreach (row, key, v) {
        if (rc)
            break;
        if (!strcmp(key, "scheduler"))
            rc = take_scheduler(s, p, q, path, v);
        else if (!strcmp(key, "wred_profile"))
            rc = take_wred(s, p, q, path, v);
        else
            sonic_note(s, path, key, "has no counterpart");
    }
    return rc;
}

/* The queue of the set whose v is the largest. */
static int
largest(const uint64_t v[N_QUEUE], uint8_t queues)
{
    int most = __builtin_ctz(queues);

    for (int q = most + 1; q < N_QUEUE; q++)
        if ((queues >> q & 1) && v[q] > v[most])
            most = q;
    return most;
}

/* Per cent of all: the largest remainders get what rounding down leaves, and
 * none gets nothing. */
static void
to_percent(const uint32_t weight[N_QUEUE], uint8_t queues,
           uint64_t percent[N_QUEUE])
{
    uint64_t sum = 0, rest[N_QUEUE] = {0}, total = 0;
    int q;

    for (q = 0; q < N_QUEUE; q++)
        sum += queues >> q & 1 ? weight[q] : 0;
    for (q = 0; q < N_QUEUE; q++) {
        percent[q] = 0;
        if (!(queues >> q & 1))
            continue;
        percent[q] = UINT64_C(100) * weight[q] / sum;
        rest[q] = UINT64_C(100) * weight[q] % sum;
        if (!percent[q]) {
            percent[q] = 1;
            rest[q] = 0;
        }
        total += percent[q];
    }
    for (; queues && total > 100; total--)
        percent[largest(percent, queues)]--;
    for (; queues && total < 100; total++) {
        q = largest(rest, queues);
        percent[q]++;
        rest[q] = 0;
    }
}

/* Transmission selection of a port, when all its queues are known. */
static void
settle(struct sonic *s, struct sonic_port *p)
{
    uint64_t percent[N_QUEUE];
    bool scaled = false;
    char path[CONF_PATH_SIZE], list[80] = "";
    size_t n = 0;

    to_percent(p->weight, p->ets, percent);
    for (int q = 0; q < N_QUEUE; q++) {
        bool given = (p->ets | p->strict) >> q & 1;
        struct json_object *o;

        if (!given && !(p->ets && p->cp->queue[q].ets))
            continue;
        o = sonic_elem(p, "queues", q);
        if (p->ets >> q & 1) {
            json_object_object_add(o, "mode", json_object_new_string("ets"));
            put_number(o, "weight", (int64_t) percent[q]);
            scaled |= percent[q] != p->weight[q];
            n += (size_t) snprintf(list + n, sizeof(list) - n, "%s%" PRIu64,
                                   n ? ", " : "", percent[q]);
        } else {
            json_object_object_add(o, "mode",
                                   json_object_new_string("strict"));
        }
        if (!given) {
            conf_path_join(path, "/QUEUE", p->cp->name);
            sonic_note(s, path, NULL,
                       "queue %d of port %s has no scheduler: it becomes "
                       "strict",
                       q, p->cp->name);
        }
    }
    if (!scaled)
        return;
    conf_path_join(path, "/QUEUE", p->cp->name);
    sonic_note(s, path, NULL, "weights of port %s are made per cent: %s",
               p->cp->name, list);
}

int
sonic_queues(struct sonic *s)
{
    int rc = sonic_each(s, "QUEUE", true, take_queue);

    for (uint32_t i = 0; i < s->b->n_ports && !rc; i++)
        if (s->port[i].ets | s->port[i].strict)
            settle(s, &s->port[i]);
    return rc;
}
