/* SPDX-License-Identifier: Apache-2.0
 *
 * What the doctor says of the host behind a tap port: whether who sends is
 * held back while a class is paused, and what the host itself loses, which no
 * switch can prevent.  Control thread.
 */
#include "doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 1024
#define WORD           "RcvbufErrors"

/* /proc/net/snmp: a line of names, then one of numbers. */
static uint64_t
read_snmp4(FILE *f)
{
    char names[LINE_MAX_BYTES], numbers[LINE_MAX_BYTES];
    char *name, *number, *at_name, *at_number;

    while (fgets(names, sizeof(names), f) &&
           fgets(numbers, sizeof(numbers), f)) {
        if (strncmp(names, "Udp:", 4))
            continue;
        name = strtok_r(names, " \n", &at_name);
        number = strtok_r(numbers, " \n", &at_number);
        while (name && number && strcmp(name, WORD)) {
            name = strtok_r(NULL, " \n", &at_name);
            number = strtok_r(NULL, " \n", &at_number);
        }
        return name && number ? strtoull(number, NULL, 10) : 0;
    }
    return 0;
}

/* /proc/net/snmp6: a name and a number a line. */
static uint64_t
read_snmp6(FILE *f)
{
    char line[LINE_MAX_BYTES];

    while (fgets(line, sizeof(line), f))
        if (!strncmp(line, "Udp6" WORD, 4 + strlen(WORD)))
            return strtoull(line + 4 + strlen(WORD), NULL, 10);
    return 0;
}

static uint64_t
read_with(const char *path, uint64_t (*reader)(FILE *))
{
    FILE *f = fopen(path, "re");
    uint64_t n = f ? reader(f) : 0;

    if (f)
        fclose(f);
    return n;
}

uint64_t
doctor_socket_drops(void)
{
    return read_with("/proc/thread-self/net/snmp", read_snmp4) +
           read_with("/proc/thread-self/net/snmp6", read_snmp6);
}

/* Until the hold is in force frames arrive as they do during a stall; after a
 * while they are left in the queue of the tap, which has to hold them. */
static void
look_at_hold_time(struct diagnosis *x, const struct netdev_stats *nd)
{
    uint64_t rate = conf_port_rate(x->v->cp, &x->v->port->live);
    uint64_t queued =
        (uint64_t) ((unsigned __int128) rate *
                    (x->stall_ns + nd->hold_worst_ns) / 8000000000u);

    if (x->ring_bytes >= queued)
        return;
    doctor_find(x, UNSURE, "backpressure", queued - x->ring_bytes, NULL,
                "once it took %" PRIu64 " us to hold the senders back: more "
                "than the queue of the tap allows for",
                nd->hold_worst_ns / 1000);
}

static void
look_at_hold(struct diagnosis *x)
{
    const struct port *p = x->v->port;
    struct netdev_stats nd;
    char command[128];

    snprintf(command, sizeof(command), "sluicectl port set %s backpressure on",
             x->v->cp->name);
    if (!x->v->cp->backpressure) {
        doctor_find(x, UNSURE, "backpressure", 0,
                    x->v->cp->rate_bps ? command : NULL,
                    "the host behind a tap does not obey PFC: back-pressure, "
                    "which needs a rate, holds back who sends");
        return;
    }
    if (!p->netdev)
        return;
    port_stats(p, &nd);
    if (!p->hold.rate_bps || nd.hold_lost)
        doctor_find(x, NO, "backpressure", 0, command,
                    "the queueing discipline that holds senders back is not "
                    "on the tap%s",
                    nd.hold_lost ? " any more: turn back-pressure off and on"
                                 : "");
    if (nd.hold_failed)
        doctor_find(x, UNSURE, "backpressure", 0, NULL,
                    "the kernel refused %" PRIu64 " requests to hold senders "
                    "back, or to let them go",
                    nd.hold_failed);
    look_at_hold_time(x, &nd);
}

static void
look_at_sockets(struct diagnosis *x)
{
    uint64_t now = doctor_socket_drops();

    if (!x->v->port->hold.rate_bps || now <= x->v->port->socket_drops)
        return;
    doctor_find(x, UNSURE, "sockets", 0, NULL,
                "%" PRIu64 " datagrams arrived at the host and found their "
                "socket full, of whatever class and interface: nothing holds "
                "the network back for a receiver that does not read; give it "
                "a larger SO_RCVBUF",
                now - x->v->port->socket_drops);
}

void
doctor_host(struct diagnosis *x)
{
    if (x->v->port->cls != &netdev_tap)
        return;
    look_at_hold(x);
    look_at_sockets(x);
}
