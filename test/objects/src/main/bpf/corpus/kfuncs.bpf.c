/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of the kernel: there and not there, of several declarations the one that agrees with the kernel's,
 * and a pointer to one of its tasks kept in a map. Linux 6.3.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct task_struct {
	int pid;
};

extern struct task_struct *bpf_task_acquire(struct task_struct *task) __ksym;
extern void bpf_task_release(struct task_struct *task) __ksym;
extern void bpf4j_no_such_function(struct task_struct *task) __ksym __weak;
extern int bpf4j_no_such_function_either(int left, long right) __ksym __weak;

/* The kernel's has one argument of another kind: this one is not there. What follows ___ is not part of the name. */
extern struct task_struct *bpf_task_from_pid___two(int pid, int more) __ksym __weak;
extern struct task_struct *bpf_task_from_pid___one(int pid) __ksym __weak;

SEC("syscall")
int functions(void *ctx)
{
	struct task_struct *task = bpf_task_acquire(bpf_get_current_task_btf());

	CHECK(!bpf4j_no_such_function_either);
	if (!task)
		return __LINE__;
	if (bpf4j_no_such_function)
		bpf4j_no_such_function(task);
	else
		bpf_task_release(task);
	return 0;
}

SEC("syscall")
int flavours(void *ctx)
{
	struct task_struct *task;

	CHECK(!bpf_task_from_pid___two);
	CHECK(bpf_task_from_pid___one);
	if (bpf_task_from_pid___two)
		task = bpf_task_from_pid___two(1, 2);
	else
		task = bpf_task_from_pid___one(1);
	if (task)
		bpf_task_release(task);
	return 0;
}

struct kept {
	struct task_struct __kptr *task;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kept);
} kept SEC(".maps");

SEC("syscall")
int in_map(void *ctx)
{
	struct task_struct *task;
	struct kept nothing = {}, *value;
	__u32 key = 0;

	CHECK(!bpf_map_update_elem(&kept, &key, &nothing, BPF_ANY));
	value = bpf_map_lookup_elem(&kept, &key);
	CHECK(value);
	task = bpf_task_acquire(bpf_get_current_task_btf());
	CHECK(task);
	task = bpf_kptr_xchg(&value->task, task);
	if (task) {
		bpf_task_release(task);
		return __LINE__;
	}
	task = bpf_kptr_xchg(&value->task, NULL);
	CHECK(task);
	bpf_task_release(task);
	return 0;
}
