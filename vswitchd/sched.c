/* SPDX-License-Identifier: Apache-2.0
 *
 * CPUs and priorities of threads: see sched.h.
 */
#include "sched.h"

#include "conf/conf.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct rule {
    char bridge[CONF_NAME_MAX + 1]; /* of which */
    bool has_cpus;                  /* cpus were given */
    cpu_set_t cpus;                 /* where it may run */
    int fifo;                       /* SCHED_FIFO priority; 0: SCHED_OTHER */
};

struct sched_rules {
    uint32_t n;                         /* rules */
    struct rule rule[CONF_MAX_BRIDGES]; /* one for each bridge at most */
};

static struct rule *
find(const struct sched_rules *rules, const char *bridge)
{
    for (uint32_t i = 0; rules && i < rules->n; i++)
        if (!strcmp(rules->rule[i].bridge, bridge))
            return (struct rule *) &rules->rule[i];
    return NULL;
}

/* The rule of the bridge that text begins with; *value is what it says. */
static struct rule *
begin(struct sched_rules **rules, const char *text, const char **value)
{
    const char *equals = strchr(text, '=');
    char name[CONF_NAME_MAX + 1];
    size_t n = equals ? (size_t) (equals - text) : 0;
    struct rule *r;

    if (n == 0 || n > CONF_NAME_MAX || !equals[1])
        return NULL;
    snprintf(name, sizeof(name), "%.*s", (int) n, text);
    *value = equals + 1;
    if (!*rules)
        *rules = calloc(1, sizeof(**rules));
    if (!*rules)
        return NULL;
    r = find(*rules, name);
    if (r || (*rules)->n == CONF_MAX_BRIDGES)
        return r;
    r = &(*rules)->rule[(*rules)->n++];
    strcpy(r->bridge, name);
    return r;
}

/* A number at *s, which moves behind it; false: there is none up to max. */
static bool
take_number(const char **s, long max, long *out)
{
    char *end;

    if (**s < '0' || **s > '9')
        return false;
    *out = strtol(*s, &end, 10);
    *s = end;
    return *out <= max;
}

static bool
take_cpus(const char *s, cpu_set_t *out)
{
    long first, last;

    CPU_ZERO(out);
    for (;; s++) {
        if (!take_number(&s, CPU_SETSIZE - 1, &first))
            return false;
        last = first;
        if (*s == '-') {
            s++;
            if (!take_number(&s, CPU_SETSIZE - 1, &last) || last < first)
                return false;
        }
        for (long cpu = first; cpu <= last; cpu++)
            CPU_SET((size_t) cpu, out);
        if (*s != ',')
            return !*s;
    }
}

int
sched_take_cpu(struct sched_rules **rules, const char *text, struct err *err)
{
    const char *value = "";
    struct rule *r = begin(rules, text, &value);
    cpu_set_t cpus, ours, both;

    if (!r || !take_cpus(value, &cpus))
        return err_set(err, EINVAL, "--cpu", text, "BRIDGE=CPU[,CPU-CPU]...",
                       "--cpu %s: allowed: BRIDGE=CPU[,CPU-CPU]..., like "
                       "br0=2,4-5",
                       text);
    if (!sched_getaffinity(0, sizeof(ours), &ours)) {
        CPU_AND(&both, &cpus, &ours);
        if (!CPU_EQUAL(&both, &cpus))
            return err_set(err, EINVAL, "--cpu", text,
                           "CPUs that this process may use",
                           "--cpu %s: not all of these are CPUs that this "
                           "process may use (see taskset -p)",
                           text);
    }
    r->cpus = cpus;
    r->has_cpus = true;
    return 0;
}

int
sched_take_fifo(struct sched_rules **rules, const char *text, struct err *err)
{
    int max = sched_get_priority_max(SCHED_FIFO);
    const char *value = "";
    struct rule *r = begin(rules, text, &value);
    long prio = 0;

    if (!r || !take_number(&value, max, &prio) || prio < 1 || *value)
        return err_set(err, EINVAL, "--fifo", text, "BRIDGE=1 to BRIDGE=99",
                       "--fifo %s: allowed: BRIDGE=PRIORITY, 1 to %d", text,
                       max);
    r->fifo = (int) prio;
    return 0;
}

void
sched_rules_destroy(struct sched_rules *rules)
{
    free(rules);
}

static int
refuse_fifo(int error, const struct rule *r, struct err *err)
{
    return err_set(err, error, "--fifo", r->bridge, NULL,
                   "--fifo %s=%d: not permitted (%s): it needs root, or "
                   "CAP_SYS_NICE, or LimitRTPRIO=, and a cgroup that has "
                   "real-time runtime",
                   r->bridge, r->fifo, strerror(error));
}

bool
sched_permit(const struct sched_rules *rules)
{
    struct rlimit lim;

    for (uint32_t i = 0; rules && i < rules->n; i++) {
        const struct rule *r = &rules->rule[i];

        if (!r->fifo || getrlimit(RLIMIT_RTPRIO, &lim) ||
            lim.rlim_cur >= (rlim_t) r->fifo)
            continue;
        lim.rlim_cur = (rlim_t) r->fifo;
        if (lim.rlim_max < lim.rlim_cur)
            lim.rlim_max = lim.rlim_cur;
        if (setrlimit(RLIMIT_RTPRIO, &lim))
            return false;
    }
    return true;
}

int
sched_check(const struct sched_rules *rules, struct err *err)
{
    static const struct sched_param other = {0};

    for (uint32_t i = 0; rules && i < rules->n; i++) {
        struct sched_param param = {.sched_priority = rules->rule[i].fifo};
        int error;

        if (!param.sched_priority)
            continue;
        error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
        if (error)
            return refuse_fifo(error, &rules->rule[i], err);
        pthread_setschedparam(pthread_self(), SCHED_OTHER, &other);
    }
    return 0;
}

bool
sched_is_fifo(const struct sched_rules *rules, const char *bridge)
{
    const struct rule *r = find(rules, bridge);

    return r && r->fifo > 0;
}

int
sched_apply(const struct sched_rules *rules, const char *bridge, pthread_t t,
            struct err *err)
{
    const struct rule *r = find(rules, bridge);
    struct sched_param param = {0};
    int error;

    if (!r)
        return 0;
    if (r->has_cpus) {
        error = pthread_setaffinity_np(t, sizeof(r->cpus), &r->cpus);
        if (error)
            return err_sys(err, error, "--cpu: the thread of bridge %s",
                           bridge);
    }
    if (!r->fifo)
        return 0;
    param.sched_priority = r->fifo;
    error = pthread_setschedparam(t, SCHED_FIFO, &param);
    return error ? refuse_fifo(error, r, err) : 0;
}
