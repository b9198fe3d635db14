/* SPDX-License-Identifier: Apache-2.0
 *
 * The road of a change: copy the model, edit the copy, then txn_commit():
 * validate it whole, build all that can fail, store it, publish it.  Start-up
 * and `apply` take the same road.  On error nothing has changed, neither in
 * the database nor in a datapath.  Control thread.
 */
#ifndef VSWITCHD_TXN_H
#define VSWITCHD_TXN_H

#include "daemon.h"

/* A copy to edit; conf_destroy() it to give up. */
struct conf *txn_begin(const struct daemon *);
/* Makes `to` (taken, also on error) what is stored and runs. */
int txn_commit(struct daemon *, struct conf *to, struct err *);
/* The same for what was asked for long ago: interfaces may be absent. */
int txn_commit_lenient(struct daemon *, struct conf *to, struct err *);
/* Ends an edit: commits `to` when error is 0, else gives it up and returns
 * that error.  Takes `to` either way. */
int txn_end(struct daemon *, struct conf *to, int error, struct err *);

/* Puts what the database holds into force. */
int txn_start(struct daemon *, struct err *);

#endif
