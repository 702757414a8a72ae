/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Loops over what the kernel has, in the program itself. Linux 6.4; and packets through a dynptr. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct bpf_iter_num {
	__u64 __opaque[1];
} __attribute__((aligned(8)));

extern int bpf_iter_num_new(struct bpf_iter_num *iterator, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *iterator) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *iterator) __ksym;
extern int bpf_dynptr_from_skb(struct __sk_buff *skb, __u64 flags, struct bpf_dynptr *pointer) __ksym;

SEC("tc")
int numbers(struct __sk_buff *skb)
{
	struct bpf_iter_num iterator;
	int sum = 0, *number;

	bpf_iter_num_new(&iterator, 3, skb->len);
	while ((number = bpf_iter_num_next(&iterator)))
		sum += *number;
	bpf_iter_num_destroy(&iterator);
	CHECK(sum == 63 * 64 / 2 - 3);
	return 0;
}
