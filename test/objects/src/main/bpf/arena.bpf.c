/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An arena: memory at the same addresses in programs and in user space. A program makes a list there, user
 * space follows its pointers and changes it, and another program sums it up.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { BPF_MAP_TYPE_ARENA = 33, BPF_F_MMAPABLE = 1 << 10, ANY_NODE = -1 };

/* Pointers into the arena have an address space of their own: clang casts them where they are used. */
#define __arena __attribute__((address_space(1)))
#define __ksym __attribute__((section(".ksyms")))

struct {
	__uint(type, BPF_MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 16); /* pages */
} shared SEC(".maps");

struct node {
	struct node __arena *next;
	__u64 value;
};

/* In the arena itself, and so known by one address on both sides. */
struct node __arena *__arena head = NULL;
__u64 __arena limit = 10;

/* Outside of it. */
__u64 sum = 0;

void __arena *bpf_arena_alloc_pages(void *map, void __arena *address, __u32 pages, int node, __u64 flags) __ksym;

SEC("syscall")
int make_list(void *ctx)
{
	struct node __arena *nodes = bpf_arena_alloc_pages(&shared, NULL, 1, ANY_NODE, 0);

	if (!nodes)
		return 1;
	for (__u64 i = 0; i < 100 && i < limit; i++) {
		nodes[i].value = i * i;
		nodes[i].next = head;
		head = &nodes[i];
	}
	return 0;
}

SEC("syscall")
int sum_list(void *ctx)
{
	struct node __arena *node = head;

	sum = 0;
	for (int i = 0; i < 100 && node; i++) {
		sum += node->value;
		node = node->next;
	}
	return 0;
}
