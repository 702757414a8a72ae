/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs at the start and end of functions of the kernel: those that it has for trying such programs, and
 * calls with known arguments (net/bpf/test_run.c).
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

REPORTS

/* bpf_fentry_test1(int a): called with 1, returns a + 1 */
SEC("fentry/bpf_fentry_test1")
int enters(__u64 *ctx)
{
	return report((int)ctx[0] == 1 ? 0 : __LINE__, 0);
}

SEC("fexit/bpf_fentry_test1")
int leaves(__u64 *ctx)
{
	return report((int)ctx[0] == 1 && (int)ctx[1] == 2 ? 0 : __LINE__, 0);
}

/* bpf_fentry_test2(int a, u64 b): called with 2 and 3, returns a + b */
SEC("fexit/bpf_fentry_test2")
int leaves_with_two(__u64 *ctx)
{
	return report((int)ctx[0] == 2 && ctx[1] == 3 && (int)ctx[2] == 5 ? 0 : __LINE__, 0);
}

/*
 * bpf_modify_return_test(int a, int *b): called with 1 and the address of 2. Before Linux 6.2 only kernels with error
 * injection let it be attached to.
 */
SEC("?fmod_ret/bpf_modify_return_test")
int in_place(__u64 *ctx)
{
	/* the last is what programs before this one returned */
	return report((int)ctx[0] == 1 && (int)ctx[2] == 0 ? 0 : __LINE__, 0);
}
