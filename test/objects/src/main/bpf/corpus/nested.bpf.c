/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Maps that hold maps or programs, filled when the object is loaded: slots in any order, slots left out, one
 * map in two slots, a hash of maps by number, programs in a table.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
};

struct inner first SEC(".maps"), second SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 5);
	__type(key, __u32);
	__array(values, struct inner);
} in_array SEC(".maps") = {
	.values = {
		[4] = &first,
		[1] = &second,
		[2] = &first,
	},
};

/* Slot n of the list becomes key n. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, 4);
	__type(key, __u32);
	__array(values, struct inner);
} in_hash SEC(".maps") = {
	.values = {
		[3] = &second,
		[0] = &first,
	},
};

/* The inner definition written in place; nothing in it at first. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u64);
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_HASH);
		__uint(map_flags, BPF_F_NO_PREALLOC);
		__uint(max_entries, 1);
		__type(key, __u64);
		__type(value, __u64);
	});
} empty SEC(".maps");

/* Arrays of different sizes, as the flag allows. */
struct flexible {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 7);
	__type(key, __u32);
	__type(value, __u64);
} seven SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct flexible);
} of_any_size SEC(".maps") = {
	.values = { (void *)&seven },
};

SEC("tc")
int array_of_maps(struct __sk_buff *skb)
{
	__u32 index = 0, key = 1;
	__u64 value = 77, *found;
	void *map;

	CHECK(!bpf_map_lookup_elem(&in_array, &index));
	index = 3;
	CHECK(!bpf_map_lookup_elem(&in_array, &index));
	index = 4;
	map = bpf_map_lookup_elem(&in_array, &index);
	CHECK(map);
	CHECK(!bpf_map_update_elem(map, &key, &value, BPF_ANY));
	index = 2;
	map = bpf_map_lookup_elem(&in_array, &index);
	CHECK(map);
	found = bpf_map_lookup_elem(map, &key);
	CHECK(found && *found == 77);
	found = bpf_map_lookup_elem(&first, &key);
	CHECK(found && *found == 77);
	index = 1;
	map = bpf_map_lookup_elem(&in_array, &index);
	CHECK(map);
	found = bpf_map_lookup_elem(map, &key);
	CHECK(found && *found == 0);
	return 0;
}

SEC("tc")
int hash_of_maps(struct __sk_buff *skb)
{
	__u32 key = 3, index = 0;
	__u64 value = 55, none = 0, *found;
	void *map;

	map = bpf_map_lookup_elem(&in_hash, &key);
	CHECK(map);
	CHECK(!bpf_map_update_elem(map, &index, &value, BPF_ANY));
	found = bpf_map_lookup_elem(&second, &index);
	CHECK(found && *found == 55);
	key = 0;
	CHECK(bpf_map_lookup_elem(&in_hash, &key));
	key = 1;
	CHECK(!bpf_map_lookup_elem(&in_hash, &key));
	CHECK(!bpf_map_lookup_elem(&empty, &none));
	return 0;
}

SEC("tc")
int array_of_any_size(struct __sk_buff *skb)
{
	__u32 index = 0, last = 6;
	void *map = bpf_map_lookup_elem(&of_any_size, &index);

	CHECK(map);
	CHECK(bpf_map_lookup_elem(map, &last));
	last = 7;
	CHECK(!bpf_map_lookup_elem(map, &last));
	return 0;
}

__u32 steps = 0;

SEC("tc")
int last_step(struct __sk_buff *skb)
{
	/* By itself it is the first. */
	CHECK(steps == 0 || steps == 2);
	steps = 0;
	return 0;
}

int middle_step(struct __sk_buff *skb);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__array(values, int(struct __sk_buff *));
} programs SEC(".maps") = {
	.values = {
		[3] = (void *)&last_step,
		[1] = (void *)&middle_step,
	},
};

SEC("tc")
int middle_step(struct __sk_buff *skb)
{
	/* By itself it comes without the first. */
	steps = 2;
	bpf_tail_call(skb, &programs, 3);
	return __LINE__;
}

static __noinline int jump(struct __sk_buff *skb, __u32 to)
{
	int line = __LINE__;

	bpf_tail_call(skb, &programs, to);
	opaque(line);
	return line;
}

SEC("tc")
int prog_array(struct __sk_buff *skb)
{
	steps = 1;
	bpf_tail_call(skb, &programs, 0); /* nothing there: goes on */
	bpf_tail_call(skb, &programs, 4); /* beyond the end: goes on */
	bpf_tail_call(skb, &programs, 1);
	return __LINE__;
}

/* A tail call in a subprogram ends that one only: what it gives is what the subprogram returns. */
SEC("tc")
int tail_call_in_subprogram(struct __sk_buff *skb)
{
	steps = 1;
	CHECK(jump(skb, 2) != 0); /* nothing there */
	CHECK(jump(skb, 1) == 0);
	return 0;
}
