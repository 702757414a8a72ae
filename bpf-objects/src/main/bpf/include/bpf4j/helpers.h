/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * All that a BPF C program needs without system headers: integer types, section and map macros, the
 * kernel's helper functions. No system header is included anywhere, so the compiled bytes depend on
 * the compiler and on this folder only.
 *
 * How the elements of BPF C become an object file:
 *
 *   SEC("x")          The ELF section a function or variable goes to. For a function it is also the
 *                     program type and where it attaches ("usdt", "uprobe", "tp/sched/sched_switch").
 *   a map             A variable of an anonymous struct in section ".maps" of which nothing but the
 *                     debug type survives: __uint(max_entries, 64) declares a member that is a
 *                     pointer to an array of 64 ints, and the loader reads the 64 out of the BTF.
 *   a helper          A call to a constant "address": the compiler emits `call 14`, and the kernel
 *                     knows 14 as get_current_pid_tgid. The numbers are those of the macro
 *                     ___BPF_FUNC_MAPPER in the kernel's include/uapi/linux/bpf.h.
 *   __kconfig         An extern that the loader fills in: CONFIG_* from the kernel's configuration,
 *                     LINUX_KERNEL_VERSION and other LINUX_* from what it finds out by itself.
 */
#ifndef BPF4J_HELPERS_H
#define BPF4J_HELPERS_H

#ifndef __VMLINUX_H__ /* vmlinux.h, where a program includes it, has these already */
typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef _Bool bool;
#define true 1
#define false 0

/* enum bpf_map_type of include/uapi/linux/bpf.h: those that are used here */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
};

/* flags of bpf_map_update_elem */
enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };

/* flags and queries of the ring buffer */
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0 };
#endif

#ifndef NULL
#define NULL ((void *)0)
#endif

#define SEC(name) __attribute__((section(name), used))
#define __noinline __attribute__((noinline))
#define __always_inline inline __attribute__((always_inline))
#define __unused __attribute__((unused))
#define __weak __attribute__((weak))
#define __hidden __attribute__((visibility("hidden")))
#define __kconfig __attribute__((section(".kconfig")))

#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define __array(name, value) typeof(value) *name[]

/* Optimisation stops here: the compiler may not assume what `variable` holds. */
#define opaque(variable) asm volatile("" : "+r"(variable))

/* Atomic add without a result is the one atomic that every kernel with BPF has. */
#define atomic_add(pointer, value) ((void)__sync_fetch_and_add(pointer, value))

#define HELPER(number, result, name, ...) static result (*const name)(__VA_ARGS__) __unused = (void *)number

HELPER(1, void *, bpf_map_lookup_elem, void *map, const void *key);
HELPER(2, long, bpf_map_update_elem, void *map, const void *key, const void *value, __u64 flags);
HELPER(3, long, bpf_map_delete_elem, void *map, const void *key);
HELPER(5, __u64, bpf_ktime_get_ns, void);
HELPER(8, __u32, bpf_get_smp_processor_id, void);
HELPER(14, __u64, bpf_get_current_pid_tgid, void); /* process << 32 | thread */
HELPER(15, __u64, bpf_get_current_uid_gid, void); /* group << 32 | user */
HELPER(16, long, bpf_get_current_comm, void *buffer, __u32 size);
HELPER(27, long, bpf_get_stackid, void *ctx, void *map, __u64 flags);
HELPER(67, long, bpf_get_stack, void *ctx, void *to, __u32 size, __u64 flags);
HELPER(80, __u64, bpf_get_current_cgroup_id, void);
/* since 5.5 */
HELPER(112, long, bpf_probe_read_user, void *to, __u32 size, const void *from);
HELPER(113, long, bpf_probe_read_kernel, void *to, __u32 size, const void *from);
HELPER(114, long, bpf_probe_read_user_str, void *to, __u32 size, const void *from);
/* since 5.7 */
struct pidns_ids { /* struct bpf_pidns_info */
	__u32 pid;  /* thread */
	__u32 tgid; /* process */
};
HELPER(120, long, bpf_get_ns_current_pid_tgid, __u64 device, __u64 inode, struct pidns_ids *ids, __u32 size);
/* since 5.8 */
HELPER(130, long, bpf_ringbuf_output, void *ring, void *data, __u64 size, __u64 flags);
HELPER(131, void *, bpf_ringbuf_reserve, void *ring, __u64 size, __u64 flags);
HELPER(132, void, bpf_ringbuf_submit, void *record, __u64 flags);
HELPER(133, void, bpf_ringbuf_discard, void *record, __u64 flags);
HELPER(134, __u64, bpf_ringbuf_query, void *ring, __u64 flags);
/* since 5.15 */
HELPER(174, __u64, bpf_get_attach_cookie, void *ctx);

/*
 * The registers of the probed thread, as far as a program names one. (The arguments of a USDT probe are found by offsets
 * that user space computes.) Each machine has a struct pt_regs of its own, so a macro that is resolved by the compiler
 * would make an object for one machine. Here the loader says which machine runs, by the number that ELF headers have for
 * it (e_machine): 62 x86-64, 183 arm64, 243 riscv64, 22 s390x, 258 loongarch64. The number is a constant for the verifier,
 * which drops the other branches: one object for each byte order serves all machines.
 *
 * Loaders that don't know the name, such as libbpf, leave 0, and the registers are those of x86-64.
 *
 * Offsets: struct pt_regs, or user_pt_regs at its start, in the kernel's arch/.../include/.../asm/ptrace.h.
 */
extern const __u32 LINUX_ELF_MACHINE __weak __kconfig;

struct pt_regs;

/* In assembly, or the compiler would join the branches to one access at an offset in a register, which the verifier doesn't
 * allow for the context. */
#define REGS_READ(ctx, offset)                                                                                         \
	({                                                                                                             \
		__u64 _value;                                                                                          \
		asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(_value) : "r"(ctx), "i"(offset));                         \
		_value;                                                                                                \
	})

#define REGS_OF(ctx, x86_64, arm64, riscv64, s390x, loongarch64)                                                       \
	(LINUX_ELF_MACHINE == 183   ? REGS_READ(ctx, arm64)                                                            \
	 : LINUX_ELF_MACHINE == 243 ? REGS_READ(ctx, riscv64)                                                          \
	 : LINUX_ELF_MACHINE == 22  ? REGS_READ(ctx, s390x)                                                            \
	 : LINUX_ELF_MACHINE == 258 ? REGS_READ(ctx, loongarch64)                                                      \
				    : REGS_READ(ctx, x86_64))

#define REGS_IP(ctx)     REGS_OF(ctx, 128 /* ip */, 256 /* pc */, 0 /* epc */, 16 /* psw.addr */, 264 /* csr_era */)
#define REGS_SP(ctx)     REGS_OF(ctx, 152 /* sp */, 248 /* sp */, 16 /* sp */, 144 /* r15 */, 24 /* r3 */)
#define REGS_RETURN(ctx) REGS_OF(ctx, 80 /* ax */, 0 /* x0 */, 80 /* a0 */, 40 /* r2 */, 32 /* r4 */)
/* The first six arguments of a function; on s390x the sixth is on the stack, and r7, which is read, has another value. */
#define REGS_ARG1(ctx)   REGS_OF(ctx, 112 /* di */, 0 /* x0 */, 80 /* a0 */, 40 /* r2 */, 32 /* r4 */)
#define REGS_ARG2(ctx)   REGS_OF(ctx, 104 /* si */, 8 /* x1 */, 88 /* a1 */, 48 /* r3 */, 40 /* r5 */)
#define REGS_ARG3(ctx)   REGS_OF(ctx, 96 /* dx */, 16 /* x2 */, 96 /* a2 */, 56 /* r4 */, 48 /* r6 */)
#define REGS_ARG4(ctx)   REGS_OF(ctx, 88 /* cx */, 24 /* x3 */, 104 /* a3 */, 64 /* r5 */, 56 /* r7 */)
#define REGS_ARG5(ctx)   REGS_OF(ctx, 72 /* r8 */, 32 /* x4 */, 112 /* a4 */, 72 /* r6 */, 64 /* r8 */)
#define REGS_ARG6(ctx)   REGS_OF(ctx, 64 /* r9 */, 40 /* x5 */, 120 /* a5 */, 80 /* r7 */, 72 /* r9 */)

#endif
