/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Something of everything that a load makes, in one object: global data of three kinds, plain, pinned and nested maps,
 * slots that hold maps and programs, an arena with a variable in it, a struct of functions, and programs that need
 * several of them. Tests let each step of its load fail.
 */
#include <bpf4j/helpers.h>

#define __arena __attribute__((address_space(1)))

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum {
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_BLOOM_FILTER = 30,
	BPF_MAP_TYPE_ARENA = 33,
	BPF_F_MMAPABLE = 1 << 10,
	LIBBPF_PIN_BY_NAME = 1,
};

HELPER(12, long, bpf_tail_call, void *ctx, void *map, __u32 index);

const volatile __u32 step = 3;
__u64 total = 0;
__u64 first = 7;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, __u64);
} kept SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(max_entries, 100);
	__uint(map_extra, 3); /* hash functions */
	__uint(value_size, 4);
} seen SEC(".maps");

struct row {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} row SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct row);
} rows SEC(".maps") = {.values = {[1] = &row}};

int next_part(void *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, int(void *));
} parts SEC(".maps") = {.values = {[1] = (void *)&next_part}};

struct {
	__uint(type, BPF_MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4); /* pages */
} memory SEC(".maps");

__u64 __arena shared = 42;

SEC("socket")
int next_part(void *ctx)
{
	atomic_add(&total, step);
	return 7;
}

SEC("socket")
int count(void *ctx)
{
	__u32 key = 1;
	__u64 *value = bpf_map_lookup_elem(&counts, &key);
	void *inner;

	if (value)
		*value += first;
	value = bpf_map_lookup_elem(&kept, &key);
	if (value)
		*value += step;
	inner = bpf_map_lookup_elem(&rows, &key);
	if (inner && (value = bpf_map_lookup_elem(inner, &key)))
		*value += 1;
	bpf_tail_call(ctx, &parts, 1);
	return 0;
}

SEC("syscall")
int in_arena(void *ctx)
{
	void *map = &memory;

	opaque(map);
	shared += step;
	return 0;
}

struct sock;

struct tcp_congestion_ops {
	char name[16];
	__u32 (*ssthresh)(struct sock *sk);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
};

/* For two members that are alike: a program is verified for one of them. */
SEC("struct_ops/ssthresh")
__u32 steady(unsigned long long *ctx)
{
	return 1000;
}

SEC("struct_ops/undo_cwnd")
__u32 undo(unsigned long long *ctx)
{
	return 1000;
}

SEC("struct_ops/cong_avoid")
void avoid(unsigned long long *ctx)
{
	atomic_add(&total, step);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.name = "bpf4j_whole",
	.ssthresh = (void *)steady,
	.undo_cwnd = (void *)undo,
	.cong_avoid = (void *)avoid,
};
