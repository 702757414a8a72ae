/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A timer in a map's value: the program starts it, and the check is made when it fires. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { CLOCK_MONOTONIC = 1 };

struct timed {
	__u64 magic;
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct timed);
} timers SEC(".maps");

REPORTS

static int fires(void *map, __u32 *key, struct timed *value)
{
	report(*key == 1 && value->magic == 4711 ? 0 : __LINE__, 0);
	return 0;
}

SEC("tc")
int at_time(struct __sk_buff *skb)
{
	__u32 key = 1;
	struct timed *value = bpf_map_lookup_elem(&timers, &key);

	CHECK(value);
	value->magic = 4711;
	CHECK(bpf_timer_start(&value->timer, 0, 0) == -EINVAL); /* not made yet */
	CHECK(!bpf_timer_init(&value->timer, &timers, CLOCK_MONOTONIC));
	CHECK(bpf_timer_init(&value->timer, &timers, CLOCK_MONOTONIC) == -EBUSY);
	CHECK(!bpf_timer_set_callback(&value->timer, fires));
	CHECK(!bpf_timer_start(&value->timer, 1000, 0));
	return 0;
}
