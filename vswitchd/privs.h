/* SPDX-License-Identifier: Apache-2.0
 *
 * Giving up privileges.  Called at start-up, before any thread is made.
 */
#ifndef VSWITCHD_PRIVS_H
#define VSWITCHD_PRIVS_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct privs_user {
    bool given; /* --user was */
    uid_t uid;  /* its numbers */
    gid_t gid;
};

/* Looks a user up, by name or number. */
int privs_find_user(const char *name, struct privs_user *, struct err *);

/* Becomes that user (when given), and keeps CAP_NET_ADMIN, CAP_NET_RAW,
 * CAP_BPF and CAP_IPC_LOCK of what it has, now and for good: no program that
 * is executed from here gets more. */
int privs_drop(const struct privs_user *, struct err *);

/* Words for the log: what is kept. */
const char *privs_text(void);

/* Before privs_drop(): CAP_SYS_NICE is kept, too, if it is there. */
void privs_keep_nice(void);

#endif
