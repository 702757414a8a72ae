/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs for what happens on the machine: attached, and it happens. */
#include <bpf4j/corpus.h>
#include <bpf4j/core.h>
#include <bpf4j/pidns.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

REPORTS

/* For a check that holds in this process alone. */
const volatile __u32 target_tgid = 0;

struct task_struct {
	int pid;
	int tgid;
} __core;

/* A function of the C library, so that it works where the kernel has no kprobes; the type is the same. */
SEC("uprobe/libc.so.6:fdopendir")
int function(struct pt_regs *ctx)
{
	return report(REGS_IP(ctx) ? 0 : __LINE__, 0);
}

SEC("tp/sched/sched_switch")
int at_tracepoint(void *ctx)
{
	return report(0, 0);
}

SEC("tracepoint/syscalls/sys_enter_openat")
int system_call(__u64 *ctx)
{
	/* Another process may give no name, to see the call refused. */
	if (current_ids().tgid != target_tgid)
		return 0;
	/* 8 bytes common to all tracepoints, 8 for the number: then the arguments. */
	return report(ctx[3] ? 0 : __LINE__, 0);
}

SEC("raw_tp/sys_enter")
int at_raw_tracepoint(__u64 *ctx)
{
	/* pt_regs, number; the test gives two zeroes */
	return report(ctx[1] ? __LINE__ : 0, 0);
}

SEC("raw_tracepoint/sched_switch")
int raw_tracepoint_by_its_long_name(__u64 *ctx)
{
	return report(0, 0);
}

SEC("perf_event")
int clock(struct pt_regs *ctx)
{
	return report(REGS_IP(ctx) ? 0 : __LINE__, 0);
}

SEC("tp_btf/sched_switch")
int typed_tracepoint(__u64 *ctx)
{
	struct task_struct *previous = (void *)ctx[1], *next = (void *)ctx[2];

	/* Of this processor's two tasks at most one is the idle one. */
	return report(previous->pid || next->pid ? 0 : __LINE__, 0);
}

struct bpf_iter__task {
	struct task_struct *task;
} __core;

SEC("iter/task")
int each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	return report(!task || task->tgid ? 0 : __LINE__, 0);
}

SEC("iter.s/task")
int each_task_sleeping(struct bpf_iter__task *ctx)
{
	return report(0, 0);
}
