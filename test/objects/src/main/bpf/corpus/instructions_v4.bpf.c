/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Instructions of BPF CPU v4: signed division, sign-extending moves and loads, byte swaps, jumps of 32 bits, stores
 * of numbers; those that relocations change among them. Linux 6.6.
 */
#include <bpf4j/corpus.h>
#include <bpf4j/core.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct task_struct {
	int pid;
	int exit_state;
} __core;

/* include/uapi/linux/bpf.h: both are of 4 bytes */
struct bpf_map_info {
	__u64 key_size;
	__u16 max_entries;
} __core;

SEC("syscall")
int arithmetic(void *ctx)
{
	__s64 left = -7, right = 2;
	__s32 narrow = -9;

	opaque(left);
	opaque(right);
	opaque(narrow);
	CHECK(left / right == -3);
	CHECK(left % right == -1);
	CHECK(narrow / (__s32)right == -4);
	CHECK((__s8)(left + 0x100) == -7);
	CHECK((__s64)(__s16)left == -7);
	CHECK(__builtin_bswap64(left) == 0xf9ffffffffffffff);
	CHECK(__builtin_bswap16((__u16)right) == 0x200);
	return 0;
}

SEC("syscall")
int sign_extending_loads(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	volatile __s8 byte = -1;
	volatile __s16 word = -2;
	__s64 pid = task->pid;

	CHECK((__s64)byte == -1);
	CHECK((__s64)word == -2);
	CHECK(pid == (__u32)bpf_get_current_pid_tgid());
	CHECK((__s64)task->exit_state == 0);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, char[256]);
} buffer SEC(".maps");

SEC("syscall")
int stores_of_numbers(void *ctx)
{
	__u32 zero = 0;
	void *bytes = bpf_map_lookup_elem(&buffer, &zero);
	volatile struct bpf_map_info *info = bytes;
	volatile __u32 *words = bytes;

	CHECK(bytes);
	/* type, id, key_size, value_size, max_entries, map_flags */
	words[3] = 4;
	words[5] = 6;
	info->key_size = 33;
	info->max_entries = 55;
	CHECK(words[2] == 33);
	CHECK(words[3] == 4);
	CHECK(words[4] == 55);
	CHECK(words[5] == 6);
	return 0;
}

SEC("syscall")
int far_jump(void *ctx)
{
	__u32 rounds = 0;

	asm volatile goto("gotol %l[there]" ::::there);
	rounds = 1;
there:
	CHECK(rounds == 0);
	return 0;
}
