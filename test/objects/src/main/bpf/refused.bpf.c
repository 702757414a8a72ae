/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program that every verifier refuses, beside one that it accepts: `refused` writes through what a
 * lookup in a hash map returned without looking whether it is NULL. (In an array, new kernels know that
 * element 0 is there.) What came before it in the transaction has to be undone.
 */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} values SEC(".maps");

SEC("uprobe")
int accepted(struct pt_regs *ctx)
{
	atomic_add(&runs, 1);
	return 0;
}

SEC("uprobe")
int refused(struct pt_regs *ctx)
{
	__u32 key = 0;
	__u64 *value = bpf_map_lookup_elem(&values, &key);

	*value = 1;
	return 0;
}
