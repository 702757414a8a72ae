/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions: static and global, weak and hidden, called by each other, by several programs of one section and
 * by the kernel; and the loops that call them.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Static: the verifier goes into it from each caller. */
static __noinline long square(long number)
{
	opaque(number);
	return number * number;
}

static __noinline long sum_of_squares(long left, long right)
{
	return square(left) + square(right);
}

/* Global: verified once, by itself, for whatever it may be given. */
__noinline int twice(int number)
{
	return number * 2;
}

__weak __noinline int weak_answer(void)
{
	return 42;
}

__hidden __noinline int hidden_answer(int number)
{
	/* a global function that calls a static one and a global one */
	return twice(number) + square(number);
}

struct pair {
	__u32 first, second;
};

/*
 * Hidden: for the verifier as good as static. It knows from the caller that the pointer is not NULL, which of a
 * global function it would not.
 */
__hidden __noinline int hidden_difference(struct pair *pair)
{
	return pair->second - pair->first;
}

/* A pointer may be NULL, so it has to look. */
__noinline int sum_of_pair(struct pair *pair)
{
	return pair ? pair->first + pair->second : -1;
}

SEC("tc")
int calls(struct __sk_buff *skb)
{
	struct pair pair = {3, 4};

	CHECK(sum_of_squares(3, 4) == 25);
	CHECK(twice(21) == 42);
	CHECK(weak_answer() == 42);
	CHECK(hidden_answer(3) == 15);
	CHECK(sum_of_pair(&pair) == 7);
	CHECK(hidden_difference(&pair) == 1);
	return 0;
}

/* The same section, other functions of it, in another order. */
SEC("tc")
int other_calls(struct __sk_buff *skb)
{
	CHECK(square(5) == 25);
	CHECK(weak_answer() == 42);
	return 0;
}

/* Not loaded unless asked for. */
SEC("?tc")
int optional_calls(struct __sk_buff *skb)
{
	CHECK(twice(4) == 8);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} numbers SEC(".maps");

static long add_element(void *map, const __u32 *key, __u64 *value, __u64 *sum)
{
	/* A callback that calls. */
	*sum += square(*key) + *value;
	return 0;
}

static long add_round(__u32 round, __u64 *sum)
{
	*sum += round;
	return *sum > 100; /* enough */
}

SEC("tc")
int callbacks(struct __sk_buff *skb)
{
	__u64 sum = 0;

	CHECK(bpf_for_each_map_elem(&numbers, add_element, &sum, 0) == 4);
	CHECK(sum == 0 + 1 + 4 + 9);
	sum = 0;
	CHECK(bpf_loop(5, add_round, &sum, 0) == 5);
	CHECK(sum == 10);
	sum = 0;
	CHECK(bpf_loop(1000, add_round, &sum, 0) == 15);
	CHECK(sum == 105);
	return 0;
}

static long nested(__u32 round, __u64 *sum)
{
	bpf_loop(round, add_round, sum, 0);
	return 0;
}

/* A callback within a callback, from a subprogram. */
static __noinline int loop_in_loop(__u64 *sum)
{
	return bpf_loop(4, nested, sum, 0);
}

SEC("tc")
int nested_callbacks(struct __sk_buff *skb)
{
	__u64 sum = 0;

	CHECK(loop_in_loop(&sum) == 4);
	CHECK(sum == 0 + 0 + 1 + 3);
	return 0;
}
