/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions for a struct that is not the kernel's but a module's: test/vm/module. */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Cut down to what is used, in an order of its own. */
struct bpf4j_ops {
	int (*answer)(int question);
	__u32 offset;
	void (*forget)(void);
};

__u64 asked = 0, forgotten = 0;

SEC("struct_ops/answer")
int doubled(unsigned long long *ctx)
{
	asked += 1;
	return 2 * (int)ctx[0];
}

SEC("struct_ops/answer")
int squared(unsigned long long *ctx)
{
	asked += 1;
	return (int)ctx[0] * (int)ctx[0];
}

SEC("struct_ops/forget")
void forget(unsigned long long *ctx)
{
	forgotten += 1;
}

SEC("?.struct_ops.link")
struct bpf4j_ops linked = {
	.offset = 2,
	.answer = (void *)doubled,
	.forget = (void *)forget,
};

SEC("?.struct_ops")
struct bpf4j_ops direct = {
	.answer = (void *)squared,
};
