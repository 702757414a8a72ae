/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A program that is a function, too, and is called by another. libbpf takes functions from .text only. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tc")
__noinline int called(struct __sk_buff *skb)
{
	CHECK(skb->len == 64);
	return 0;
}

SEC("tc")
int calls(struct __sk_buff *skb)
{
	CHECK(called(skb) == 0);
	return 0;
}
