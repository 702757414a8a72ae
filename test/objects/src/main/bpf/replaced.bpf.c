/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A program with a function that another may replace: it has to be global, so that the verifier checked it by itself. */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct __sk_buff {
	__u32 len;
};

__noinline int answer(struct __sk_buff *skb)
{
	return skb->len ? 41 : 40;
}

SEC("tc")
int ask(struct __sk_buff *skb)
{
	return answer(skb);
}
