/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts context switches, for a reader without rights. */
#include <bpf4j/helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} switches SEC(".maps");

SEC("raw_tp/sched_switch")
int switched(void *ctx)
{
	__u32 first = 0;
	__u64 *count = bpf_map_lookup_elem(&switches, &first);

	if (count)
		atomic_add(count, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
