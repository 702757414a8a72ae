/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a global function says of its arguments by tags: that one is the context. Of the kernel's own
 * knowledge since Linux 6.8; for older ones the loader writes the context's type into the BTF.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define __arg_ctx __attribute__((btf_decl_tag("arg:ctx")))

__noinline int length_of(void *ctx __arg_ctx)
{
	struct __sk_buff *skb = ctx;

	return skb->len;
}

SEC("tc")
int context(struct __sk_buff *skb)
{
	CHECK(length_of(skb) == 64);
	return 0;
}
