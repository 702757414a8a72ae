/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What else an object file can say: maps in a map and programs in a map with values from the start,
 * sizes without types, several maps of one struct, two programs in one section, one that loads only
 * if asked for, a callback, and kernel symbols that no kernel has and the program can do without.
 *
 * `forms` ends in a tail call of `tail`, which returns 7; else it returns the line that failed.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define __ksym __attribute__((section(".ksyms")))

enum {
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
};

HELPER(12, long, bpf_tail_call, void *ctx, void *programs, __u32 index);
/* since 5.17 */
HELPER(181, long, bpf_loop, __u32 rounds, void *callback, void *context, __u64 flags);

extern const void bpf4j_no_such_symbol __ksym __weak;
extern const int bpf4j_no_such_variable __ksym __weak;
extern int bpf4j_no_such_function(int value) __ksym __weak;

struct inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
};

struct inner first_inner SEC(".maps"), second_inner SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 4);
	__type(key, __u32);
	__array(values, struct inner);
} outer SEC(".maps") = {
	.values = { [1] = &first_inner, [3] = &second_inner },
};

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16);
	__uint(key_size, 4);
	__uint(value_size, 127 * 8);
} stacks SEC(".maps");

SEC("socket")
int tail(void *ctx)
{
	return 7;
}

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 3);
	__uint(key_size, 4);
	__array(values, int(void *));
} tails SEC(".maps") = {
	.values = { [2] = (void *)&tail },
};

SEC("socket")
int forms(void *ctx)
{
	__u32 empty = 0, slot = 3, zero = 0;
	__u64 *value;
	void *map;

	if (bpf_map_lookup_elem(&outer, &empty))
		return __LINE__;
	map = bpf_map_lookup_elem(&outer, &slot);
	if (!map)
		return __LINE__;
	value = bpf_map_lookup_elem(map, &zero);
	if (!value)
		return __LINE__;
	*value += 1;
	if (&bpf4j_no_such_symbol)
		return __LINE__;
	if (&bpf4j_no_such_variable)
		return __LINE__;
	if (bpf4j_no_such_function && bpf4j_no_such_function(1))
		return __LINE__;
	bpf_tail_call(ctx, &tails, 2);
	return __LINE__;
}

static long add_round(__u32 round, __u64 *sum)
{
	*sum += round;
	return 0;
}

SEC("?socket")
int callback(void *ctx)
{
	__u64 sum = 0;

	bpf_loop(5, add_round, &sum, 0);
	return sum;
}
