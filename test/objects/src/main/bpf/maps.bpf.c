/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Maps from both sides. User space fills `input`, calls the probed function of the target and looks
 * at what the program made of it: hash entries added, changed and deleted, an array, per-CPU
 * counters, and one ring buffer record per run.
 */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct key {
	__u32 kind;
	__u32 number;
};

struct value {
	__u64 sum;
	__u32 touched;
	__u32 cpu;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct key);
	__type(value, struct value);
} hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);
	__type(value, __u64);
} lru SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u64);
} array SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} per_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u64);
} per_cpu_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

/* What the program found in hash[{1, 100}], which user space put there; 16 bytes. */
struct record {
	__u64 run;
	__u64 found;
};

/* No map says what is in a ring; a variable lets the compiler describe it all the same. */
struct record *unused_record __attribute__((unused));

SEC("uprobe")
int maps(struct pt_regs *ctx)
{
	struct key given = {1, 100}, made = {2, 200}, gone = {3, 300};
	struct value fresh = {.sum = 1, .touched = 1, .cpu = bpf_get_smp_processor_id()};
	struct value *value;
	struct record *record;
	__u32 index = 1;
	__u64 lru_key = 9, one = 1;
	__u64 *number;

	if (!is_target())
		return 0;

	value = bpf_map_lookup_elem(&hash, &given);
	CHECK(value);
	value->touched++;

	bpf_map_update_elem(&hash, &made, &fresh, BPF_NOEXIST);
	/* 32 bits of it: before Linux 6.2 that is all there is. */
	CHECK((int)bpf_map_update_elem(&hash, &made, &fresh, BPF_NOEXIST) == -17 /* EEXIST */);
	CHECK(bpf_map_update_elem(&hash, &made, &fresh, BPF_EXIST) == 0);
	bpf_map_delete_elem(&hash, &gone);
	CHECK(!bpf_map_lookup_elem(&hash, &gone));

	CHECK(bpf_map_update_elem(&lru, &lru_key, &one, BPF_ANY) == 0);

	number = bpf_map_lookup_elem(&array, &index);
	CHECK(number);
	atomic_add(number, value->sum);
	index = 8;
	CHECK(!bpf_map_lookup_elem(&array, &index));

	index = 1;
	number = bpf_map_lookup_elem(&per_cpu, &index);
	CHECK(number);
	*number += 1;

	number = bpf_map_lookup_elem(&per_cpu_hash, &index);
	if (number)
		*number += 1;
	else
		CHECK(bpf_map_update_elem(&per_cpu_hash, &index, &one, BPF_ANY) == 0);

	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	CHECK(record);
	record->run = runs;
	record->found = value->sum;
	bpf_ringbuf_submit(record, 0);

	atomic_add(&runs, 1);
	return 0;
}
