/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A lock in the value of a map that is in a map, and one in global data. Linux 6.2. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct guarded {
	__u32 left, right;
	struct bpf_spin_lock lock;
};

struct guarded_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct guarded);
} guarded SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct guarded_map);
} guarded_maps SEC(".maps") = {
	.values = { &guarded },
};

SEC("tc")
int spin_lock(struct __sk_buff *skb)
{
	struct guarded initial = {.left = 1}, *value;
	__u32 slot = 0, key = 1;
	void *map = bpf_map_lookup_elem(&guarded_maps, &slot);

	CHECK(map);
	CHECK(!bpf_map_update_elem(map, &key, &initial, BPF_ANY));
	value = bpf_map_lookup_elem(map, &key);
	CHECK(value);
	bpf_spin_lock(&value->lock);
	value->left += 1;
	value->right = value->left + 1;
	bpf_spin_unlock(&value->lock);
	CHECK(value->left == 2 && value->right == 3);
	return 0;
}

/* One in global data: its section is kept apart, since user space can't map what holds a lock. */
private(lock) struct bpf_spin_lock global_lock;
private(lock) __u32 under_lock = 0;

SEC("tc")
int global_spin_lock(struct __sk_buff *skb)
{
	bpf_spin_lock(&global_lock);
	under_lock += 1;
	bpf_spin_unlock(&global_lock);
	CHECK(under_lock >= 1);
	return 0;
}
