/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An event for each fork of one process. */
#include <bpf4j/pidns.h>
#include <fork.h>

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} events SEC(".maps");

const volatile __u32 process = 0;
struct fork *unused_fork __unused;

SEC("raw_tp/sched_process_fork")
int on_fork(void *ctx)
{
	struct fork fork = {};

	fork.process = current_ids().tgid;
	if (fork.process != process)
		return 0;
	bpf_get_current_comm(fork.comm, sizeof(fork.comm));
	bpf_ringbuf_output(&events, &fork, sizeof(fork), 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
