/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arrays: plain, mapped, per CPU; and longest prefixes, which are no array but as simple. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 3);
	__type(key, int);
	__type(value, __u64);
} array SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_NUMA_NODE);
	__uint(numa_node, 0);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, char[24]);
} mapped SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} per_cpu SEC(".maps");

struct prefix {
	__u32 length;
	__u8 address[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8);
	__type(key, struct prefix);
	__type(value, __u32);
} prefixes SEC(".maps");

SEC("tc")
int array_map(struct __sk_buff *skb)
{
	__u64 value = 9, *found;
	int index = 2;

	CHECK(!bpf_map_update_elem(&array, &index, &value, BPF_ANY));
	CHECK((int)bpf_map_update_elem(&array, &index, &value, BPF_NOEXIST) == -EEXIST);
	CHECK((int)bpf_map_delete_elem(&array, &index) == -EINVAL);
	found = bpf_map_lookup_elem(&array, &index);
	CHECK(found && *found == 9);
	index = 3;
	CHECK(!bpf_map_lookup_elem(&array, &index));
	CHECK((int)bpf_map_update_elem(&array, &index, &value, BPF_ANY) == -E2BIG);
	return 0;
}

SEC("tc")
int mapped_array(struct __sk_buff *skb)
{
	__u32 index = 0;
	char *found = bpf_map_lookup_elem(&mapped, &index);

	CHECK(found);
	found[23] = 1;
	found = bpf_map_lookup_elem(&mapped, &index);
	CHECK(found && found[23] == 1 && found[0] == 0);
	return 0;
}

SEC("tc")
int percpu_array_map(struct __sk_buff *skb)
{
	__u32 index = 1;
	__u64 value = 20, *found;

	CHECK(!bpf_map_update_elem(&per_cpu, &index, &value, BPF_ANY));
	found = bpf_map_lookup_elem(&per_cpu, &index);
	CHECK(found && *found == 20);
	/* The same from outside of the processor; processor 65535 is none. */
	found = bpf_map_lookup_percpu_elem(&per_cpu, &index, bpf_get_smp_processor_id());
	CHECK(found && *found == 20);
	CHECK(!bpf_map_lookup_percpu_elem(&per_cpu, &index, 65535));
	index = 2;
	CHECK(!bpf_map_lookup_elem(&per_cpu, &index));
	return 0;
}

SEC("tc")
int lpm_trie_map(struct __sk_buff *skb)
{
	struct prefix ten = {8, {10}}, narrow = {24, {10, 1, 2}}, address = {32, {10, 1, 2, 3}};
	__u32 value = 8, *found;

	CHECK(!bpf_map_update_elem(&prefixes, &ten, &value, BPF_ANY));
	value = 24;
	CHECK(!bpf_map_update_elem(&prefixes, &narrow, &value, BPF_ANY));
	found = bpf_map_lookup_elem(&prefixes, &address);
	CHECK(found && *found == 24);
	address.address[2] = 9;
	found = bpf_map_lookup_elem(&prefixes, &address);
	CHECK(found && *found == 8);
	address.address[0] = 11;
	CHECK(!bpf_map_lookup_elem(&prefixes, &address));
	CHECK(!bpf_map_delete_elem(&prefixes, &ten));
	CHECK(!bpf_map_delete_elem(&prefixes, &narrow));
	return 0;
}
