/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One program for each thing that a verifier says to a person who writes programs, and two that it accepts after a lot
 * of work. All are optional, so that a test loads one at a time. Socket filters, since every kernel takes those.
 */
#include <bpf4j/core.h>
#include <bpf4j/helpers.h>

#define __ksym __attribute__((section(".ksyms")))

char LICENSE[] SEC("license") = "Dual BSD/GPL";

HELPER(7, __u32, bpf_get_prandom_u32, void);
HELPER(58, long, bpf_override_return, void *ctx, __u64 result);
HELPER(9999, long, helper_of_tomorrow, void);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64[4]);
} values SEC(".maps");

struct task_struct___bpf4j {
	int no_such_member;
} __core;

struct no_such_type___bpf4j {
	int member;
} __core;

extern int bpf4j_no_such_function(int value) __ksym __weak;
extern const int bpf4j_no_such_variable __ksym __weak;

static __always_inline __u64 *first_value(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&values, &key);
}

/* The result of a lookup, not compared with NULL. */
SEC("?socket")
int null_pointer(void *ctx)
{
	*first_value() = 1;
	return 0;
}

/* An index that may be anything. */
SEC("?socket")
int beyond_the_end(void *ctx)
{
	__u64 *value = first_value();
	__u32 index = bpf_get_prandom_u32();

	if (!value)
		return 0;
	return value[index];
}

/* A number taken for an address. */
SEC("?socket")
int no_pointer(void *ctx)
{
	__u64 *pointer = (__u64 *)bpf_ktime_get_ns();

	return *pointer;
}

/* Nothing that the verifier could follow ever ends this. */
SEC("?socket")
int endless(void *ctx)
{
	__u32 count = 0;

	while (bpf_get_prandom_u32() != 7)
		count = 0;
	return count;
}

/* Ends, after more instructions than the verifier follows. */
SEC("?socket")
int too_long(void *ctx)
{
	__u32 sum = 0;

	for (__u32 i = 0; i < 1000000; i++) {
		sum += i;
		opaque(sum);
	}
	return sum;
}

/* A helper with a number that no kernel gave out. */
SEC("?socket")
int unknown_helper(void *ctx)
{
	return helper_of_tomorrow();
}

/* A helper that is for tracing. */
SEC("?socket")
int foreign_helper(void *ctx)
{
	return bpf_override_return(ctx, 0);
}

/* A member that the kernel's struct does not have. */
SEC("?socket")
int missing_member(void *ctx)
{
	struct task_struct___bpf4j *task = 0;

	return core_field_offset(task->no_such_member) + 1;
}

static __noinline int size_of_missing_type(void)
{
	return core_type_size(struct no_such_type___bpf4j) + core_field_offset(core_field(struct no_such_type___bpf4j, member));
}

/* The same in a subprogram. */
SEC("?socket")
int missing_type(void *ctx)
{
	return size_of_missing_type() + size_of_missing_type();
}

/* A function of the kernel that is not there, called without a look whether it is. */
SEC("?socket")
int missing_function(void *ctx)
{
	return bpf4j_no_such_function(1);
}

/* A variable of the kernel that is not there: its address is 0. */
SEC("?socket")
int missing_variable(void *ctx)
{
	return bpf4j_no_such_variable;
}

static __noinline __u32 deeper(__u32 number)
{
	__u32 stack[80];

	for (int i = 0; i < 80; i++)
		((volatile __u32 *)stack)[i] = number;
	return ((volatile __u32 *)stack)[number & 63];
}

/* More stack than there is, in two functions. */
SEC("?socket")
int deep(void *ctx)
{
	__u32 stack[80];

	for (int i = 0; i < 80; i++)
		((volatile __u32 *)stack)[i] = i;
	return deeper(((volatile __u32 *)stack)[bpf_get_prandom_u32() & 63]);
}

/* Accepted, after many paths: each bit of a number that is not known is looked at, and none is forgotten. */
SEC("?socket")
int many_paths(void *ctx)
{
	__u32 number = bpf_get_prandom_u32();
	__u32 sum = 0;

#pragma unroll
	for (int i = 0; i < 15; i++) {
		if (number & (1u << i))
			sum = sum * 3 + i;
		opaque(sum);
	}
	return sum > 5;
}

/* Accepted at once. */
SEC("?socket")
int short_and_good(void *ctx)
{
	return 0;
}

/* Refused at the end of a path that is so long that its log is of many megabytes. */
SEC("?socket")
int long_way(void *ctx)
{
	__u32 sum = 0;

	for (__u32 i = 0; i < 150000; i++) {
		sum += i;
		opaque(sum);
	}
	*first_value() = sum;
	return 0;
}
