/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A lock in a map's value. The kernel finds it by the BTF of the value; so the map can't be made without that. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct guarded {
	struct bpf_spin_lock lock;
	__u32 left, right;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct guarded);
} guarded SEC(".maps");

SEC("tc")
int spin_lock(struct __sk_buff *skb)
{
	struct guarded initial = {.left = 1}, *value;
	__u32 key = 1;

	bpf_map_update_elem(&guarded, &key, &initial, BPF_ANY);
	value = bpf_map_lookup_elem(&guarded, &key);
	CHECK(value);
	bpf_spin_lock(&value->lock);
	value->left += 1;
	value->right = value->left + 1;
	bpf_spin_unlock(&value->lock);
	CHECK(value->left == 2 && value->right == 3);
	return 0;
}
