/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry of providers by type name.  A file of its own, so that a
 * program that names one provider links no other.  Any thread.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "netdev/netdev.h"

#include <string.h>

static const struct netdev_class *const classes[] = {
    &netdev_afpacket,
#ifdef HAVE_AFXDP
    &netdev_afxdp,
#endif
    &netdev_auto,     &netdev_mem, &netdev_tap,
};

const struct netdev_class *
netdev_class_find(const char *type)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (strcmp(classes[i]->type, type) == 0)
            return classes[i];
    }
    return NULL;
}
