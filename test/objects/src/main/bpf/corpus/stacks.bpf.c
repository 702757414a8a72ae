/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Stack traces: the same stack has the same number, and the map then has its addresses. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { DEPTH = 32 };

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 64);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, DEPTH * sizeof(__u64));
} stacks SEC(".maps");

SEC("raw_tp/sys_enter")
int stack_trace(void *ctx)
{
	long first = bpf_get_stackid(ctx, &stacks, 0), again;

	CHECK(first >= 0);
	again = bpf_get_stackid(ctx, &stacks, 0);
	/* Another return address at most: both are in the map. */
	CHECK(again >= 0 || again == -EEXIST);
	return 0;
}
