/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * USDT from the side of the BPF program.
 *
 * A USDT site is a nop in the traced program with a note beside it that says where the arguments are
 * at that place, for instance "-4@-20(%rbp) 8@%rax". A probe may have many sites, each with a string
 * of its own. User space reads the note and turns it into a *spec*: twelve descriptions of how
 * to get a value. The specs lie in the array map __bpf_usdt_specs; the number of an element is
 * the spec ID. When a site is hit, the program finds out its spec ID and then acts on the spec:
 *
 *   spec ID  is the low half of the BPF cookie if the kernel has cookies (5.15). Else the hash map
 *            __bpf_usdt_ip_to_spec_id gives it by the address of the site. The loader sets which of the two
 *            in LINUX_HAS_BPF_COOKIE, a constant for the verifier, which drops the other branch. Where
 *            the address is in the context depends on the machine: see REGS_IP in helpers.h.
 *   value    of an argument with spec a, R(o) being the register at offset o of the context:
 *
 *     CONSTANT     a.val_off
 *     REGISTER     R(a.reg_off)
 *     DEREFERENCE  user memory at R(a.reg_off) + a.val_off
 *     SIB          user memory at R(a.reg_off) + (R(a.idx_reg_off) << a.scale_bitshift) + a.val_off
 *
 *                  The index is first cut to its size, as the value is: shift left by idx_bitshift and back right,
 *                  arithmetically if idx_signed. These two fields are in the room that libbpf leaves empty, and 0 there:
 *                  all 64 bits. bpf4j looks for their names in the BTF, and uses half of an index register (w0 of arm64's
 *                  x0) only where they are.
 *
 *            and then, but for CONSTANT, cut to the argument's size: shift left by arg_bitshift
 *            (64 - 8 * size) and back right, arithmetically if arg_signed.
 *
 * The names and layouts of the maps are an ABI shared with libbpf's usdt.bpf.h, so that either side
 * can be replaced. Two layouts of the spec are in use:
 *
 *   304 bytes  libbpf 1.7 and on: 12 arguments of 24 bytes. The default here.
 *   208 bytes  before: 12 arguments of 16 bytes, no SIB. With #define USDT_SPEC_208.
 *
 * User space must look at the value size of the map to know. The size of an argument is not in the spec,
 * but arg_bitshift tells it, so a dereference reads just that many bytes: reading 8 always, as libbpf
 * does, fails on the last bytes of a page whose neighbour is not there.
 */
#ifndef BPF4J_USDT_H
#define BPF4J_USDT_H

#include <bpf4j/helpers.h>

#ifndef USDT_MAX_SPECS
#define USDT_MAX_SPECS 256
#endif
#define USDT_MAX_ARGS 12

enum { USDT_CONSTANT = 0, USDT_REGISTER = 1, USDT_DEREFERENCE = 2, USDT_SIB = 3 };

#ifdef USDT_SPEC_208
struct __bpf_usdt_arg_spec {
	__u64 val_off;     /*  0 */
	__u32 arg_type;    /*  8 */
	__s16 reg_off;     /* 12 */
	bool arg_signed;   /* 14 */
	__s8 arg_bitshift; /* 15 */
};
#else
struct __bpf_usdt_arg_spec {
	__u64 val_off; /*  0 */
	/* libbpf turns the order of these around on big endian, so that the type is behind the bits. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	__u8 arg_type;                              /*  8 */
	__u16 idx_reg_off : 12, scale_bitshift : 4; /* 10 */
	__s8 idx_bitshift;                          /* 12 */
	bool idx_signed;                            /* 13 */
#else
	__s8 idx_bitshift;                          /*  8 */
	bool idx_signed;                            /*  9 */
	__u16 idx_reg_off : 12, scale_bitshift : 4; /* 10 */
	__u8 arg_type;                              /* 12 */
#endif
	__s16 reg_off;     /* 14 */
	bool arg_signed;   /* 16 */
	__s8 arg_bitshift; /* 17; 6 bytes of padding follow */
};
#endif

struct __bpf_usdt_spec {
	struct __bpf_usdt_arg_spec args[USDT_MAX_ARGS];
	__u64 usdt_cookie;
	__s16 arg_cnt;
};

#ifdef USDT_SPEC_208
_Static_assert(sizeof(struct __bpf_usdt_spec) == 208, "layout before libbpf 1.7");
#else
_Static_assert(sizeof(struct __bpf_usdt_spec) == 304, "layout since libbpf 1.7");
_Static_assert(__builtin_offsetof(struct __bpf_usdt_arg_spec, reg_off) == 14, "layout since libbpf 1.7");
_Static_assert(__builtin_offsetof(struct __bpf_usdt_arg_spec, arg_bitshift) == 17, "layout since libbpf 1.7");
#endif

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, USDT_MAX_SPECS);
	__type(key, int);
	__type(value, struct __bpf_usdt_spec);
} __bpf_usdt_specs __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, USDT_MAX_SPECS * 4);
	__type(key, __s64);
	__type(value, __u32);
} __bpf_usdt_ip_to_spec_id __weak SEC(".maps");

extern const bool LINUX_HAS_BPF_COOKIE __weak __kconfig;

#define USDT_ENOENT 2 /* no spec for this site, or no such argument */
#define USDT_EINVAL 22 /* an argument that user space marked as unreadable */

/* The spec of the site that was hit, or NULL. Look it up once and pass it on: it is two helper calls. */
static __always_inline struct __bpf_usdt_spec *usdt_spec(struct pt_regs *ctx)
{
	int id;

	if (LINUX_HAS_BPF_COOKIE) {
		id = (int)bpf_get_attach_cookie(ctx);
	} else {
		__s64 ip = REGS_IP(ctx);
		__u32 *found = bpf_map_lookup_elem(&__bpf_usdt_ip_to_spec_id, &ip);

		if (!found)
			return NULL;
		id = (int)*found;
	}
	return bpf_map_lookup_elem(&__bpf_usdt_specs, &id);
}

/*
 * The process that user space attached to, by its number in user space's pid namespace; 0 if user space attached to every
 * process, or if the kernel has no cookies. bpf4j passes it in the high half of the BPF cookie. is_other_process() of
 * pidns.h compares it with the process that the program runs in.
 */
static __always_inline __u32 usdt_process(struct pt_regs *ctx)
{
	return LINUX_HAS_BPF_COOKIE ? bpf_get_attach_cookie(ctx) >> 32 : 0;
}

/*
 * A register of the context. User space gives its offset, but the verifier allows loads from the context at constant offsets
 * only. So there is a load for each of the first 21 words, which are all that x86-64 has and most of the registers of the
 * other machines. The rest is read as kernel memory, which takes three calls.
 */
static __always_inline long usdt_register(struct pt_regs *ctx, long offset, __u64 *value)
{
	switch (offset) {
#define USDT_WORD(n)                              \
	case 8 * (n):                             \
		*value = REGS_READ(ctx, 8 * (n)); \
		return 0;
	USDT_WORD(0) USDT_WORD(1) USDT_WORD(2) USDT_WORD(3) USDT_WORD(4) USDT_WORD(5) USDT_WORD(6)
	USDT_WORD(7) USDT_WORD(8) USDT_WORD(9) USDT_WORD(10) USDT_WORD(11) USDT_WORD(12) USDT_WORD(13)
	USDT_WORD(14) USDT_WORD(15) USDT_WORD(16) USDT_WORD(17) USDT_WORD(18) USDT_WORD(19) USDT_WORD(20)
#undef USDT_WORD
	}
	return bpf_probe_read_kernel(value, sizeof(*value), (void *)ctx + offset);
}

/* User memory of as many bytes as the argument has: 1, 2, 4 or 8, right-aligned into 64 bits. */
static __always_inline long usdt_memory(const struct __bpf_usdt_arg_spec *arg, __u64 address, __u64 *value)
{
	const void *from = (const void *)address;
	long error;

	switch (arg->arg_bitshift) {
	case 32: {
		__u32 word = 0;
		error = bpf_probe_read_user(&word, sizeof(word), from);
		*value = word;
		return error;
	}
	case 48: {
		__u16 half = 0;
		error = bpf_probe_read_user(&half, sizeof(half), from);
		*value = half;
		return error;
	}
	case 56: {
		__u8 byte = 0;
		error = bpf_probe_read_user(&byte, sizeof(byte), from);
		*value = byte;
		return error;
	}
	default:
		return bpf_probe_read_user(value, sizeof(*value), from);
	}
}

/*
 * Argument n, counted from 0, extended to 64 bits. 0, or a negative errno with *value = 0:
 * -ENOENT where the site has no such argument, -EINVAL where user space marked it as unreadable,
 * -EFAULT where the memory isn't there (or is paged out: a probe can't wait for it).
 *
 * Not inlined: twelve copies would cost the verifier twelve times the work.
 */
static __noinline __unused long usdt_arg_of(struct pt_regs *ctx, struct __bpf_usdt_spec *spec, __u64 n,
					    __u64 *value)
{
	struct __bpf_usdt_arg_spec *arg;
	__u64 raw = 0;
	long error;

	*value = 0;
	if (!spec)
		return -USDT_ENOENT;
	/* The index is bounded on the very register that is used as one; the compiler likes to check a copy. */
	opaque(n);
	if (n >= USDT_MAX_ARGS)
		return -USDT_ENOENT;
	if ((__s64)n >= spec->arg_cnt)
		return -USDT_ENOENT;
	arg = &spec->args[n];

	if (arg->arg_type == USDT_CONSTANT) {
		*value = arg->val_off;
		return 0;
	}
	error = usdt_register(ctx, arg->reg_off, &raw);
	if (error)
		return error;
	switch (arg->arg_type) {
	case USDT_REGISTER:
		break;
	case USDT_DEREFERENCE:
		error = usdt_memory(arg, raw + arg->val_off, &raw);
		break;
#ifndef USDT_SPEC_208
	case USDT_SIB: {
		__u64 index = 0;

		error = bpf_probe_read_kernel(&index, sizeof(index), (void *)ctx + arg->idx_reg_off);
		index <<= arg->idx_bitshift & 63;
		index = arg->idx_signed ? (__u64)((__s64)index >> (arg->idx_bitshift & 63))
					: index >> (arg->idx_bitshift & 63);
		if (!error)
			error = usdt_memory(arg, raw + (index << arg->scale_bitshift) + arg->val_off, &raw);
		break;
	}
#endif
	default:
		return -USDT_EINVAL;
	}
	if (error)
		return error;

	raw <<= arg->arg_bitshift & 63;
	*value = arg->arg_signed ? (__u64)((__s64)raw >> (arg->arg_bitshift & 63)) : raw >> (arg->arg_bitshift & 63);
	return 0;
}

/* The number of arguments of the site that was hit, 0..12, or -ENOENT. */
static __always_inline int usdt_arg_count(struct pt_regs *ctx)
{
	struct __bpf_usdt_spec *spec = usdt_spec(ctx);

	return spec ? spec->arg_cnt : -USDT_ENOENT;
}

/* usdt_arg_of for a program that wants one argument. */
static __always_inline long usdt_arg(struct pt_regs *ctx, __u64 n, __u64 *value)
{
	return usdt_arg_of(ctx, usdt_spec(ctx), n, value);
}

/* The cookie that user space gave at attach, or 0. (The BPF cookie proper is taken by the spec ID.) */
static __always_inline __u64 usdt_cookie(struct pt_regs *ctx)
{
	struct __bpf_usdt_spec *spec = usdt_spec(ctx);

	return spec ? spec->usdt_cookie : 0;
}

#endif
