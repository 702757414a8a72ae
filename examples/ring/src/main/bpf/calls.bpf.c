/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* System calls of one process that fail: an event for each, and a count for each error. */
#include <bpf4j/pidns.h>

struct failure {
	__s32 error; /* errno */
	__u32 thread;
	char comm[16]; /* the thread's name */
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} failures SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __s32);
	__type(value, __u64);
} counts SEC(".maps");

const volatile __u32 process = 0; /* set before the load */
struct failure *unused_failure __unused;

SEC("raw_tp/sys_exit") /* struct pt_regs *regs, long result */
int failed(__u64 *ctx)
{
	struct pidns_ids ids = current_ids(); /* as user space knows them, also in a container */
	struct failure failure = {.error = -ctx[1], .thread = ids.pid};
	__u64 one = 1, *count;

	if (ids.tgid != process || failure.error <= 0 || failure.error > 4095)
		return 0;
	count = bpf_map_lookup_elem(&counts, &failure.error);
	if (count)
		atomic_add(count, 1);
	else
		bpf_map_update_elem(&counts, &failure.error, &one, BPF_NOEXIST);
	bpf_get_current_comm(failure.comm, sizeof(failure.comm));
	bpf_ringbuf_output(&failures, &failure, sizeof(failure), 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
