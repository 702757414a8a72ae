/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs whose section says where they go: functions of the C library, by name. Each counts how
 * often it ran for the target process. Those for many functions are optional, for kernels without.
 */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 fork_calls = 0, fork_returns = 0, fork_sleepable = 0;
__u64 thread_calls = 0, thread_returns = 0, fork_sessions = 0, fork_skipped = 0;

SEC("uprobe/libc.so.6:fork")
int on_fork(struct pt_regs *ctx)
{
	if (is_target())
		atomic_add(&fork_calls, 1);
	return 0;
}

SEC("uretprobe/libc.so.6:fork")
int on_fork_return(struct pt_regs *ctx)
{
	if (is_target())
		atomic_add(&fork_returns, 1);
	return 0;
}

SEC("?uprobe.s/libc.so.6:fork")
int on_fork_sleepable(struct pt_regs *ctx)
{
	if (is_target())
		atomic_add(&fork_sleepable, 1);
	return 0;
}

/* pthread_create, and whatever else the library has of that name */
SEC("?uprobe.multi/libc.so.6:pthread_creat?")
int on_threads(struct pt_regs *ctx)
{
	if (is_target())
		atomic_add(&thread_calls, 1);
	return 0;
}

SEC("?uretprobe.multi/libc.so.6:pthread_creat?")
int on_threads_return(struct pt_regs *ctx)
{
	if (is_target())
		atomic_add(&thread_returns, 1);
	return 0;
}

/* Fires on entry and, since it returned 0 then, on return: twice a call. */
SEC("?uprobe.session/libc.so.6:fork")
int on_fork_session(struct pt_regs *ctx)
{
	if (is_target())
		atomic_add(&fork_sessions, 1);
	return 0;
}

/* Returns 1 on entry: not interested in the return. */
SEC("?uprobe.session/libc.so.6:fork")
int on_fork_entry_only(struct pt_regs *ctx)
{
	if (is_target())
		atomic_add(&fork_skipped, 1);
	return 1;
}
