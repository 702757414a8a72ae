/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How often each program is started, on the whole machine. */
#include <bpf4j/helpers.h>

struct name {
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct name);
	__type(value, __u64);
} execs SEC(".maps");

SEC("raw_tp/sched_process_exec")
int started(void *ctx)
{
	struct name name = {};
	__u64 one = 1, *count;

	bpf_get_current_comm(&name, sizeof(name));
	count = bpf_map_lookup_elem(&execs, &name);
	if (count)
		atomic_add(count, 1);
	else
		bpf_map_update_elem(&execs, &name, &one, BPF_NOEXIST);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
