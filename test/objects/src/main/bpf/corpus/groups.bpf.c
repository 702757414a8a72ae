/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Maps of control groups, and storage that a program has in each group that it is attached to. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* User space puts the group of this process into slot 1. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 2);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} groups SEC(".maps");

struct bpf_cgroup_storage_key {
	__u64 cgroup_inode_id;
	__u32 attach_type;
};

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_STORAGE);
	__type(key, struct bpf_cgroup_storage_key);
	__type(value, __u64);
} storage SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE);
	__type(key, __u64); /* the group alone */
	__type(value, __u64);
} per_cpu_storage SEC(".maps");

REPORTS

SEC("tc")
int skb_of_no_group(struct __sk_buff *skb)
{
	/* A packet of a test run has no socket; the slot is empty before it is known. */
	CHECK(bpf_skb_under_cgroup(skb, &groups, 0) < 0);
	CHECK(bpf_skb_under_cgroup(skb, &groups, 2) == -E2BIG);
	return report(0, 0);
}

SEC("raw_tp/sys_enter")
int task_of_group(void *ctx)
{
	CHECK(bpf_current_task_under_cgroup(&groups, 0) == -EAGAIN);
	CHECK(bpf_current_task_under_cgroup(&groups, 1) == 1);
	return report(0, 0);
}

static __always_inline int keep(void)
{
	__u64 *shared = bpf_get_local_storage(&storage, 0);
	__u64 *own = bpf_get_local_storage(&per_cpu_storage, 0);

	CHECK(*shared == 0);
	*shared = 5;
	CHECK(*own == 0);
	*own = 6;
	shared = bpf_get_local_storage(&storage, 0);
	CHECK(*shared == 5);
	own = bpf_get_local_storage(&per_cpu_storage, 0);
	CHECK(*own == 6);
	return 0;
}

SEC("cgroup_skb/egress")
int group_storage(struct __sk_buff *skb)
{
	return report(keep(), 1);
}
