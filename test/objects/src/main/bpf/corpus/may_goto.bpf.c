/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A loop whose end the verifier does not see, and the kernel sees to. Linux 6.9. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Not known to be 0: else each round is another state to the verifier. */
volatile __u32 zero = 0;

SEC("tc")
int counted(struct __sk_buff *skb)
{
	__u32 rounds = zero;

	for (;;) {
		asm volatile goto("may_goto %l[enough]" ::::enough);
		if (rounds >= skb->len)
			break;
		rounds++;
	}
enough:
	CHECK(rounds == 64);
	return 0;
}
