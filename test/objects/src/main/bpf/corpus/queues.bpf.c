/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Maps without keys: first in first out, last in first out, and a filter that knows what it never saw. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 2);
	__type(value, __u32);
} queue SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 2);
	__uint(key_size, 0);
	__uint(value_size, 4);
} stack SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(max_entries, 100);
	__uint(map_extra, 3); /* hash functions */
	__type(value, __u64);
} filter SEC(".maps");

SEC("tc")
int queue_map(struct __sk_buff *skb)
{
	__u32 value = 1;

	CHECK((int)bpf_map_pop_elem(&queue, &value) == -ENOENT);
	value = 1;
	CHECK(!bpf_map_push_elem(&queue, &value, 0));
	value = 2;
	CHECK(!bpf_map_push_elem(&queue, &value, 0));
	CHECK((int)bpf_map_push_elem(&queue, &value, 0) == -E2BIG);
	value = 3;
	CHECK(!bpf_map_push_elem(&queue, &value, BPF_EXIST)); /* in place of the oldest */
	CHECK(!bpf_map_peek_elem(&queue, &value));
	CHECK(value == 2);
	CHECK(!bpf_map_pop_elem(&queue, &value));
	CHECK(value == 2);
	CHECK(!bpf_map_pop_elem(&queue, &value));
	CHECK(value == 3);
	CHECK((int)bpf_map_pop_elem(&queue, &value) == -ENOENT);
	return 0;
}

SEC("tc")
int stack_map(struct __sk_buff *skb)
{
	__u32 value = 1;

	CHECK(!bpf_map_push_elem(&stack, &value, 0));
	value = 2;
	CHECK(!bpf_map_push_elem(&stack, &value, 0));
	CHECK(!bpf_map_peek_elem(&stack, &value));
	CHECK(value == 2);
	CHECK(!bpf_map_pop_elem(&stack, &value));
	CHECK(value == 2);
	CHECK(!bpf_map_pop_elem(&stack, &value));
	CHECK(value == 1);
	CHECK((int)bpf_map_peek_elem(&stack, &value) == -ENOENT);
	return 0;
}

/* Not on the stack: the verifier of Linux 7.2 thinks of a peek as a write, and has forgotten the value by then. */
__u64 known = 1234567;

SEC("tc")
int bloom_filter(struct __sk_buff *skb)
{
	CHECK(!bpf_map_push_elem(&filter, &known, BPF_ANY));
	CHECK(!bpf_map_peek_elem(&filter, &known));
	return 0;
}
