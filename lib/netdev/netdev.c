/* SPDX-License-Identifier: Apache-2.0
 *
 * What opening a port has in common for all providers.  See netdev.h.
 * Control thread.
 */
#include "netdev/netdev.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

/* What the kernel takes as the name of an interface (dev_valid_name). */
static bool
name_is_valid(const char *name)
{
    size_t n = strlen(name);

    if (n == 0 || n > NETDEV_NAME_MAX)
        return false;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    for (const char *c = name; *c; c++) {
        if (*c == '/' || *c == ':' || isspace((unsigned char) *c))
            return false;
    }
    return true;
}

int
netdev_open(const struct netdev_class *cls, const struct netdev_args *args,
            struct netdev **out, struct err *err)
{
    struct netdev *dev = NULL;
    int rc;

    assert(args->pool);
    if (!args->name || !name_is_valid(args->name))
        return err_set(err, EINVAL, NULL, args->name,
                       "1 to 15 characters, no white space, '/' or ':'",
                       "\"%s\" is not a name of an interface: 1 to %d "
                       "characters without white space, '/' and ':' are "
                       "allowed",
                       args->name ? args->name : "", NETDEV_NAME_MAX);
    rc = cls->open(args, &dev, err);
    if (rc)
        return rc;
    assert(dev->cls == cls || cls->is_choice);
    assert(strcmp(dev->name, args->name) == 0);
    if (!dev->rx_high)
        dev->rx_high = UINT32_MAX;
    *out = dev;
    return 0;
}

void
netdev_close(struct netdev *dev)
{
    if (dev)
        dev->cls->close(dev);
}
