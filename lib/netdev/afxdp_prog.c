/* SPDX-License-Identifier: Apache-2.0
 *
 * The XDP program of an afxdp port, which runs in the driver for each frame
 * that comes: puts a VLAN tag that lies beside the frame back into it, drops
 * what does not fit a buffer, counts MAC control, and hands the frame to the
 * port's socket.  It is short and never changes but for two numbers, so it is
 * put together here from instructions, and no compiler for it is needed.
 * Control thread.
 *
 * The program is attached by a bpf_link: it goes when the descriptor is
 * closed, however the process ends, so that a crash leaves none behind.
 *
 * The kernel lets only programs that may be used under the GPL ask for a tag;
 * for that the instructions below may be used under GPL-2.0 as well.
 */
#include "netdev/afxdp.h"

#include "netdev/code.h"
#include "wire/eth.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PROG_NAME    "sluice"
#define PROG_LICENSE "Dual MIT/GPL"
#define TAG_FUNCTION "bpf_xdp_metadata_rx_vlan_tag"
#define SEEN_BYTES   4096 /* a page: it is mapped */

/* Newer than the headers of Debian 12. */
#define PROG_HAS_FRAGS    (1u << 5) /* BPF_F_XDP_HAS_FRAGS */
#define PROG_BOUND_TO_DEV (1u << 6) /* BPF_F_XDP_DEV_BOUND_ONLY */
#define HELPER_BUFF_LEN   188       /* bpf_xdp_get_buff_len */
#define CALL_KERNEL       2         /* BPF_PSEUDO_KFUNC_CALL */

/* While a process that was killed still ends, its program is attached. */
#define BUSY_TRIES   25
#define BUSY_WAIT_NS 20000000

enum { R0, R1, R2, R3, R4, R5, CTX, DATA, END, TYPE, FP };

/* A map, or what lies ofs octets into its only value; kind:
 * BPF_PSEUDO_MAP_FD, BPF_PSEUDO_MAP_VALUE. */
static void
set_map(struct code *c, int dst, int kind, int fd, size_t ofs)
{
    code_const(c, dst, kind, (uint64_t) ofs << 32 | (uint32_t) fd);
}

/* One more in a counter of struct afxdp_seen. */
static void
count(struct code *c, int seen_fd, size_t ofs)
{
    set_map(c, R1, BPF_PSEUDO_MAP_VALUE, seen_fd, ofs);
    code_imm(c, BPF_MOV, R2, 1);
    code_op(c, BPF_STX | BPF_DW | BPF_ATOMIC, R1, R2, 0, BPF_ADD);
}

static void
count_and_drop(struct code *c, int seen_fd, size_t ofs)
{
    count(c, seen_fd, ofs);
    code_imm(c, BPF_MOV, R0, XDP_DROP);
    code_exit(c);
}

/* DATA and END are where the frame begins and ends; returns the jump for one
 * shorter than n octets. */
static int
look_at(struct code *c, int n)
{
    code_load(c, BPF_W, DATA, CTX, offsetof(struct xdp_md, data));
    code_load(c, BPF_W, END, CTX, offsetof(struct xdp_md, data_end));
    code_reg(c, BPF_MOV, R1, DATA);
    code_imm(c, BPF_ADD, R1, n);
    return code_jump_reg(c, BPF_JGT, R1, END);
}

/* A tag beside the frame: the frame grows to the front, the addresses move
 * there, the tag comes behind them.  Fills the jumps for frames that this
 * cannot be done with. */
static void
restore_tag(struct code *c, int32_t tag_function, int bad[2])
{
    int none;

    code_op(c, BPF_ST | BPF_DW | BPF_MEM, FP, 0, -8, 0);
    code_reg(c, BPF_MOV, R1, CTX);
    code_reg(c, BPF_MOV, R2, FP);
    code_imm(c, BPF_ADD, R2, -8); /* the TPID, as on the wire */
    code_reg(c, BPF_MOV, R3, FP);
    code_imm(c, BPF_ADD, R3, -4); /* the TCI, in our byte order */
    code_op(c, BPF_JMP | BPF_CALL, 0, CALL_KERNEL, 0, tag_function);
    none = code_jump(c, BPF_JNE, R0, 0);
    code_reg(c, BPF_MOV, R1, CTX);
    code_imm(c, BPF_MOV, R2, -ETH_VLAN_LEN);
    code_call(c, BPF_FUNC_xdp_adjust_head);
    bad[0] = code_jump(c, BPF_JNE, R0, 0);
    bad[1] = look_at(c, ETH_HDR_LEN + ETH_VLAN_LEN);
    for (int i = 0; i < 12; i += 4) {
        code_load(c, BPF_W, R1, DATA, i + ETH_VLAN_LEN);
        code_store(c, BPF_W, DATA, i, R1);
    }
    code_load(c, BPF_H, R1, FP, -8);
    code_store(c, BPF_H, DATA, 12, R1);
    code_load(c, BPF_H, R1, FP, -4);
    code_be16(c, R1);
    code_store(c, BPF_H, DATA, 14, R1);
    code_here(c, none);
}

/* tag_function: its number in the kernel; 0: tags are in the frames. */
static void
write_program(struct code *c, const struct afxdp *a, int32_t tag_function)
{
    int bad[3], n_bad = 0, is_long, is_data;

    *c = (struct code){.n = 0};
    code_reg(c, BPF_MOV, CTX, R1);
    if (tag_function) {
        restore_tag(c, tag_function, bad);
        n_bad = 2;
    }
    bad[n_bad++] = look_at(c, ETH_HDR_LEN);
    code_load(c, BPF_H, TYPE, DATA, 12);
    code_reg(c, BPF_MOV, R1, CTX);
    code_call(c, HELPER_BUFF_LEN);
    is_long = code_jump(c, BPF_JGT, R0, (int32_t) a->frame_bytes);
    is_data = code_jump(c, BPF_JNE, TYPE, htons(ETH_T_MACCTL));
    count(c, a->prog.seen_fd, offsetof(struct afxdp_seen, n_ctl));
    code_here(c, is_data);
    set_map(c, R1, BPF_PSEUDO_MAP_FD, a->prog.socks_fd, 0);
    code_load(c, BPF_W, R2, CTX, offsetof(struct xdp_md, rx_queue_index));
    code_imm(c, BPF_MOV, R3, XDP_DROP); /* for a queue that no socket is for */
    code_call(c, BPF_FUNC_redirect_map);
    code_exit(c);
    code_here(c, is_long);
    count_and_drop(c, a->prog.seen_fd,
                   offsetof(struct afxdp_seen, n_oversize));
    for (int i = 0; i < n_bad; i++)
        code_here(c, bad[i]);
    count_and_drop(c, a->prog.seen_fd, offsetof(struct afxdp_seen, n_bad));
}

/* The number of the function that tells of a tag; 0: this kernel has none.
 * Looking it up takes some milliseconds, and it stays the same. */
static int32_t
find_tag_function(void)
{
    static int32_t found = -1;
    struct btf *btf;

    if (found >= 0)
        return found;
    found = 0;
    btf = btf__load_vmlinux_btf();
    if (btf) {
        int32_t id = btf__find_by_name_kind(btf, TAG_FUNCTION, BTF_KIND_FUNC);

        found = id > 0 ? id : 0;
        btf__free(btf);
    }
    return found;
}

static int
refuse_privileges(const struct afxdp *a, struct err *err)
{
    return err_set(err, EPERM, NULL, a->up.name, NULL,
                   "\"%s\": not permitted to load an XDP program: CAP_BPF "
                   "and CAP_NET_ADMIN are needed",
                   a->up.name);
}

/* opts may be null. */
static int
make_map(const struct afxdp *a, enum bpf_map_type type, uint32_t bytes,
         const struct bpf_map_create_opts *opts, int *fd, struct err *err)
{
    *fd = bpf_map_create(type, PROG_NAME, 4, bytes, 1, opts);
    if (*fd >= 0)
        return 0;
    return errno == EPERM ? refuse_privileges(a, err)
                          : err_sys(err, errno, "\"%s\": BPF map", a->up.name);
}

static int
make_maps(struct afxdp *a, struct err *err)
{
    struct afxdp_prog *p = &a->prog;
    LIBBPF_OPTS(bpf_map_create_opts, mapped, .map_flags = BPF_F_MMAPABLE);
    void *seen;
    int rc =
        make_map(a, BPF_MAP_TYPE_ARRAY, SEEN_BYTES, &mapped, &p->seen_fd, err);

    if (!rc)
        rc = make_map(a, BPF_MAP_TYPE_XSKMAP, 4, NULL, &p->socks_fd, err);
    if (rc)
        return rc;
    seen = mmap(NULL, SEEN_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                p->seen_fd, 0);
    if (seen == MAP_FAILED)
        return err_sys(err, errno, "\"%s\": mapping a BPF map", a->up.name);
    p->seen = seen;
    if (xsk_socket__update_xskmap(a->sock, p->socks_fd))
        return err_sys(err, errno, "\"%s\": map of sockets", a->up.name);
    return 0;
}

/* Loads it; 0 or an errno. */
static int
load_program(struct afxdp *a, int32_t tag_function, bool has_frags)
{
    LIBBPF_OPTS(bpf_prog_load_opts, opts,
                .prog_flags = has_frags ? PROG_HAS_FRAGS : 0);
    struct code c;

    if (tag_function) {
        opts.prog_flags |= PROG_BOUND_TO_DEV;
        opts.prog_ifindex = a->up.ifindex;
    }
    write_program(&c, a, tag_function);
    a->prog.prog_fd = bpf_prog_load(BPF_PROG_TYPE_XDP, PROG_NAME, PROG_LICENSE,
                                    c.insn, (size_t) c.n, &opts);
    return a->prog.prog_fd < 0 ? errno : 0;
}

/* Another program is there: whose, as far as we may know. */
static int
refuse_foreign(const struct afxdp *a, struct err *err)
{
    LIBBPF_OPTS(bpf_xdp_query_opts, query);

    if (bpf_xdp_query((int) a->up.ifindex, 0, &query) || !query.prog_id)
        query.prog_id = 0;
    return err_set(err, EBUSY, NULL, a->up.name,
                   "an interface without an XDP program",
                   "\"%s\": an XDP program that is not ours is attached (id "
                   "%u): see 'bpftool prog show id %u'; detach it, or use "
                   "type afpacket",
                   a->up.name, query.prog_id, query.prog_id);
}

/* Attaches it; 0 or an errno. */
static int
link_program(struct afxdp *a, bool native)
{
    LIBBPF_OPTS(bpf_link_create_opts, opts,
                .flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE);
    int error = EBUSY;

    for (int i = 0; i < BUSY_TRIES && (error == EBUSY || error == EEXIST);
         i++) {
        if (i > 0)
            nanosleep(&(struct timespec){0, BUSY_WAIT_NS}, NULL);
        a->prog.link_fd = bpf_link_create(a->prog.prog_fd, (int) a->up.ifindex,
                                          BPF_XDP, &opts);
        if (a->prog.link_fd >= 0)
            return 0;
        error = errno;
    }
    return error;
}

static int
refuse_load(const struct afxdp *a, int error, struct err *err)
{
    if (error == EPERM)
        return refuse_privileges(a, err);
    if (error == EOPNOTSUPP)
        return err_set(err, EOPNOTSUPP, NULL, a->up.name, NULL,
                       "\"%s\": its driver has no native XDP", a->up.name);
    return err_sys(err, error, "\"%s\": the kernel refuses the XDP program",
                   a->up.name);
}

int
afxdp_prog_attach(struct afxdp *a, bool native, struct err *err)
{
    int32_t tag_function = native ? find_tag_function() : 0;
    int error;

    if (native && a->needs_tags && !tag_function)
        return err_set(err, ENOSYS, NULL, a->up.name, NULL,
                       "\"%s\": this kernel does not show VLAN tags of a veth "
                       "to an XDP program (" TAG_FUNCTION ": Linux 6.8, with "
                       "BTF): use type afpacket",
                       a->up.name);
    error = make_maps(a, err);
    if (error)
        return error;
    /* With "frags" the interface and its peer may keep a large MTU, whatever
     * fits a buffer.  Kernels before 5.18 do not know of them. */
    error = load_program(a, tag_function, true);
    if (error == EINVAL && !a->is_multi)
        error = load_program(a, tag_function, false);
    if (error)
        return refuse_load(a, error, err);
    error = link_program(a, native);
    if (error == ENOSPC) /* a veth says so */
        return err_set(err, ENOSPC, NULL, a->up.name, NULL,
                       "\"%s\": its peer has more transmit queues than it "
                       "has receive queues: there, 'ethtool -L PEER tx 1' "
                       "leaves it one; or use type afpacket",
                       a->up.name);
    if (error == EBUSY || error == EEXIST)
        return refuse_foreign(a, err);
    if (error == ERANGE || error == EINVAL)
        return err_sys(err, error,
                       "\"%s\": its driver refuses an XDP program (an MTU "
                       "that is too large, or a setting that does not go "
                       "with one)",
                       a->up.name);
    if (error)
        return err_sys(err, error, "\"%s\": attaching an XDP program",
                       a->up.name);
    return 0;
}

void
afxdp_prog_detach(struct afxdp_prog *p)
{
    if (p->link_fd >= 0)
        close(p->link_fd);
    if (p->prog_fd >= 0)
        close(p->prog_fd);
    if (p->seen)
        munmap(p->seen, SEEN_BYTES);
    if (p->socks_fd >= 0)
        close(p->socks_fd);
    if (p->seen_fd >= 0)
        close(p->seen_fd);
}
