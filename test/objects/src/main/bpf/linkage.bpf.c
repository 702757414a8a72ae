/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What linkage and visibility mean to a loader. A section of hidden variables is the program's own, and
 * not mapped into user space: that is where a lock belongs, since the kernel lets nobody map it. Weak maps,
 * variables and functions that are defined are as good as others. And an array at the end of a section,
 * which the loader may make longer than the compiler knew it.
 *
 * Each program returns the line that failed, or 0.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct bpf_spin_lock {
	__u32 val;
};

HELPER(93, long, bpf_spin_lock, struct bpf_spin_lock *lock);
HELPER(94, long, bpf_spin_unlock, struct bpf_spin_lock *lock);

struct __sk_buff;

/* The kernel knows a lock by the name of its type. */
struct bpf_spin_lock lock SEC(".data.locked") __hidden;
__u64 guarded SEC(".data.locked") __hidden = 40;

static volatile __u32 of_no_one = 3; /* .data, with the next one */
__u32 of_everyone = 4;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} weak_map SEC(".maps") __weak;

__weak __u32 weak_variable = 5;

__weak __noinline int weak_function(int number)
{
	return number * 2;
}

/* Verified with what its callers give it: a pointer that is not null. */
__weak __hidden __noinline __u64 behind(__u64 *pointer)
{
	return *pointer;
}

const volatile __u32 sample_count = 1;
__u32 samples[1] SEC(".data.samples");

/* No program reads it; bpftool prog show prints it for all of them. */
const char bpf_metadata_purpose[] SEC(".rodata") = "linkage and visibility";

SEC("tc")
int linkage(struct __sk_buff *skb)
{
	__u32 zero = 0;
	__u64 *value = bpf_map_lookup_elem(&weak_map, &zero);

	if (!value)
		return __LINE__;
	*value = 7;
	if (behind(value) != 7)
		return __LINE__;
	if (of_no_one != 3 || of_everyone != 4 || weak_variable != 5)
		return __LINE__;
	return weak_function(21) == 42 ? 0 : __LINE__;
}

/* since 6.2: locks were in structs only before (kernel commit d0d78c1df9b1) */
SEC("?tc")
int locked(struct __sk_buff *skb)
{
	__u64 seen;

	bpf_spin_lock(&lock);
	guarded += 2;
	seen = guarded;
	bpf_spin_unlock(&lock);
	return seen == 42 ? 0 : __LINE__;
}

SEC("tc")
int fill(struct __sk_buff *skb)
{
	__u32 *all = samples;

	/* The compiler may take it that there is one. */
	opaque(all);
	for (__u32 i = 0; i < sample_count && i < 100; i++)
		all[i] = i + 1;
	return 0;
}
