/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Hash maps: plain, per CPU, and those that forget what was used least recently. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct key {
	__u32 number;
	__u8 kind;
	__u8 padding[3];
};

struct value {
	__u64 sum;
	__u16 small;
};

/* Two definitions of one struct, and a map whose struct has a name. */
struct hash_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, struct key);
	__type(value, struct value);
} hash SEC(".maps"), other_hash SEC(".maps");

/* Sizes without types, and elements that are made when they are put. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 2);
	__uint(key_size, sizeof(struct key));
	__uint(value_size, sizeof(__u64));
} sized SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} per_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} lru SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} lru_per_cpu SEC(".maps");

SEC("tc")
int hash_map(struct __sk_buff *skb)
{
	struct key key = {.number = 1, .kind = 2};
	struct value value = {.sum = 3, .small = 4}, *found;

	CHECK(!bpf_map_lookup_elem(&hash, &key));
	CHECK((int)bpf_map_delete_elem(&hash, &key) == -ENOENT);
	CHECK((int)bpf_map_update_elem(&hash, &key, &value, BPF_EXIST) == -ENOENT);
	CHECK(!bpf_map_update_elem(&hash, &key, &value, BPF_NOEXIST));
	CHECK((int)bpf_map_update_elem(&hash, &key, &value, BPF_NOEXIST) == -EEXIST);
	found = bpf_map_lookup_elem(&hash, &key);
	CHECK(found);
	CHECK(found->sum == 3);
	CHECK(found->small == 4);
	found->sum += 10;
	found = bpf_map_lookup_elem(&hash, &key);
	CHECK(found && found->sum == 13);
	CHECK(!bpf_map_lookup_elem(&other_hash, &key));
	CHECK(!bpf_map_delete_elem(&hash, &key));
	CHECK(!bpf_map_lookup_elem(&hash, &key));
	return 0;
}

SEC("tc")
int full_hash_map(struct __sk_buff *skb)
{
	struct key key = {};
	__u64 value = 7, *found;

	CHECK(!bpf_map_update_elem(&sized, &key, &value, BPF_ANY));
	key.number = 1;
	CHECK(!bpf_map_update_elem(&sized, &key, &value, BPF_ANY));
	key.kind = 1;
	CHECK((int)bpf_map_update_elem(&sized, &key, &value, BPF_ANY) == -E2BIG);
	key.kind = 0;
	found = bpf_map_lookup_elem(&sized, &key);
	CHECK(found && *found == 7);
	CHECK(!bpf_map_delete_elem(&sized, &key));
	key.number = 0;
	CHECK(!bpf_map_delete_elem(&sized, &key));
	return 0;
}

SEC("tc")
int percpu_hash_map(struct __sk_buff *skb)
{
	__u32 key = 5;
	__u64 value = 11, *found;

	CHECK(!bpf_map_update_elem(&per_cpu, &key, &value, BPF_ANY));
	found = bpf_map_lookup_elem(&per_cpu, &key);
	CHECK(found && *found == 11);
	*found += 1;
	found = bpf_map_lookup_elem(&per_cpu, &key);
	CHECK(found && *found == 12);
	CHECK(!bpf_map_delete_elem(&per_cpu, &key));
	return 0;
}

SEC("tc")
int lru_hash_map(struct __sk_buff *skb)
{
	__u64 *found;
	__u32 key;

	/* Four times what it holds: it takes them all, and never says that it is full. */
	for (__u32 i = 0; i < 256; i++) {
		__u64 value = i;

		key = i;
		CHECK(!bpf_map_update_elem(&lru, &key, &value, BPF_NOEXIST));
		found = bpf_map_lookup_elem(&lru, &key);
		CHECK(found && *found == i);
	}
	key = 0;
	CHECK(!bpf_map_lookup_elem(&lru, &key));
	return 0;
}

SEC("tc")
int lru_percpu_hash_map(struct __sk_buff *skb)
{
	__u64 *found;
	__u32 key;

	for (__u32 i = 0; i < 256; i++) {
		__u64 value = i;

		key = i;
		CHECK(!bpf_map_update_elem(&lru_per_cpu, &key, &value, BPF_NOEXIST));
	}
	key = 255;
	found = bpf_map_lookup_elem(&lru_per_cpu, &key);
	CHECK(found && *found == 255);
	return 0;
}
