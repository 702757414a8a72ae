/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What takes the place of the function of replaced.bpf.c. */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct __sk_buff {
	__u32 len;
};

SEC("freplace/answer")
int better(struct __sk_buff *skb)
{
	return skb->len ? 42 : 0;
}
