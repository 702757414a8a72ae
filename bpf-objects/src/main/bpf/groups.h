/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Takes only events of processes in certain control groups (version 2), and in the groups below these.
 *
 * User space sets `in_groups` before the load, and then writes the ids of groups into the map, at any time. The id of a
 * group is the inode number of its directory. A process that starts in a known group is taken from its first instruction,
 * because the kernel looks at the group of the thread that fires, and no process is listed anywhere.
 *
 * Needs bpf_get_current_ancestor_cgroup_id, which programs that trace may call since Linux 5.10 (95b861a7935b).
 */
#ifndef BPF4J_GROUPS_H
#define BPF4J_GROUPS_H

#include <bpf4j/helpers.h>

HELPER(123, __u64, bpf_get_current_ancestor_cgroup_id, int level); /* 0 if it is not that deep */

/* The root is level 0. Kubernetes has its containers on level 4, a service of a user's systemd is on level 5. */
#define GROUP_LEVELS 16

const volatile bool in_groups = false;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u8);
} groups SEC(".maps");

/* How often a process of these groups has executed a program. */
__u64 group_execs = 0;

/* Whether the current thread is in one of the groups; true if user space has chosen none. */
static __always_inline bool is_in_groups(void)
{
	__u64 group;

	if (!in_groups)
		return true;
	group = bpf_get_current_cgroup_id();
	if (bpf_map_lookup_elem(&groups, &group))
		return true;
	for (int level = 0; level < GROUP_LEVELS; level++) {
		group = bpf_get_current_ancestor_cgroup_id(level);
		if (!group)
			return false;
		if (bpf_map_lookup_elem(&groups, &group))
			return true;
	}
	return false;
}

/* A program that ends before user space has looked at its files may have fired probes that nobody had attached to. */
SEC("raw_tp/sched_process_exec")
int count_exec(void *ctx)
{
	if (is_in_groups())
		atomic_add(&group_execs, 1);
	return 0;
}

#endif
