/* SPDX-License-Identifier: Apache-2.0
 *
 * A BPF program in the making: instructions are appended one after the other.
 * For programs of a few dozen instructions that never change but for numbers,
 * so that no compiler for them is needed.  What an instruction means is told
 * by <linux/bpf.h> and RFC 9669; the verifier of the kernel judges the whole.
 *
 * Registers are numbers from 0 to 10, offsets are in octets.  Any thread, one
 * at a time for each program.
 */
#ifndef NETDEV_CODE_H
#define NETDEV_CODE_H

#include <assert.h>
#include <linux/bpf.h>
#include <stdint.h>

#define CODE_MAX 96 /* instructions */

/* The program. */
struct code {
    struct bpf_insn insn[CODE_MAX]; /* instructions */
    int n;                          /* how many */
};

/* Appends an instruction; returns where it is. */
static inline int
code_op(struct code *c, int op, int dst, int src, int ofs, int32_t imm)
{
    assert(c->n < CODE_MAX);
    c->insn[c->n] = (struct bpf_insn){
        .code = (uint8_t) op,
        .dst_reg = (uint8_t) dst & 15,
        .src_reg = (uint8_t) src & 15,
        .off = (int16_t) ofs,
        .imm = imm,
    };
    return c->n++;
}

/* dst = dst alu imm, in 64 bits; alu: BPF_MOV, BPF_ADD, ... */
static inline void
code_imm(struct code *c, int alu, int dst, int32_t imm)
{
    code_op(c, BPF_ALU64 | alu | BPF_K, dst, 0, 0, imm);
}

/* dst = dst alu src, in 64 bits. */
static inline void
code_reg(struct code *c, int alu, int dst, int src)
{
    code_op(c, BPF_ALU64 | alu | BPF_X, dst, src, 0, 0);
}

/* dst: the low 16 bits, in the byte order of the network. */
static inline void
code_be16(struct code *c, int dst)
{
    code_op(c, BPF_ALU | BPF_END | BPF_TO_BE, dst, 0, 0, 16);
}

/* dst: what is at src + ofs; size: BPF_B, BPF_H, BPF_W, BPF_DW. */
static inline void
code_load(struct code *c, int size, int dst, int src, int ofs)
{
    code_op(c, BPF_LDX | size | BPF_MEM, dst, src, ofs, 0);
}

/* src is put at dst + ofs. */
static inline void
code_store(struct code *c, int size, int dst, int ofs, int src)
{
    code_op(c, BPF_STX | size | BPF_MEM, dst, src, ofs, 0);
}

/* A jump if dst cond imm, to where code_here() will say; cond: BPF_JEQ, ... */
static inline int
code_jump(struct code *c, int cond, int dst, int32_t imm)
{
    return code_op(c, BPF_JMP | cond | BPF_K, dst, 0, 0, imm);
}

/* A jump if dst cond src. */
static inline int
code_jump_reg(struct code *c, int cond, int dst, int src)
{
    return code_op(c, BPF_JMP | cond | BPF_X, dst, src, 0, 0);
}

/* That jump leads here. */
static inline void
code_here(struct code *c, int jump)
{
    c->insn[jump].off = (int16_t) (c->n - jump - 1);
}

/* A constant of 64 bits; kind: 0, or BPF_PSEUDO_MAP_FD with a descriptor in
 * the low half, or BPF_PSEUDO_MAP_VALUE with an offset in the high one too. */
static inline void
code_const(struct code *c, int dst, int kind, uint64_t value)
{
    code_op(c, BPF_LD | BPF_DW | BPF_IMM, dst, kind, 0, (int32_t) value);
    code_op(c, 0, 0, 0, 0, (int32_t) (value >> 32));
}

/* R0 = a helper function of the kernel (BPF_FUNC_...), of R1 to R5. */
static inline void
code_call(struct code *c, int helper)
{
    code_op(c, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

/* The program ends; R0 is its verdict. */
static inline void
code_exit(struct code *c)
{
    code_op(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

#endif /* NETDEV_CODE_H */
