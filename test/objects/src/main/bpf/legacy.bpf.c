/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Maps as objects defined them before BTF: plain structs in the section "maps". libbpf refuses them
 * since 1.0; the objects are still around. The second map is annotated, which gives its types away.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct bpf_map_def {
	__u32 type;
	__u32 key_size;
	__u32 value_size;
	__u32 max_entries;
	__u32 map_flags;
};

struct bpf_map_def SEC("maps") old_array = {
	.type = BPF_MAP_TYPE_ARRAY,
	.key_size = sizeof(__u32),
	.value_size = sizeof(__u64),
	.max_entries = 4,
};

struct bpf_map_def SEC("maps") old_hash = {
	.type = BPF_MAP_TYPE_HASH,
	.key_size = sizeof(__u32),
	.value_size = sizeof(__u64),
	.max_entries = 16,
	.map_flags = 1, /* BPF_F_NO_PREALLOC */
};

struct ____btf_map_old_hash {
	__u32 key;
	__u64 value;
};

/* Keeps the annotation's BTF. */
struct ____btf_map_old_hash ____btf_map_old_hash SEC(".maps.old_hash") = {};

struct __sk_buff;

/* Copies element 1 of the array into the hash, and returns it. */
SEC("socket")
int copy(struct __sk_buff *skb)
{
	__u32 key = 1;
	__u64 *from = bpf_map_lookup_elem(&old_array, &key);
	__u64 value;

	if (!from)
		return -1;
	value = *from;
	if (bpf_map_update_elem(&old_hash, &key, &value, BPF_ANY))
		return -2;
	return value;
}
