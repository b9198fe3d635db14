/* SPDX-License-Identifier: Apache-2.0
 *
 * The type that chooses: AF_XDP where the driver has a native mode and nothing
 * speaks against it, else AF_PACKET, which works everywhere.  What it opens is
 * a port of one of these types; this one only has an open.  Control thread.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "netdev/netdev.h"

#include <errno.h>
#include <stdio.h>

static int
try_afxdp(const struct netdev_args *args, struct netdev **out, struct err *err)
{
#ifdef HAVE_AFXDP
    struct netdev_args native = *args;

    native.only_native = true;
    return netdev_afxdp.open(&native, out, err);
#else
    (void) args;
    (void) out;
    return err_set(err, EOPNOTSUPP, NULL, NULL, NULL,
                   "it was built without AF_XDP");
#endif
}

static int
auto_open(const struct netdev_args *args, struct netdev **out, struct err *err)
{
    struct err why;
    int rc;

    err_clear(&why);
    rc = try_afxdp(args, out, &why);
    if (rc == 0)
        return 0;
    rc = netdev_afpacket.open(args, out, err);
    if (rc == 0)
        snprintf((*out)->fallback, sizeof((*out)->fallback), "%s", why.msg);
    return rc;
}

const struct netdev_class netdev_auto = {
    .type = "auto",
    .on_interface = true,
    .is_choice = true,
    .open = auto_open,
};
