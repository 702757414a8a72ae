/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs that may sleep, at a function of the kernel where that is allowed: bpf_fentry_test1 is, since Linux 6.2
 * (net/bpf/test_run.c). It is called with 1 and returns 2.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

REPORTS

SEC("fentry.s/bpf_fentry_test1")
int enters(__u64 *ctx)
{
	return report((int)ctx[0] == 1 ? 0 : __LINE__, 0);
}

SEC("fexit.s/bpf_fentry_test1")
int leaves(__u64 *ctx)
{
	return report((int)ctx[0] == 1 && (int)ctx[1] == 2 ? 0 : __LINE__, 0);
}

SEC("fmod_ret.s/bpf_fentry_test1")
int in_place(__u64 *ctx)
{
	/* the last is what programs before this one returned */
	return report((int)ctx[0] == 1 && (int)ctx[1] == 0 ? 0 : __LINE__, 0);
}
