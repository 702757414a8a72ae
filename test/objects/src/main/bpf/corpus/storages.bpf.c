/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Values that hang on a task and go with it. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct task_struct;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} of_task SEC(".maps");

SEC("syscall")
int task_storage(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 initial = 7, *value;

	CHECK(!bpf_task_storage_get(&of_task, task, NULL, 0));
	value = bpf_task_storage_get(&of_task, task, &initial, BPF_STORAGE_GET_F_CREATE);
	CHECK(value && *value == 7);
	*value = 8;
	value = bpf_task_storage_get(&of_task, task, NULL, 0);
	CHECK(value && *value == 8);
	CHECK(!bpf_task_storage_delete(&of_task, task));
	CHECK(bpf_task_storage_delete(&of_task, task) == -ENOENT);
	return 0;
}
