/* SPDX-License-Identifier: Apache-2.0
 *
 * The main() of a fuzz target where there is no libFuzzer: replays a corpus
 * and a bounded number of mutations of it, the same ones every time, and says
 * in TAP how it went.  The corpus is the directory given, or the one that is
 * named after the program.  What breaks the target is kept in a file.
 */
#include "base/rng.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE    (1u << 20) /* octets of a file */
#define MAX_MUTANT  (1u << 16) /* octets of a mutation */
#define MAX_INPUTS  4096
#define N_MUTATIONS 50000 /* SLUICE_FUZZ_RUNS says otherwise */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Sanitizers end the process by themselves; they have this, we may not. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*)(void));

struct input {
    uint8_t *data; /* exactly n octets, so that a sanitizer sees an overrun */
    size_t n;      /* how many */
};

static struct input corpus[MAX_INPUTS];
static size_t n_inputs;
static struct input now;     /* what the target is busy with */
static char crash_file[256]; /* where it goes if the target dies */
static const char *target;   /* name of the program */

static void
keep_input(void)
{
    static const char text[] = "not ok 1 - died; the input is kept\n";
    int fd = open(crash_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (fd < 0 || write(fd, now.data, now.n) != (ssize_t) now.n ||
        write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
        _exit(99);
    close(fd);
}

static void
on_signal(int sig)
{
    keep_input();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void
watch_for_death(void)
{
    static const int sigs[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

    snprintf(crash_file, sizeof(crash_file), "%s.crash", target);
    for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
        signal(sigs[i], on_signal);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(keep_input);
}

static struct input
input_copy(const uint8_t *data, size_t n)
{
    struct input in = {malloc(n ? n : 1), n};

    if (!in.data)
        exit(99);
    if (n)
        memcpy(in.data, data, n);
    return in;
}

static void
run(const uint8_t *data, size_t n)
{
    now = input_copy(data, n);
    LLVMFuzzerTestOneInput(now.data, now.n);
    free(now.data);
}

static int
load_file(const char *path)
{
    static uint8_t buf[MAX_FILE + 1];
    FILE *f = fopen(path, "rb");
    size_t n;

    if (!f)
        return -1;
    n = fread(buf, 1, sizeof(buf), f);
    fclose(f);
    if (n > MAX_FILE || n_inputs == MAX_INPUTS)
        return -1;
    corpus[n_inputs++] = input_copy(buf, n);
    return 0;
}

/* In order of name: the mutations must not depend on the directory's order. */
static int
load_dir(const char *dir)
{
    struct dirent **names;
    int n = scandir(dir, &names, NULL, alphasort), bad = n < 0;

    for (int i = 0; i < n; i++) {
        char path[8192];
        struct stat st;

        snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
        if (stat(path, &st) || (S_ISREG(st.st_mode) && load_file(path))) {
            printf("# %s cannot be read, or is too large\n", path);
            bad = 1;
        }
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return bad;
}

/* Values at which codecs go wrong. */
static const uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0x08, 0x81,
                                '"',  '{',  '}',  '[',  '\\', '\n', ','};

/* Changes a stretch of the n octets in buf; returns the new length. */
static size_t
mutate_once(struct rng *r, uint8_t *buf, size_t n)
{
    size_t at = (size_t) rng_below(r, n + 1);
    size_t k = (size_t) rng_below(r, n - at + 1);
    const struct input *other = &corpus[rng_below(r, n_inputs)];

    switch (rng_below(r, 7)) {
    case 0: /* cut off */
        return at;
    case 1: /* take out */
        k = k > 16 ? k % 16 : k;
        memmove(buf + at, buf + at + k, n - at - k);
        return n - k;
    case 2: /* say twice */
        if (n + k > MAX_MUTANT)
            return n;
        memmove(buf + at + k, buf + at, n - at);
        return n + k;
    case 3: /* flip a bit */
        if (at < n)
            buf[at] ^= (uint8_t) (1u << rng_below(r, 8));
        return n;
    case 4: /* an edge */
        if (at < n)
            buf[at] = edges[rng_below(r, sizeof(edges))];
        return n;
    case 5: /* anything */
        if (at < n)
            buf[at] = (uint8_t) rng_u64(r);
        return n;
    default: /* go on as another one does */
        if (at < other->n) {
            k = other->n - at;
            k = at + k > MAX_MUTANT ? MAX_MUTANT - at : k;
            memcpy(buf + at, other->data + at, k);
            return at + k;
        }
        return n;
    }
}

static void
run_mutations(unsigned long n_runs)
{
    static uint8_t buf[MAX_MUTANT];
    struct rng rng = {.state = 1};

    for (unsigned long i = 0; i < n_runs; i++) {
        const struct input *from = &corpus[rng_below(&rng, n_inputs)];
        size_t n = from->n < MAX_MUTANT ? from->n : MAX_MUTANT;

        memcpy(buf, from->data, n);
        for (uint64_t k = rng_range(&rng, 1, 5); k > 0; k--)
            n = mutate_once(&rng, buf, n);
        run(buf, n);
    }
}

int
main(int argc, char *argv[])
{
    const char *runs = getenv("SLUICE_FUZZ_RUNS");
    const char *top = getenv("top_srcdir");
    unsigned long n_runs = runs ? strtoul(runs, NULL, 10) : N_MUTATIONS;
    char dir[4096];
    int bad;

    setvbuf(stdout, NULL, _IONBF, 0);
    target = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    snprintf(dir, sizeof(dir), "%s/tests/fuzz/corpus/%s", top ? top : ".",
             target);
    printf("1..1\n");
    bad = load_dir(argc > 1 ? argv[1] : dir);
    if (bad || n_inputs == 0) {
        printf("not ok 1 - %s: no corpus in %s\n", target,
               argc > 1 ? argv[1] : dir);
        return 0;
    }
    watch_for_death();
    for (size_t i = 0; i < n_inputs; i++)
        run(corpus[i].data, corpus[i].n);
    run_mutations(n_runs);
    printf("ok 1 - %s: %zu inputs, %lu mutations\n", target, n_inputs, n_runs);
    for (size_t i = 0; i < n_inputs; i++)
        free(corpus[i].data);
    return 0;
}
