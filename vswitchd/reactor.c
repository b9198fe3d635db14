/* SPDX-License-Identifier: Apache-2.0
 *
 * The control thread's loop: see reactor.h.
 */
#include "reactor.h"

#include "base/log.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define N_SIGNALS 3

struct reactor {
    struct event_base *base;         /* libevent's */
    struct event *signal[N_SIGNALS]; /* what ends it, and SIGHUP */
};

struct reactor_watch {
    struct event *event; /* libevent's */
    reactor_fn *fn;      /* what is called */
    void *arg;           /* with what */
};

static void
on_end(evutil_socket_t sig, short what, void *arg)
{
    (void) what;
    log_info("%s: ending", strsignal((int) sig));
    reactor_stop(arg);
}

static void
on_hup(evutil_socket_t sig, short what, void *arg)
{
    (void) sig;
    (void) what;
    (void) arg;
    log_info("SIGHUP: nothing to read again, the configuration is in the "
             "database");
}

static bool
add_signal(struct reactor *r, int at, int sig, event_callback_fn fn)
{
    r->signal[at] = evsignal_new(r->base, sig, fn, r);
    return r->signal[at] && !event_add(r->signal[at], NULL);
}

int
reactor_create(struct reactor **out, struct err *err)
{
    struct reactor *r = calloc(1, sizeof(*r));

    if (r)
        r->base = event_base_new();
    if (!r || !r->base || !add_signal(r, 0, SIGTERM, on_end) ||
        !add_signal(r, 1, SIGINT, on_end) ||
        !add_signal(r, 2, SIGHUP, on_hup)) {
        reactor_destroy(r);
        return err_sys(err, ENOMEM, "cannot make the event loop");
    }
    signal(SIGPIPE, SIG_IGN);
    *out = r;
    return 0;
}

void
reactor_destroy(struct reactor *r)
{
    if (!r)
        return;
    for (int i = 0; i < N_SIGNALS; i++)
        if (r->signal[i])
            event_free(r->signal[i]);
    if (r->base)
        event_base_free(r->base);
    free(r);
}

void
reactor_run(struct reactor *r)
{
    event_base_dispatch(r->base);
}

void
reactor_stop(struct reactor *r)
{
    event_base_loopbreak(r->base);
}

struct event_base *
reactor_base(struct reactor *r)
{
    return r->base;
}

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
    struct reactor_watch *w = arg;

    (void) fd;
    (void) what;
    w->fn(w->arg);
}

static struct reactor_watch *
watch(struct reactor *r, int fd, short what, const struct timeval *tv,
      reactor_fn *fn, void *arg)
{
    struct reactor_watch *w = malloc(sizeof(*w));

    if (!w)
        return NULL;
    *w = (struct reactor_watch){.fn = fn, .arg = arg};
    w->event =
        event_new(r->base, fd, (short) (what | EV_PERSIST), on_event, w);
    if (!w->event || event_add(w->event, tv)) {
        reactor_unwatch(w);
        return NULL;
    }
    return w;
}

struct reactor_watch *
reactor_watch_fd(struct reactor *r, int fd, reactor_fn *fn, void *arg)
{
    return watch(r, fd, EV_READ, NULL, fn, arg);
}

struct reactor_watch *
reactor_watch_timer(struct reactor *r, uint32_t interval_ms, reactor_fn *fn,
                    void *arg)
{
    struct timeval tv = {interval_ms / 1000, interval_ms % 1000 * 1000};

    return watch(r, -1, 0, &tv, fn, arg);
}

void
reactor_unwatch(struct reactor_watch *w)
{
    if (!w)
        return;
    if (w->event)
        event_free(w->event);
    free(w);
}
