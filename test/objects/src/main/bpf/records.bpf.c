/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records of 64 bytes that say when they were fired, through a ring buffer and through a perf buffer: to measure how fast
 * records come to user space, and how many do not. A test run of a program fires one record.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* 1: the kernel wakes a reader that waits for the record. More: it wakes the reader for one record of so many. */
const volatile __u32 batch = 1;

/* Not 0: the program forces a wake-up when so many bytes wait, and else wakes nobody. */
const volatile __u32 wake_at = 0;

struct record {
	__u64 fired_ns; /* CLOCK_MONOTONIC */
	__u64 number;
	__u64 rest[6];
};

/* Of all runs. */
struct counts {
	__u64 fired;
	__u64 lost; /* of these, for want of room */
} counts;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} events SEC(".maps");

static __u64 wake_up(__u64 number)
{
	if (wake_at)
		return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= wake_at ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	if (batch == 1)
		return 0;
	return number % batch == batch - 1 ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

SEC("tc")
int to_ring(struct __sk_buff *skb)
{
	__u64 number = counts.fired++;
	struct record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		counts.lost++;
		return 0;
	}
	__builtin_memset(record, 0, sizeof(*record));
	record->number = number;
	record->fired_ns = bpf_ktime_get_ns();
	bpf_ringbuf_submit(record, wake_up(number));
	return 0;
}

/* Of a perf buffer the reader says for how many records it is to be woken. */
SEC("tc")
int to_perf(struct __sk_buff *skb)
{
	struct record record = { .number = counts.fired++ };

	record.fired_ns = bpf_ktime_get_ns();
	if (bpf_perf_event_output(skb, &events, BPF_F_CURRENT_CPU, &record, sizeof(record)))
		counts.lost++;
	return 0;
}
