/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs for functions and tracepoints of the kernel that a test can make happen as often as it
 * likes: the system calls getppid and wait4 of the target process. All are optional: kernels differ in
 * what they have, and functions are named as x86-64 names them.
 *
 * A system call without arguments, such as getppid, is one function of two names, __x64_sys_ and
 * __do_sys_. Kprobes know both, tracefs and BTF only the second; hence the patterns, and wait4.
 */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { GETPPID = 110 }; /* arch/x86/entry/syscalls/syscall_64.tbl */

__u64 hits = 0, cookie = 0;

static __always_inline int count(void)
{
	if (is_target())
		atomic_add(&hits, 1);
	return 0;
}

SEC("?kprobe/__x64_sys_getppid")
int on_kprobe(struct pt_regs *ctx)
{
	if (is_target())
		cookie = bpf_get_attach_cookie(ctx);
	return count();
}

SEC("?kretprobe/__x64_sys_getppid")
int on_kretprobe(struct pt_regs *ctx)
{
	return count();
}

SEC("?ksyscall/getppid")
int on_ksyscall(struct pt_regs *ctx)
{
	return count();
}

SEC("?kretsyscall/getppid")
int on_kretsyscall(struct pt_regs *ctx)
{
	return count();
}

SEC("?kprobe.multi/__*_sys_getppid")
int on_kprobes(struct pt_regs *ctx)
{
	if (is_target())
		cookie = bpf_get_attach_cookie(ctx);
	return count();
}

SEC("?kretprobe.multi/__*_sys_getppid")
int on_kprobes_return(struct pt_regs *ctx)
{
	return count();
}

/* Twice a call: on entry, and since it returned 0 then, on return. */
SEC("?kprobe.session/__x64_sys_getppid")
int on_kprobe_session(struct pt_regs *ctx)
{
	return count();
}

SEC("?fentry/__x64_sys_wait4")
int on_entry(void *ctx)
{
	if (is_target())
		cookie = bpf_get_attach_cookie(ctx);
	return count();
}

SEC("?fexit/__x64_sys_wait4")
int on_exit(void *ctx)
{
	return count();
}

SEC("?tp_btf/sys_enter")
int on_sys_enter(__u64 *ctx)
{
	return ctx[1] == GETPPID ? count() : 0;
}

SEC("?raw_tp/sys_enter")
int on_raw_sys_enter(__u64 *ctx)
{
	if (ctx[1] != GETPPID || !is_target())
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	return count();
}

SEC("?tp/sched/sched_process_fork")
int on_fork(void *ctx)
{
	if (is_target())
		cookie = bpf_get_attach_cookie(ctx);
	return count();
}
