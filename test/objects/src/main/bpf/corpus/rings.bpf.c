/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What carries records between programs and user space, each way. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

/* One ring to each slot: a ring as what a map holds. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct ring slot_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps") = {
	.values = { [1] = &slot_ring },
};

/* No max_entries: the loader makes it as many as there are processors. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_USER_RINGBUF);
	__uint(max_entries, 4096);
} from_user SEC(".maps");

struct record {
	__u64 first, second;
};

SEC("tc")
int ring_buffer(struct __sk_buff *skb)
{
	struct record record = {1, 2}, *reserved;
	__u64 before = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);

	CHECK(!bpf_ringbuf_output(&ring, &record, sizeof(record), 0));
	/* header of 8 bytes and the record */
	CHECK(bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) == before + 24);
	reserved = bpf_ringbuf_reserve(&ring, sizeof(*reserved), 0);
	CHECK(reserved);
	*reserved = record;
	bpf_ringbuf_submit(reserved, BPF_RB_NO_WAKEUP);
	reserved = bpf_ringbuf_reserve(&ring, sizeof(*reserved), 0);
	CHECK(reserved);
	bpf_ringbuf_discard(reserved, 0);
	return 0;
}

SEC("tc")
int ring_in_array(struct __sk_buff *skb)
{
	__u32 slot = 0;
	__u64 value = 5;
	void *map = bpf_map_lookup_elem(&rings, &slot);

	CHECK(!map);
	slot = 1;
	map = bpf_map_lookup_elem(&rings, &slot);
	CHECK(map);
	CHECK(!bpf_ringbuf_output(map, &value, sizeof(value), 0));
	CHECK(bpf_ringbuf_query(&slot_ring, BPF_RB_AVAIL_DATA) >= 16);
	return 0;
}

/* User space has to have opened an event of this processor. */
SEC("tc")
int perf_event_array(struct __sk_buff *skb)
{
	struct record record = {3, 4};

	CHECK(!bpf_perf_event_output(skb, &events, BPF_F_CURRENT_CPU, &record, sizeof(record)));
	return 0;
}

static long take(struct bpf_dynptr *pointer, __u64 *sum)
{
	__u64 value = 0;

	if (!bpf_dynptr_read(&value, sizeof(value), pointer, 0, 0))
		*sum += value;
	return 0;
}

/* User space has to have put in records of 8 bytes with the sum 42. */
SEC("?tc")
int user_ring_buffer(struct __sk_buff *skb)
{
	__u64 sum = 0;

	CHECK(bpf_user_ringbuf_drain(&from_user, take, &sum, 0) == 2);
	CHECK(sum == 42);
	return 0;
}
