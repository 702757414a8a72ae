/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The garbage collections of a JVM by its USDT probes hotspot:gc__begin(full) and hotspot:gc__end(). */
#include <bpf4j/usdt.h>

struct pause {
	__u64 duration_ns;
	__u32 thread;
	bool full;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} pauses SEC(".maps");

struct pause running;

SEC("usdt")
int gc_begin(struct pt_regs *ctx)
{
	__u64 full = 0;

	usdt_arg(ctx, 0, &full);
	running.duration_ns = -bpf_ktime_get_ns();
	running.thread = bpf_get_current_pid_tgid();
	running.full = full;
	return 0;
}

SEC("usdt")
int gc_end(struct pt_regs *ctx)
{
	running.duration_ns += bpf_ktime_get_ns();
	bpf_ringbuf_output(&pauses, &running, sizeof(running), 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
