/* SPDX-License-Identifier: Apache-2.0
 *
 * Random valid configurations from a seed, for the tests of lib/conf and db.
 */
#ifndef TESTS_UNIT_CONF_RANDOM_H
#define TESTS_UNIT_CONF_RANDOM_H

#include "base/rng.h"
#include "conf/conf.h"

/* Every member takes part. */
struct conf *conf_random(struct rng *);
/* Changes some of it: ports and bridges come, go and change. */
void conf_random_change(struct conf *, struct rng *);

#endif
