/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls between functions, as the loader has to link them: into .text and within it, one callee from
 * two programs in two sections, a callee that uses a map and global data, a weak hidden and a global
 * function, five arguments, and three levels deep.
 */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} called SEC(".maps");

const volatile __u64 factor = 3;

static __noinline __u64 leaf(__u64 value)
{
	opaque(value);
	return value * factor;
}

static __noinline __u64 note(__u32 which, __u64 value)
{
	__u64 *slot = bpf_map_lookup_elem(&called, &which);

	if (slot)
		atomic_add(slot, 1);
	return leaf(value) + 1;
}

__weak __hidden __noinline __u64 weak_sum(__u64 a, __u64 b, __u64 c, __u64 d, __u64 e)
{
	opaque(a);
	return a + 10 * b + 100 * c + 1000 * d + note(2, e);
}

/* Not static and not hidden: the verifier checks it once, for any argument. */
__noinline int global_function(__u32 value)
{
	opaque(value);
	return value & 0xff;
}

static __noinline int local_to_section(int value)
{
	opaque(value);
	return value + 1;
}

SEC("uprobe")
int first(struct pt_regs *ctx)
{
	if (!is_target())
		return 0;
	CHECK(note(0, 5) == 16);
	CHECK(weak_sum(1, 2, 3, 4, 5) == 4321 + 16);
	CHECK(global_function(0x1234) == 0x34);
	CHECK(local_to_section(41) == 42);
	atomic_add(&runs, 1);
	return 0;
}

SEC("uprobe.multi")
int second(struct pt_regs *ctx)
{
	if (!is_target())
		return 0;
	CHECK(note(1, 7) == 22);
	CHECK(leaf(2) == 6);
	atomic_add(&runs, 1);
	return 0;
}
