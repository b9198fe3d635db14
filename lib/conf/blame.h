/* SPDX-License-Identifier: Apache-2.0
 *
 * Which member of a change is to blame when the memory of a bridge does not
 * suffice for the whole of it.  Control thread.
 */
#ifndef CONF_BLAME_H
#define CONF_BLAME_H

#include "conf/conf.h"

/* conf_validate(to) refused for want of memory: *err then names the member
 * that was raised most since `from`, with the numbers, when there is one. */
void conf_blame_memory(const struct conf *from, const struct conf *to,
                       struct err *);

#endif
