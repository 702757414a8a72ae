/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Values that hang on a control group and go with it, for programs of any kind. Linux 6.2. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct cgroup;

struct css_set {
	struct cgroup *dfl_cgrp;
} __attribute__((preserve_access_index));

struct task_struct {
	struct css_set *cgroups;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_CGRP_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} of_group SEC(".maps");

extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;

static __always_inline int use(struct cgroup *group)
{
	__u64 initial = 3, *value;

	CHECK(!bpf_cgrp_storage_get(&of_group, group, NULL, 0));
	value = bpf_cgrp_storage_get(&of_group, group, &initial, BPF_STORAGE_GET_F_CREATE);
	CHECK(value && *value == 3);
	CHECK(!bpf_cgrp_storage_delete(&of_group, group));
	CHECK(bpf_cgrp_storage_delete(&of_group, group) == -ENOENT);
	return 0;
}

SEC("syscall")
int group_storage(void *ctx)
{
	int line;

	bpf_rcu_read_lock();
	line = use(bpf_get_current_task_btf()->cgroups->dfl_cgrp);
	bpf_rcu_read_unlock();
	return line;
}
