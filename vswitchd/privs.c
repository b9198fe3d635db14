/* SPDX-License-Identifier: Apache-2.0
 *
 * Giving up privileges: see privs.h.  libcap-ng does the work.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "privs.h"

#include "base/log.h"

#include <cap-ng.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const struct {
    unsigned cap;     /* its number */
    const char *name; /* for people */
    const char *use;  /* what does not work without; null: nothing */
} kept[] = {
    {CAP_NET_ADMIN, "CAP_NET_ADMIN", "tap ports and promiscuous mode"},
    {CAP_NET_RAW, "CAP_NET_RAW", "afpacket and afxdp ports"},
#ifdef HAVE_AFXDP
    {CAP_BPF, "CAP_BPF", "afxdp ports"},
#endif
    {CAP_IPC_LOCK, "CAP_IPC_LOCK", NULL},
};
static bool keeps_nice; /* see privs_keep_nice() */
#define N_KEPT (sizeof(kept) / sizeof(kept[0]))

static char text[96] = "none";

int
privs_find_user(const char *name, struct privs_user *out, struct err *err)
{
    struct passwd *pw = getpwnam(name);
    char *end;
    unsigned long n;

    if (!pw) {
        n = strtoul(name, &end, 10);
        if (end != name && !*end && n <= UINT32_MAX)
            pw = getpwuid((uid_t) n);
    }
    if (!pw)
        return err_set(err, ENOENT, "--user", name, "a user of this system",
                       "there is no user %s", name);
    *out = (struct privs_user){true, pw->pw_uid, pw->pw_gid};
    return 0;
}

const char *
privs_text(void)
{
    return text;
}

/* Fills in libcap-ng's state: ours of what we have, nothing else. */
static void
choose(void)
{
    bool have[N_KEPT], has_nice;

    capng_get_caps_process();
    has_nice =
        keeps_nice && capng_have_capability(CAPNG_PERMITTED, CAP_SYS_NICE);
    for (size_t i = 0; i < N_KEPT; i++)
        have[i] = capng_have_capability(CAPNG_PERMITTED, kept[i].cap);
    capng_clear(CAPNG_SELECT_BOTH);
    text[0] = '\0';
    for (size_t i = 0; i < N_KEPT; i++) {
        size_t n = strlen(text);

        if (!have[i]) {
            if (kept[i].use)
                log_warn("%s is not granted: no %s", kept[i].name,
                         kept[i].use);
            continue;
        }
        capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED,
                     kept[i].cap);
        snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "",
                 kept[i].name);
    }
    if (has_nice) {
        capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED,
                     CAP_SYS_NICE);
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "%sCAP_SYS_NICE", text[0] ? " " : "");
    }
    if (!text[0])
        snprintf(text, sizeof(text), "none");
}

void
privs_keep_nice(void)
{
    keeps_nice = true;
}

int
privs_drop(const struct privs_user *user, struct err *err)
{
    bool may_bound;
    int rc;

    choose();
    /* The bounding set is for a process that may change it. */
    may_bound = prctl(PR_CAPBSET_READ, CAP_SETPCAP) == 1 && geteuid() == 0;
    if (user->given && user->uid != geteuid())
        rc = capng_change_id((int) user->uid, (int) user->gid,
                             CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING);
    else
        rc = capng_apply(may_bound ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS);
    if (rc)
        return err_set(err, EPERM, NULL, NULL, NULL,
                       "cannot give up privileges (libcap-ng: %d)%s", rc,
                       user->given ? "; --user needs root" : "");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return err_sys(err, errno, "cannot set no_new_privs");
    return 0;
}
