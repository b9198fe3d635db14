/* SPDX-License-Identifier: Apache-2.0
 *
 * The program that makes the frames: the kernel runs it for one after the
 * other, it waits until that one is due, writes what differs, and has it sent.
 * The kernel's buffers are used again and again, so that all of what differs
 * is written each time.
 */
#include "xdp_load.h"

#include "base/clock.h"
#include "netdev/code.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#define LIVE_FRAMES (1u << 1) /* BPF_F_TEST_XDP_LIVE_FRAMES: Linux 5.18 */
#define BATCH       32        /* frames that are made ready together */
#define MAX_SPINS   4000      /* of waiting for one frame; each takes 20 ns */
/* Behind by more than that, it does not catch up: no burst. */
#define MAX_LAG_NS 50000
#define DST_OFS    4  /* last two octets of the address */
#define SPORT_OFS  34 /* UDP behind IPv4 without options */
#define DPORT_OFS  36
#define TIME_OFS   42
#define FLOWS_BASE 1024
#define FLOWS_LOW  50000 /* source ports; then destination ports, from 9 on */

/* Shared with the program. */
struct state {
    uint64_t next_ns; /* monotonic: when the next frame is due */
    uint64_t end_ns;  /* monotonic: when it is over */
    uint64_t n_sent;
};

enum { R0, R1, R2, R3, R4, R5, CTX, STATE, DATA, NOW, FP };

static void
store_be16(struct code *c, int ofs, int src)
{
    code_be16(c, src);
    code_store(c, BPF_H, DATA, ofs, src);
}

static void
now(struct code *c)
{
    code_call(c, BPF_FUNC_ktime_get_ns);
}

/* NOW becomes the time at which the frame is due, or later. */
static void
wait_until_due(struct code *c, uint64_t gap_ns)
{
    int again, due, full, on_time;

    code_store(c, BPF_DW, FP, -8, DATA);
    code_load(c, BPF_DW, DATA, STATE, offsetof(struct state, next_ns));
    code_imm(c, BPF_MOV, NOW, 0);
    again = c->n;
    now(c);
    due = code_jump_reg(c, BPF_JGE, R0, DATA);
    code_imm(c, BPF_ADD, NOW, 1);
    full = code_jump(c, BPF_JGT, NOW, MAX_SPINS);
    code_op(c, BPF_JMP | BPF_JA, 0, 0, again - c->n - 1, 0);
    code_here(c, due);
    code_here(c, full);
    code_reg(c, BPF_MOV, NOW, R0);
    code_reg(c, BPF_MOV, R1, DATA);
    code_imm(c, BPF_ADD, R1, MAX_LAG_NS);
    on_time = code_jump_reg(c, BPF_JGT, R1, NOW);
    code_reg(c, BPF_MOV, DATA, NOW);
    code_here(c, on_time);
    code_imm(c, BPF_ADD, DATA, (int32_t) gap_ns);
    code_store(c, BPF_DW, STATE, offsetof(struct state, next_ns), DATA);
    code_load(c, BPF_DW, DATA, FP, -8);
}

/* Frame R2 of the load: its address, its ports, its time. */
static void
write_frame(struct code *c, const struct xdp_load *l, uint64_t real_ns)
{
    int no_sample;

    code_reg(c, BPF_MOV, R1, R2);
    code_imm(c, BPF_MUL, R1, XDP_LOAD_SPREAD);
    code_imm(c, BPF_AND, R1, (int32_t) l->n_to - 1);
    store_be16(c, DST_OFS, R1);
    code_reg(c, BPF_MOV, R1, R2);
    code_imm(c, BPF_MOD, R1, (int32_t) l->n_flows);
    code_reg(c, BPF_MOV, R3, R1);
    code_imm(c, BPF_MOD, R1, FLOWS_LOW);
    code_imm(c, BPF_ADD, R1, FLOWS_BASE);
    store_be16(c, SPORT_OFS, R1);
    code_imm(c, BPF_DIV, R3, FLOWS_LOW);
    code_imm(c, BPF_ADD, R3, 9);
    code_reg(c, BPF_MOV, R1, R2);
    code_imm(c, BPF_AND, R1, (int32_t) l->sample - 1);
    no_sample = code_jump(c, BPF_JNE, R1, 0);
    code_imm(c, BPF_MOV, R3, l->probe_port);
    code_const(c, R1, 0, real_ns);
    code_reg(c, BPF_ADD, R1, NOW);
    code_store(c, BPF_DW, DATA, TIME_OFS, R1);
    code_here(c, no_sample);
    store_be16(c, DPORT_OFS, R3);
}

/* Cuts frame R2 to its length in the mix: 60, 590 or 1514 octets. */
static void
cut(struct code *c, uint32_t len)
{
    int is_long, is_short;

    code_imm(c, BPF_MOD, R2, 12);
    is_long = code_jump(c, BPF_JEQ, R2, 10);
    code_imm(c, BPF_MOV, R1, 0x88a);
    code_reg(c, BPF_RSH, R1, R2);
    code_imm(c, BPF_AND, R1, 1);
    code_imm(c, BPF_MOV, R2, 60 - (int32_t) len);
    is_short = code_jump(c, BPF_JEQ, R1, 0);
    code_imm(c, BPF_MOV, R2, 590 - (int32_t) len);
    code_here(c, is_short);
    code_reg(c, BPF_MOV, R1, CTX);
    code_call(c, BPF_FUNC_xdp_adjust_tail);
    code_here(c, is_long);
}

/* real_ns: what makes monotonic times those of the day. */
static void
write_program(struct code *c, const struct xdp_load *l, int state_fd,
              uint64_t real_ns)
{
    int too_short, over;

    c->n = 0;
    code_reg(c, BPF_MOV, CTX, R1);
    code_const(c, STATE, BPF_PSEUDO_MAP_VALUE, (uint32_t) state_fd);
    code_load(c, BPF_W, DATA, CTX, offsetof(struct xdp_md, data));
    code_load(c, BPF_W, R0, CTX, offsetof(struct xdp_md, data_end));
    code_reg(c, BPF_MOV, R1, DATA);
    code_imm(c, BPF_ADD, R1, TIME_OFS + 8);
    too_short = code_jump_reg(c, BPF_JGT, R1, R0);
    now(c);
    code_load(c, BPF_DW, R1, STATE, offsetof(struct state, end_ns));
    over = code_jump_reg(c, BPF_JGT, R0, R1);
    wait_until_due(c, NS_PER_S / l->pps);
    code_load(c, BPF_DW, R2, STATE, offsetof(struct state, n_sent));
    code_reg(c, BPF_MOV, R1, R2);
    code_imm(c, BPF_ADD, R1, 1);
    code_store(c, BPF_DW, STATE, offsetof(struct state, n_sent), R1);
    write_frame(c, l, real_ns);
    if (l->is_mix)
        cut(c, l->len);
    code_imm(c, BPF_MOV, R1, (int32_t) l->ifindex);
    code_imm(c, BPF_MOV, R2, 0);
    code_call(c, BPF_FUNC_redirect);
    code_exit(c);
    code_here(c, too_short);
    code_here(c, over);
    code_imm(c, BPF_MOV, R0, XDP_DROP);
    code_exit(c);
}

static int
load_program(const struct xdp_load *l, int state_fd)
{
    LIBBPF_OPTS(bpf_prog_load_opts, opts);
    struct code c;
    uint64_t real_ns = clock_wall_ns() - clock_ns();

    write_program(&c, l, state_fd, real_ns);
    return bpf_prog_load(BPF_PROG_TYPE_XDP, "load", "GPL", c.insn,
                         (size_t) c.n, &opts);
}

/* Loading took its time: it begins now. */
static int
run_program(struct xdp_load *l, int prog_fd, int state_fd)
{
    LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = l->data,
                .data_size_in = l->len, .flags = LIVE_FRAMES,
                .batch_size = BATCH);
    struct state s = {.next_ns = clock_ns()};
    uint32_t zero = 0;
    int rc;

    s.end_ns = s.next_ns + l->duration_ns;
    if (bpf_map_update_elem(state_fd, &zero, &s, BPF_ANY))
        return errno;
    opts.repeat = (int) (l->pps * l->duration_ns / NS_PER_S);
    rc = bpf_prog_test_run_opts(prog_fd, &opts);
    if (rc)
        return -rc;
    if (bpf_map_lookup_elem(state_fd, &zero, &s))
        return errno;
    l->n_sent = s.n_sent;
    return 0;
}

int
xdp_load_run(struct xdp_load *l)
{
    int state_fd, prog_fd, rc;

    if (l->len < TIME_OFS + 8 || l->len > XDP_LOAD_MAX ||
        l->pps < XDP_LOAD_MIN_PPS || !l->n_flows || !l->n_to)
        return EINVAL;
    state_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "load", 4,
                              sizeof(struct state), 1, NULL);
    if (state_fd < 0)
        return errno;
    prog_fd = load_program(l, state_fd);
    rc = prog_fd < 0 ? errno : run_program(l, prog_fd, state_fd);
    if (prog_fd >= 0)
        close(prog_fd);
    close(state_fd);
    return rc;
}
