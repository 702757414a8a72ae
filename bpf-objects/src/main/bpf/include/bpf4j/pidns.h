/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The ids of the current process and thread in user space's pid namespace. A process in a container has one number there
 * and another outside; bpf_get_current_pid_tgid() always gives the outermost, which is unknown in the container.
 *
 * bpf4j sets these two at load to what stat says of /proc/self/ns/pid, if that isn't the initial one. A process that
 * isn't in that very namespace, and every one if pidns_inode stays 0, has its ids of the initial namespace.
 */
#ifndef BPF4J_PIDNS_H
#define BPF4J_PIDNS_H

#include <bpf4j/helpers.h>

const volatile __u64 pidns_device = 0;
const volatile __u64 pidns_inode = 0;

static __always_inline struct pidns_ids current_ids(void)
{
	struct pidns_ids ids;
	__u64 task;

	/* Without a namespace the verifier drops the call: kernels before 5.7 don't have it. */
	if (pidns_inode && !bpf_get_ns_current_pid_tgid(pidns_device, pidns_inode, &ids, sizeof(ids)))
		return ids;
	task = bpf_get_current_pid_tgid();
	ids.tgid = task >> 32;
	ids.pid = task;
	return ids;
}

/* Whether current_ids() gives numbers of user space's pid namespace; else they are those of the initial one. */
static __always_inline bool has_known_ids(void)
{
	struct pidns_ids ids;

	return !pidns_inode || !bpf_get_ns_current_pid_tgid(pidns_device, pidns_inode, &ids, sizeof(ids));
}

/*
 * Whether the program runs in another process than the one that user space attached to, which is given by its number in
 * user space's pid namespace; 0 means every process. False in a process of another pid namespace, whose number is not
 * known.
 *
 * The kernel's filter by process does not suffice. It compares memory: a perf uprobe fires in each process that shares the
 * memory of the chosen one, and so does a uprobe_multi link before Linux 6.12. A child shares it between vfork and exec;
 * if user space has attached to the child as well, each of its events would come twice. And on kernels such as 6.1 the
 * program of a return fires in each process in which anybody probes that return (uretprobe_perf_func has no filter).
 */
static __always_inline bool is_other_process(__u32 attached)
{
	return attached && current_ids().tgid != attached && has_known_ids();
}

#endif
