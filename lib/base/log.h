/* SPDX-License-Identifier: Apache-2.0
 *
 * The log of a program: to standard error or to syslog, above a level.
 * Control thread only; the datapath never logs, it raises events.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LVL_ERR, LOG_LVL_WARN, LOG_LVL_INFO, LOG_LVL_DEBUG };
enum log_dest { LOG_DEST_STDERR, LOG_DEST_SYSLOG };

/* `program` is borrowed for the life of the process. */
void log_init(const char *program, enum log_dest dest, enum log_level level);

/* "error", "warning", "info", "debug"; false for another word. */
bool log_level_parse(const char *word, enum log_level *level);

/* A record is one line: control characters become blanks. */
void log_msg(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define log_err(...)   log_msg(LOG_LVL_ERR, __VA_ARGS__)
#define log_warn(...)  log_msg(LOG_LVL_WARN, __VA_ARGS__)
#define log_info(...)  log_msg(LOG_LVL_INFO, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_LVL_DEBUG, __VA_ARGS__)

/* Lets at most `burst` messages through per second and says how many it held
 * back when the next second opens.  The caller owns one per place. */
struct log_limit {
    uint64_t second; /* the second that is being counted */
    unsigned n;      /* messages let through in it */
    unsigned held;   /* messages held back in it */
};
bool log_limit_ok(struct log_limit *, unsigned burst, uint64_t now_ns);

#endif
