/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Takes stacks of the target process: addresses, places in files by build ID, and the kernel's. The globals have their ids. */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { DEPTH = 127 };

#define BPF_F_USER_STACK (1ULL << 8)
#define BPF_F_REUSE_STACKID (1ULL << 10)
#define BPF_F_STACK_BUILD_ID (1U << 5)

__s64 user_id = -1;
__s64 build_id_id = -1;
__s64 kernel_id = -1;

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1024);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, DEPTH * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(map_flags, BPF_F_STACK_BUILD_ID);
	__uint(max_entries, 1024);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, DEPTH * 32);
} places SEC(".maps");

SEC("uprobe")
int take_user(struct pt_regs *ctx)
{
	if (!is_target())
		return 0;
	user_id = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK | BPF_F_REUSE_STACKID);
	build_id_id = bpf_get_stackid(ctx, &places, BPF_F_USER_STACK | BPF_F_REUSE_STACKID);
	return 0;
}

SEC("raw_tp")
int take_kernel(void *ctx)
{
	if (is_target())
		kernel_id = bpf_get_stackid(ctx, &stacks, BPF_F_REUSE_STACKID);
	return 0;
}
