/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The reading end of a ring that user space writes. `drain` takes what is there and returns how many
 * records that were, or a negative error number; `wrong` keeps the line of a check that failed.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { BPF_MAP_TYPE_USER_RINGBUF = 31 };

struct bpf_dynptr;

/* since 5.19 */
HELPER(203, void *, bpf_dynptr_data, const struct bpf_dynptr *dynptr, __u32 offset, __u32 size);
/* since 6.1 */
HELPER(209, long, bpf_user_ringbuf_drain, void *ring, void *callback, void *context, __u64 flags);

struct {
	__uint(type, BPF_MAP_TYPE_USER_RINGBUF);
	__uint(max_entries, 4096);
} orders SEC(".maps");

struct order {
	__u32 number;
	__u32 amount;
};

__u64 count = 0;
__u64 sum = 0;
__u32 wrong = 0;

static long take(const struct bpf_dynptr *record, void *context)
{
	const struct order *order = bpf_dynptr_data(record, 0, sizeof(*order));

	if (!order) {
		wrong = __LINE__;
		return 1;
	}
	if (order->number != (__u32)count)
		wrong = __LINE__;
	count++;
	sum += order->amount;
	return 0;
}

SEC("socket")
int drain(void *ctx)
{
	return bpf_user_ringbuf_drain(&orders, take, NULL, 0);
}
