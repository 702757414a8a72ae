/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loops over tasks and control groups, whose steps the verifier knows the types of; casts that it believes; and
 * sections that may not be interrupted. Linux 6.10.
 */
#include <bpf4j/corpus.h>
#include <bpf4j/core.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct task_struct {
	int pid;
	int tgid;
} __core;

struct bpf_iter_task {
	__u64 __opaque[3];
} __attribute__((aligned(8)));

enum { BPF_TASK_ITER_ALL_PROCS = 0, BPF_TASK_ITER_PROC_THREADS = 2 };

extern int bpf_iter_task_new(struct bpf_iter_task *iterator, struct task_struct *task, unsigned int flags) __ksym;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *iterator) __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task *iterator) __ksym;
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;
extern void bpf_preempt_disable(void) __ksym;
extern void bpf_preempt_enable(void) __ksym;
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym;

/* Not on the stack, where each number of rounds were another state to the verifier. */
__u32 own = 0, others = 0;

SEC("syscall")
int threads(void *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf(), *task;
	struct bpf_iter_task iterator;

	bpf_rcu_read_lock();
	bpf_iter_task_new(&iterator, current, BPF_TASK_ITER_PROC_THREADS);
	while ((task = bpf_iter_task_next(&iterator))) {
		own += task->pid == current->pid;
		others += task->tgid != current->tgid;
	}
	bpf_iter_task_destroy(&iterator);
	bpf_rcu_read_unlock();
	CHECK(own == 1);
	CHECK(others == 0);
	return 0;
}

SEC("syscall")
int casts(void *ctx)
{
	__u64 address = bpf_get_current_task();
	struct task_struct *task;
	int number;

	bpf_preempt_disable();
	task = bpf_rdonly_cast((void *)address, core_type_id_kernel(struct task_struct));
	number = task->pid;
	bpf_preempt_enable();
	CHECK(number == (int)bpf_get_current_pid_tgid());
	return 0;
}
