/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs of the benchmarks that send between namespaces share.
 */
#ifndef BENCH_ENTER_H
#define BENCH_ENTER_H

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The calling thread goes on in a namespace that `ip netns` made; ends the
 * program when it cannot. */
static inline void
bench_enter(const char *ns)
{
    char path[128];
    int fd;

    snprintf(path, sizeof(path), "/run/netns/%s", ns);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET)) {
        perror(path);
        exit(1);
    }
    close(fd);
}

#endif
