/* SPDX-License-Identifier: Apache-2.0
 *
 * The log: see log.h.
 */
#include "base/log.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

static struct {
    const char *program;  /* shown before every message */
    enum log_dest dest;   /* where messages go */
    enum log_level level; /* the least important one that is shown */
} state = {"sluice", LOG_DEST_STDERR, LOG_LVL_INFO};

static const char *const level_names[] = {"error", "warning", "info", "debug"};

void
log_init(const char *program, enum log_dest dest, enum log_level level)
{
    state.program = program;
    state.dest = dest;
    state.level = level;
    if (dest == LOG_DEST_SYSLOG)
        openlog(program, LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

bool
log_level_parse(const char *word, enum log_level *level)
{
    for (int i = 0; i < 4; i++) {
        if (!strcmp(word, level_names[i])) {
            *level = (enum log_level) i;
            return true;
        }
    }
    return false;
}

static void
to_stderr(enum log_level level, const char *text)
{
    uint64_t now = clock_wall_ns();
    time_t s = (time_t) (now / NS_PER_S);
    struct tm tm;
    char when[32];

    gmtime_r(&s, &tm);
    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
    fprintf(stderr, "%s.%03uZ %s: %s: %s\n", when,
            (unsigned) (now % NS_PER_S / NS_PER_MS), state.program,
            level_names[level], text);
}

/* One line per record, and nothing that a terminal obeys, whatever the message
 * quotes. */
static void
blank_controls(char *text)
{
    for (; *text; text++)
        if ((unsigned char) *text < ' ' || *text == 0x7f)
            *text = ' ';
}

void
log_msg(enum log_level level, const char *fmt, ...)
{
    static const int priorities[] = {LOG_ERR, LOG_WARNING, LOG_INFO,
                                     LOG_DEBUG};
    char text[1024];
    va_list ap;

    if (level > state.level)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    blank_controls(text);
    if (state.dest == LOG_DEST_SYSLOG)
        syslog(priorities[level], "%s", text);
    else
        to_stderr(level, text);
}

bool
log_limit_ok(struct log_limit *l, unsigned burst, uint64_t now_ns)
{
    uint64_t second = now_ns / NS_PER_S;

    if (second != l->second) {
        if (l->held)
            log_warn("%u similar messages held back", l->held);
        *l = (struct log_limit){.second = second};
    }
    if (l->n >= burst) {
        l->held++;
        return false;
    }
    l->n++;
    return true;
}
