/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Loops over what the kernel has, in the program itself; and packets through a dynptr. Linux 6.4 */
#include <bpf4j/corpus.h>
#include <bpf4j/core.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct bpf_iter_num {
	__u64 __opaque[1];
} __attribute__((aligned(8)));

extern int bpf_iter_num_new(struct bpf_iter_num *iterator, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *iterator) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *iterator) __ksym;
extern int bpf_dynptr_from_skb(struct __sk_buff *skb, __u64 flags, struct bpf_dynptr *pointer) __ksym;
extern void *bpf_dynptr_slice(const struct bpf_dynptr *pointer, __u32 offset, void *buffer, __u32 size) __ksym;

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

/* A loop in a static function, left early: the iterator is given back all the same. */
static __noinline int first_above(int limit)
{
	struct bpf_iter_num iterator;
	int found = -1, *number;

	bpf_iter_num_new(&iterator, 0, 100);
	while ((number = bpf_iter_num_next(&iterator))) {
		if (*number * *number > limit) {
			found = *number;
			break;
		}
	}
	bpf_iter_num_destroy(&iterator);
	return found;
}

SEC("tc")
int left_early(struct __sk_buff *skb)
{
	CHECK(first_above(50) == 8);
	CHECK(first_above(100000) == -1);
	return 0;
}

SEC("tc")
int packet(struct __sk_buff *skb)
{
	struct bpf_dynptr pointer;
	__u8 buffer[20], *header;

	CHECK(!bpf_dynptr_from_skb(skb, 0, &pointer));
	header = bpf_dynptr_slice(&pointer, 14, buffer, sizeof(buffer));
	CHECK(header);
	CHECK(header[0] == 0x45);
	CHECK(header[9] == 17);
	CHECK(!bpf_dynptr_slice(&pointer, 50, buffer, sizeof(buffer)));
	return 0;
}
