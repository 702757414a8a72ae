/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A map that asks to be pinned under its name, so that everyone who loads this object counts in the
 * same one, and a map that does not ask.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { LIBBPF_PIN_BY_NAME = 1 };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, __u64);
} shared SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} own SEC(".maps");

SEC("socket")
int count(void *ctx)
{
	__u32 key = 0;
	__u64 one = 1;
	__u64 *value = bpf_map_lookup_elem(&shared, &key);

	if (value)
		*value += 1;
	else
		bpf_map_update_elem(&shared, &key, &one, BPF_ANY);
	value = bpf_map_lookup_elem(&own, &key);
	if (value)
		*value += 1;
	return 0;
}
