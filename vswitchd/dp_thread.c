/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread of one datapath: see dp_thread.h.
 *
 * An idle switch sleeps: nothing here wakes up by itself.  A busy one hardly
 * waits at all: a deadline that is nearer than a system call is spun for, and
 * work that was done lets it look for more for SPIN_SHARE times as long, up to
 * SPIN_MAX_NS, before it sleeps.  So it never looks in vain for more than that
 * share of its work, and frames that come at a fifth of what it can carry, or
 * in bursts, find it awake.
 *
 * A real-time thread (--fifo) that has been running for RUN_NS sleeps for
 * REST_NS.  The kernel leaves 5 % of a processor to everyone else, and takes
 * them from who does not give them: 50 ms of each second at once, which no
 * receive ring holds.  In small pieces they are a burst like any other.
 */
#include "dp_thread.h"

#include "base/clock.h"
#include "dp/of.h"
#include "base/counter.h"
#include "sched.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SPIN_MAX_NS   UINT64_C(200000) /* most to look for work in vain */
#define SPIN_SHARE    4                /* of the time that work took */
#define CROWD_NS      (5 * NS_PER_MS)  /* how often it looks for others */
#define CROWD_SIZE    2 /* put aside so often in that time: there are others */
#define SHORT_WAIT_NS UINT64_C(10000)   /* waits that a lie may have ended */
#define NEAR_NS       UINT64_C(3000)    /* deadlines that near are spun for */
#define RUN_NS        UINT64_C(900000)  /* a real-time thread at a stretch */
#define REST_NS       60000             /* then: more than 5 % of both */
#define STARVED_NS    UINT64_C(100000)  /* all frame buffers in use: retry */
#define RELEASE_NS    (200 * NS_PER_MS) /* letting go of pauses at the end */
#define MAX_ERRORS    16 /* POLLERRs in a row until a descriptor is muted */

struct dp_thread {
    struct dp *dp;    /* what is run; borrowed */
    pthread_t thread; /* the thread itself */
    int wake_fd;      /* eventfd: control -> thread */
    int event_fd;     /* eventfd: thread -> control */
    char name[16];    /* as shown by ps */

    struct dp_poll *next;     /* control's newest; release pairs with the
                                 thread's acquire in adopt() */
    struct dp_poll *last;     /* control only: what was set last, freed when
                                 the next one is set or at the end */
    uint64_t poll_generation; /* thread's; release pairs with control's
                                 acquire: older descriptors are not used */
    bool stop;                /* control's; release/acquire */
    long turn_ns;             /* for tests: what a turn takes at least */
    bool signalled;           /* event_fd was written and not yet cleared;
                                 exchange on both sides */
    counter_t n_muted;        /* descriptors left out for errors */
    counter_t n_wakeups;      /* returns from waiting */

    /* The thread's own from here on. */
    struct dp_poll *adopted;                 /* what pfd was made of */
    uint32_t n;                              /* ports in pfd */
    struct pollfd pfd[1 + 2 * DP_MAX_PORTS]; /* wake_fd; the ports; those that
                                                wait for room to send */
    int tx_fd[DP_MAX_PORTS];                 /* by slot; -1: none */
    uint16_t errors[1 + DP_MAX_PORTS];       /* POLLERRs in a row, as pfd */
    uint64_t spin_ns;                        /* how long it may spin yet */
    uint64_t crowd_ns;                       /* when to look for others */
    long n_put_aside;                        /* how often, when it last did */
    bool is_crowded;                         /* there were others */
    bool real_time;                          /* it rests, see above */
    uint64_t ran_ns;                         /* since it last did */
    bool out_lies;                           /* POLLOUT, yet nothing was taken:
                                                wait for dp's timer */
};

static void
signal_control(struct dp_thread *t)
{
    uint64_t one = 1;

    if (!__atomic_exchange_n(&t->signalled, true, __ATOMIC_ACQ_REL) &&
        write(t->event_fd, &one, sizeof(one)) < 0)
        assert(errno == EAGAIN); /* counter full: it is readable already */
}

/* Takes over what control wants waited for. */
static void
adopt(struct dp_thread *t)
{
    struct dp_poll *p = __atomic_load_n(&t->next, __ATOMIC_ACQUIRE);

    if (p == t->adopted)
        return;
    t->adopted = p;
    t->n = p->n;
    memset(t->tx_fd, -1, sizeof(t->tx_fd));
    memset(t->errors, 0, sizeof(t->errors));
    counter_set(&t->n_muted, 0);
    for (uint32_t i = 0; i < p->n; i++) {
        t->pfd[1 + i] = (struct pollfd){p->port[i].fd, POLLIN, 0};
        t->tx_fd[p->port[i].slot] = p->port[i].tx_fd;
    }
    __atomic_store_n(&t->poll_generation, p->generation, __ATOMIC_RELEASE);
}

/* A descriptor reports an error.  A socket's is taken out of it by asking; one
 * that stays (or a TAP whose interface was deleted) would make us spin. */
static void
handle_error(struct dp_thread *t, uint32_t i)
{
    int error;
    socklen_t size = sizeof(error);
    bool taken =
        !(t->pfd[i].revents & POLLNVAL) &&
        !getsockopt(t->pfd[i].fd, SOL_SOCKET, SO_ERROR, &error, &size);

    if (!taken || ++t->errors[i] >= MAX_ERRORS) {
        t->pfd[i].fd = -1;
        counter_add(&t->n_muted, 1);
    }
    signal_control(t);
}

/* Looks at what a wait returned.  True when it was for nothing but room to
 * send. */
static bool
after_wait(struct dp_thread *t, uint32_t n_out)
{
    bool only_out = n_out > 0;
    uint64_t n;

    if (t->pfd[0].revents & POLLIN) {
        if (read(t->wake_fd, &n, sizeof(n)) < 0)
            assert(errno == EAGAIN);
        only_out = false;
    }
    for (uint32_t i = 1; i <= t->n; i++) {
        short got = t->pfd[i].revents;

        if (!got)
            continue;
        only_out = false;
        if (got & (POLLERR | POLLHUP | POLLNVAL))
            handle_error(t, i);
        else
            t->errors[i] = 0;
    }
    return only_out;
}

/* Appends the ports whose kernel queue was full; how many. */
static uint32_t
add_blocked(struct dp_thread *t, uint32_t *n_blocked)
{
    uint16_t slots[DP_MAX_PORTS];
    uint32_t n_out = 0;

    *n_blocked = dp_blocked_ports(t->dp, slots, DP_MAX_PORTS);
    if (!*n_blocked)
        t->out_lies = false;
    for (uint32_t i = 0; !t->out_lies && i < *n_blocked; i++)
        if (t->tx_fd[slots[i]] >= 0)
            t->pfd[1 + t->n + n_out++] =
                (struct pollfd){t->tx_fd[slots[i]], POLLOUT, 0};
    return n_out;
}

/* What is slept for want of work counts as rest, in proportion.  A wait that
 * ends at once was none. */
static void
note_wait(struct dp_thread *t, uint64_t waited_ns)
{
    uint64_t worth = waited_ns * (RUN_NS / REST_NS);

    if (waited_ns < SHORT_WAIT_NS)
        t->ran_ns += waited_ns;
    else
        t->ran_ns -= t->ran_ns < worth ? t->ran_ns : worth;
}

static void
wait_for_work(struct dp_thread *t, uint64_t now, uint64_t deadline)
{
    uint32_t n_blocked, n_out = add_blocked(t, &n_blocked);
    uint32_t n = 1 + t->n + n_out;
    struct timespec ts;
    bool only_out = false;
    uint64_t left, waited;

    if (!pkt_pool_n_free(dp_pool(t->dp))) {
        /* Rings that cannot be read would end every wait at once. */
        n = 1;
        for (uint32_t i = 1; i <= t->n + n_out; i++)
            t->pfd[i].revents = 0;
        if (deadline > now + STARVED_NS)
            deadline = now + STARVED_NS;
    }
    left = deadline - now;
    ts = (struct timespec){(time_t) (left / NS_PER_S),
                           (long) (left % NS_PER_S)};
    if (ppoll(t->pfd, n, deadline == CLOCK_NEVER ? NULL : &ts, NULL) > 0)
        only_out = after_wait(t, n_out);
    counter_add(&t->n_wakeups, 1);
    /* A kernel that says "there is room" at once and then takes nothing (a
     * device queue, not the socket, is full) must not make us turn in circles:
     * the datapath tries again by its own timer. */
    waited = clock_ns() - now;
    if (only_out && waited < SHORT_WAIT_NS)
        t->out_lies = true;
    note_wait(t, waited);
}

/* A real-time thread that is never short of work leaves a little of its
 * processor to others of its own accord. */
static void
rest(struct dp_thread *t)
{
    if (!t->real_time || t->ran_ns < RUN_NS)
        return;
    nanosleep(&(struct timespec){0, REST_NS}, NULL);
    t->ran_ns = 0;
}

/* Whether others want this processor: then who looks in vain is put aside for
 * a whole slice at the next occasion, and takes from them what they need to
 * make work for us; who sleeps is let in when a frame comes.  With real-time
 * priority they cannot be seen. */
static bool
is_crowded(struct dp_thread *t, uint64_t now)
{
    struct rusage use;

    if (now < t->crowd_ns || getrusage(RUSAGE_THREAD, &use))
        return t->is_crowded;
    /* After a time asleep, what was before says nothing. */
    t->is_crowded = now < t->crowd_ns + CROWD_NS &&
                    use.ru_nivcsw - t->n_put_aside >= CROWD_SIZE;
    t->n_put_aside = use.ru_nivcsw;
    t->crowd_ns = now + CROWD_NS;
    return t->is_crowded;
}

/* A turn ended, with or without work: may it look for more at once? */
static bool
may_spin(struct dp_thread *t, uint64_t now, uint64_t spent_ns, bool worked)
{
    if (worked)
        t->spin_ns += SPIN_SHARE * spent_ns;
    else
        t->spin_ns -= t->spin_ns < spent_ns ? t->spin_ns : spent_ns;
    if (t->spin_ns > SPIN_MAX_NS)
        t->spin_ns = SPIN_MAX_NS;
    return t->spin_ns > 0 && !t->real_time && !is_crowded(t, now);
}

static void
release_pauses(struct dp_thread *t)
{
    uint64_t end = clock_ns() + RELEASE_NS;
    struct timespec pause = {0, 1000000};

    while (!dp_release_pauses(t->dp, clock_ns()) && clock_ns() < end)
        nanosleep(&pause, NULL);
}

static void *
thread_main(void *arg)
{
    struct dp_thread *t = arg;

    prctl(PR_SET_NAME, t->name);
    prctl(PR_SET_TIMERSLACK, 1);
    while (!__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE)) {
        uint64_t began, now, next;

        rest(t);
        adopt(t);
        began = clock_ns();
        next = dp_run(t->dp, began);
        if (t->turn_ns)
            nanosleep(&(struct timespec){0, t->turn_ns}, NULL);
        if (dp_event_pending(t->dp) | dp_of_news(t->dp))
            signal_control(t);
        now = clock_ns();
        t->ran_ns += now - began;
        if (may_spin(t, now, now - began, dp_n_read(t->dp) > 0) ||
            next <= began || next < now + NEAR_NS)
            continue;
        wait_for_work(t, now, next);
    }
    release_pauses(t);
    if (dp_event_pending(t->dp))
        signal_control(t);
    return NULL;
}

static void
free_thread(struct dp_thread *t)
{
    if (t->wake_fd >= 0)
        close(t->wake_fd);
    if (t->event_fd >= 0)
        close(t->event_fd);
    free(t->last);
    free(t);
}

/* For tests of what happens when the process cannot keep up, on a machine of
 * any speed: it is made slow.  0: it is not. */
static long
slow_turn_ns(void)
{
    const char *text = getenv("SLUICE_TEST_TURN_US");
    long us = text ? strtol(text, NULL, 10) : 0;

    return us > 0 && us < 100000 ? us * 1000 : 0;
}

int
dp_thread_start(struct dp *dp, const char *name,
                const struct sched_rules *rules, struct dp_thread **out,
                struct err *err)
{
    struct dp_thread *t = calloc(1, sizeof(*t));
    sigset_t all, old;
    int error;

    if (!t)
        return err_sys(err, ENOMEM, "bridge %s: no memory for a thread", name);
    t->dp = dp;
    t->turn_ns = slow_turn_ns();
    t->real_time = sched_is_fifo(rules, name);
    snprintf(t->name, sizeof(t->name), "dp-%.12s", name);
    t->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    t->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (t->wake_fd < 0 || t->event_fd < 0) {
        error = errno;
        free_thread(t);
        return err_sys(err, error, "bridge %s: eventfd", name);
    }
    t->pfd[0] = (struct pollfd){t->wake_fd, POLLIN, 0};

    /* Signals are the control thread's. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    error = pthread_create(&t->thread, NULL, thread_main, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error) {
        free_thread(t);
        return err_sys(err, error, "bridge %s: cannot start its thread", name);
    }
    error = sched_apply(rules, name, t->thread, err);
    if (error) {
        dp_thread_stop(t);
        dp_thread_join(t);
        return error;
    }
    *out = t;
    return 0;
}

void
dp_thread_set_poll(struct dp_thread *t, struct dp_poll *p)
{
    struct dp_poll *old = t->last;

    t->last = p;
    __atomic_store_n(&t->next, p, __ATOMIC_RELEASE);
    dp_thread_kick(t);
    if (!old)
        return;
    /* The thread reads it in adopt() only; it is short of nothing but CPU, so
     * this wait ends. */
    while (dp_thread_poll_generation(t) != p->generation)
        nanosleep(&(struct timespec){0, 20000}, NULL);
    free(old);
}

uint64_t
dp_thread_poll_generation(const struct dp_thread *t)
{
    return __atomic_load_n(&t->poll_generation, __ATOMIC_ACQUIRE);
}

void
dp_thread_kick(struct dp_thread *t)
{
    uint64_t one = 1;

    if (write(t->wake_fd, &one, sizeof(one)) < 0)
        assert(errno == EAGAIN); /* counter full: it wakes up anyway */
}

int
dp_thread_event_fd(const struct dp_thread *t)
{
    return t->event_fd;
}

void
dp_thread_clear(struct dp_thread *t)
{
    uint64_t n;

    if (read(t->event_fd, &n, sizeof(n)) < 0)
        assert(errno == EAGAIN);
    (void) __atomic_exchange_n(&t->signalled, false, __ATOMIC_ACQ_REL);
}

void
dp_thread_call_again(struct dp_thread *t)
{
    signal_control(t);
}

uint32_t
dp_thread_n_muted(const struct dp_thread *t)
{
    return (uint32_t) counter_get(&t->n_muted);
}

uint64_t
dp_thread_n_wakeups(const struct dp_thread *t)
{
    return counter_get(&t->n_wakeups);
}

void
dp_thread_stop(struct dp_thread *t)
{
    __atomic_store_n(&t->stop, true, __ATOMIC_RELEASE);
    dp_thread_kick(t);
}

void
dp_thread_join(struct dp_thread *t)
{
    pthread_join(t->thread, NULL);
    free_thread(t);
}
