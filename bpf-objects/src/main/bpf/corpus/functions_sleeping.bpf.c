/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs that may sleep, at functions of the kernel where that is allowed: those of system calls. x86-64. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

REPORTS

/* One argument: the registers of the process. */
SEC("fentry.s/__x64_sys_openat")
int enters(__u64 *ctx)
{
	return report(ctx[0] ? 0 : __LINE__, 0);
}

SEC("fexit.s/__x64_sys_openat")
int leaves(__u64 *ctx)
{
	return report(ctx[0] ? 0 : __LINE__, 0);
}

SEC("fmod_ret.s/__x64_sys_openat")
int in_place(__u64 *ctx)
{
	/* the last is what programs before this one returned */
	return report(ctx[0] && !ctx[1] ? 0 : __LINE__, 0);
}
