/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One program that asks all that can be asked of types that kernels changed: members that moved, were renamed or
 * got into an unnamed union, bit-fields whose neighbours came and went, enumerators with another value. It is
 * relocated against several kernels, in both byte orders, and what comes out is compared with what is known.
 */
#include <bpf4j/core.h>
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct task_struct {
	unsigned int __state; /* since 5.14 */
	int pid;
	char comm[16];
	unsigned int in_iowait : 1;
	struct task_struct *group_leader;
} __core;

struct task_struct___old {
	volatile long state; /* before 5.14 */
} __core;

struct bpf_insn {
	__u8 code;
} __core;

struct bpf_prog {
	__u16 pages;
	__u16 jited : 1;
	__u16 blinded : 1; /* another bit since 5.18 */
	__u16 sleepable : 1; /* since 6.9 */
	__u32 len;
	__u8 tag[8]; /* in a union since 6.18 */
	struct bpf_prog_aux *aux;
	struct bpf_insn insnsi[]; /* in a union since 5.16 */
} __core;

struct cgroup {
	int level;
	struct cgroup *ancestors[]; /* numbers of 64 bits named ancestor_ids before 6.1 */
} __core;

/* Of two flavours, each with a member that one kind of kernel has. */
struct cgroup___old {
	__u64 ancestor_ids[];
} __core;

enum skb_drop_reason { /* since 5.17 */
	SKB_DROP_REASON_NO_SOCKET = 100, /* 2, and 3 since 6.4 */
};

enum bpf_map_type___other {
	BPF_MAP_TYPE_HASH___other = 50,
	BPF_MAP_TYPE_USER_RINGBUF___other = 51, /* since 6.1 */
};

/* In every kernel as it is here. */
struct list_head {
	struct list_head *next, *prev;
};

struct bpf4j_no_such_struct {
	int member;
};

__u64 answers[64];

#define answer(number, value) (answers[number] = (value))

SEC("?syscall")
int ask(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	/* Loads: the offset is in the instruction, and the size may change with the kernel's. */
	answer(0, task->pid);
	answer(1, task->group_leader->pid);
	answer(2, task->comm[3]);
	if (core_field_exists(task->__state))
		answer(3, task->__state);
	else
		answer(3, ((struct task_struct___old *)task)->state);
	answer(4, core_bit_field(task, in_iowait));

	/* Numbers: where, how large, whether signed. */
	answer(10, core_field_offset(core_field(struct bpf_prog, tag)));
	answer(11, core_field_offset(core_field(struct bpf_prog, tag[5])));
	answer(12, core_field_size(core_field(struct bpf_prog, tag)));
	answer(13, core_field_offset(core_field(struct bpf_prog, insnsi)));
	answer(14, core_field_signed(core_field(struct bpf_prog, len)));
	answer(15, core_field_signed(core_field(struct task_struct, pid)));
	answer(16, core_field_left_shift(core_field(struct bpf_prog, blinded)));
	answer(17, core_field_right_shift(core_field(struct bpf_prog, blinded)));
	answer(18, core_field_exists(core_field(struct bpf_prog, sleepable)));
	if (core_field_exists(core_field(struct bpf_prog, sleepable)))
		answer(19, core_field_left_shift(core_field(struct bpf_prog, sleepable)));
	answer(20, core_field_exists(core_field(struct cgroup, ancestors[2])));
	if (core_field_exists(core_field(struct cgroup, ancestors[2])))
		answer(21, core_field_offset(core_field(struct cgroup, ancestors[2])));
	else
		answer(21, core_field_offset(core_field(struct cgroup___old, ancestor_ids[2])));

	/* Types. */
	answer(30, core_type_exists(struct bpf4j_no_such_struct));
	answer(31, core_type_exists(enum skb_drop_reason));
	answer(32, core_type_size(struct task_struct));
	answer(33, core_type_size(struct bpf_prog));
	answer(34, core_type_matches(struct list_head));
	answer(35, core_type_matches(struct task_struct));
	answer(36, core_type_id_kernel(struct task_struct));
	answer(37, core_type_id_local(struct task_struct));

	/* Enumerators. */
	answer(40, core_enum_value(enum bpf_map_type___other, BPF_MAP_TYPE_HASH___other));
	answer(41, core_enum_value_exists(enum bpf_map_type___other, BPF_MAP_TYPE_USER_RINGBUF___other));
	if (core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_NO_SOCKET))
		answer(42, core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_NO_SOCKET));
	return 0;
}

/* Not guarded: a kernel before 6.9 lacks what it needs. */
SEC("?syscall")
int ask_blindly(void *ctx)
{
	answer(50, core_field_left_shift(core_field(struct bpf_prog, sleepable)));
	return 0;
}
