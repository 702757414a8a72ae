/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One program per kind of link, each counting how often it ran for the target process, and what it
 * saw: first argument and return value of the probed function, and the BPF cookie where there is one.
 */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 uprobe_hits = 0, uprobe_arg = 0, uprobe_cookie = 0;
__u64 uretprobe_hits = 0, uretprobe_value = 0;
__u64 multi_hits = 0, multi_cookies = 0;
__u64 multi_ip = 0;
__u64 multi_return_hits = 0, multi_return_value = 0;
__u64 tracepoint_hits = 0;
__u64 raw_tracepoint_hits = 0, raw_tracepoint_id = 0;

SEC("uprobe")
int on_uprobe(struct pt_regs *ctx)
{
	if (!is_target())
		return 0;
	atomic_add(&uprobe_hits, 1);
	uprobe_arg = REGS_ARG1(ctx);
	return 0;
}

/* Apart from on_uprobe, because a kernel without cookies refuses the helper. */
SEC("uprobe")
int on_uprobe_cookie(struct pt_regs *ctx)
{
	if (is_target())
		uprobe_cookie = bpf_get_attach_cookie(ctx);
	return 0;
}

SEC("uretprobe")
int on_uretprobe(struct pt_regs *ctx)
{
	if (!is_target())
		return 0;
	atomic_add(&uretprobe_hits, 1);
	uretprobe_value = REGS_RETURN(ctx);
	return 0;
}

/* Cookies are summed, so that the test sees that each site brought its own. */
SEC("uprobe.multi")
int on_multi(struct pt_regs *ctx)
{
	if (!is_target())
		return 0;
	atomic_add(&multi_hits, 1);
	atomic_add(&multi_cookies, bpf_get_attach_cookie(ctx));
	return 0;
}

HELPER(173, __u64, bpf_get_func_ip, void *ctx);

/* Which of the functions it was, where there is no cookie. */
SEC("?uprobe.multi")
int on_multi_ip(struct pt_regs *ctx)
{
	if (is_target())
		multi_ip = bpf_get_func_ip(ctx);
	return 0;
}

SEC("uretprobe.multi")
int on_multi_return(struct pt_regs *ctx)
{
	if (!is_target())
		return 0;
	atomic_add(&multi_return_hits, 1);
	multi_return_value = REGS_RETURN(ctx);
	return 0;
}

SEC("tracepoint/sched/sched_process_fork")
int on_tracepoint(void *ctx)
{
	if (is_target())
		atomic_add(&tracepoint_hits, 1);
	return 0;
}

/* Arguments of a raw tracepoint are u64s: sys_enter has (struct pt_regs *, long id). */
SEC("raw_tp/sys_enter")
int on_raw_tracepoint(__u64 *arguments)
{
	if (!is_target())
		return 0;
	atomic_add(&raw_tracepoint_hits, 1);
	raw_tracepoint_id = arguments[1];
	return 0;
}
