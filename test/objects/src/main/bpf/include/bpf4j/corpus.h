/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * For the corpus: small programs, at least one for every kind of map, program, relocation and extern, each
 * of which checks itself. A program returns 0, or the number of the line that failed; one whose return value
 * means something to the kernel, or is lost, leaves the number in `failed_line` and says in `runs` that it ran.
 * The files are named after what they are about, and a test makes "corpus/hash.bpf.c:123" of the two.
 */
#ifndef BPF4J_CORPUS_H
#define BPF4J_CORPUS_H

#include <bpf4j/helpers.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

/* Keeps the first line that failed, counts the run, and gives the verdict that the kernel is to hear. */
#define REPORTS                                                                                    \
	__u32 failed_line = 0;                                                                     \
	__u32 runs = 0;                                                                            \
                                                                                                   \
	static __always_inline int report(int line, int verdict)                                   \
	{                                                                                          \
		if (line && !failed_line)                                                          \
			failed_line = line;                                                        \
		runs += 1;                                                                         \
		return verdict;                                                                    \
	}

#define __ksym __attribute__((section(".ksyms")))
#define __kptr __attribute__((btf_type_tag("kptr")))
#define __kptr_untrusted __attribute__((btf_type_tag("kptr_untrusted")))
#define __percpu_kptr __attribute__((btf_type_tag("percpu_kptr")))
#define __contains(type, node) __attribute__((btf_decl_tag("contains:" #type ":" #node)))
#define __exception_cb(name) __attribute__((btf_decl_tag("exception_callback:" #name)))
#define private(name) SEC(".data." #name) __hidden __attribute__((aligned(8)))
#define container_of(pointer, type, member) ((type *)((void *)(pointer) - __builtin_offsetof(type, member)))

/* enum bpf_map_type of include/uapi/linux/bpf.h: the others are in helpers.h */
enum {
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_PERCPU_HASH = 10,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_HASH_OF_MAPS = 13,
	BPF_MAP_TYPE_DEVMAP = 14,
	BPF_MAP_TYPE_SOCKMAP = 15,
	BPF_MAP_TYPE_CPUMAP = 16,
	BPF_MAP_TYPE_XSKMAP = 17,
	BPF_MAP_TYPE_SOCKHASH = 18,
	BPF_MAP_TYPE_CGROUP_STORAGE = 19,
	BPF_MAP_TYPE_REUSEPORT_SOCKARRAY = 20,
	BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE = 21,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_STACK = 23,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_DEVMAP_HASH = 25,
	BPF_MAP_TYPE_INODE_STORAGE = 28,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_MAP_TYPE_BLOOM_FILTER = 30,
	BPF_MAP_TYPE_USER_RINGBUF = 31,
	BPF_MAP_TYPE_CGRP_STORAGE = 32,
};

/* flags of map creation */
enum { BPF_F_NO_PREALLOC = 1, BPF_F_NUMA_NODE = 4, BPF_F_MMAPABLE = 1 << 10, BPF_F_INNER_MAP = 1 << 12 };

/* of bpf_perf_event_output and of the storages of tasks, sockets, inodes and control groups */
#define BPF_F_CURRENT_CPU 0xffffffffULL
enum { BPF_STORAGE_GET_F_CREATE = 1 };

/*
 * Error numbers, x86-64 and arm64 alike. Before Linux 6.4 (kernel commit d7ba4cc900bf) what the map helpers return is
 * a number of 32 bits, the upper half is not set: so (int)bpf_map_update_elem(...) == -EEXIST.
 */
enum { ENOENT = 2, E2BIG = 7, EAGAIN = 11, EBUSY = 16, EEXIST = 17, EINVAL = 22, EOPNOTSUPP = 95 };

/* Contexts, as far as they are used: include/uapi/linux/bpf.h. */
struct __sk_buff {
	__u32 len, pkt_type, mark, queue_mapping, protocol, vlan_present, vlan_tci, vlan_proto, priority;
	__u32 ingress_ifindex, ifindex, tc_index, cb[5], hash, tc_classid, data, data_end;
};

struct xdp_md {
	__u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex;
};

struct bpf_sock {
	__u32 bound_dev_if, family, type, protocol, mark, priority;
};

/* What programs share with the kernel by their names. */
struct bpf_spin_lock {
	__u32 val;
};

struct bpf_timer {
	__u64 __opaque[2];
} __attribute__((aligned(8)));

struct bpf_dynptr {
	__u64 __opaque[2];
} __attribute__((aligned(8)));

/* Helpers by number, after ___BPF_FUNC_MAPPER of include/uapi/linux/bpf.h. */
HELPER(12, long, bpf_tail_call, void *ctx, void *programs, __u32 index);
HELPER(23, long, bpf_redirect, __u32 interface, __u64 flags);
HELPER(25, long, bpf_perf_event_output, void *ctx, void *map, __u64 flags, void *data, __u64 size);
HELPER(26, long, bpf_skb_load_bytes, const void *skb, __u32 offset, void *to, __u32 length);
HELPER(33, long, bpf_skb_under_cgroup, struct __sk_buff *skb, void *map, __u32 index);
HELPER(35, __u64, bpf_get_current_task, void);
HELPER(37, long, bpf_current_task_under_cgroup, void *map, __u32 index);
HELPER(51, long, bpf_redirect_map, void *map, __u64 key, __u64 flags);
HELPER(52, long, bpf_sk_redirect_map, struct __sk_buff *skb, void *map, __u32 key, __u64 flags);
HELPER(60, long, bpf_msg_redirect_map, void *message, void *map, __u32 key, __u64 flags);
HELPER(71, long, bpf_msg_redirect_hash, void *message, void *map, void *key, __u64 flags);
HELPER(81, void *, bpf_get_local_storage, void *map, __u64 flags);
HELPER(82, long, bpf_sk_select_reuseport, void *ctx, void *map, void *key, __u64 flags);
HELPER(86, long, bpf_sk_release, void *socket);
HELPER(87, long, bpf_map_push_elem, void *map, const void *value, __u64 flags);
HELPER(88, long, bpf_map_pop_elem, void *map, void *value);
HELPER(89, long, bpf_map_peek_elem, void *map, void *value);
HELPER(93, long, bpf_spin_lock, struct bpf_spin_lock *lock);
HELPER(94, long, bpf_spin_unlock, struct bpf_spin_lock *lock);
HELPER(107, void *, bpf_sk_storage_get, void *map, void *socket, void *value, __u64 flags);
HELPER(108, long, bpf_sk_storage_delete, void *map, void *socket);
HELPER(145, void *, bpf_inode_storage_get, void *map, void *inode, void *value, __u64 flags);
HELPER(146, int, bpf_inode_storage_delete, void *map, void *inode);
HELPER(153, void *, bpf_per_cpu_ptr, const void *variable, __u32 cpu);
HELPER(154, void *, bpf_this_cpu_ptr, const void *variable);
HELPER(156, void *, bpf_task_storage_get, void *map, void *task, void *value, __u64 flags);
HELPER(157, long, bpf_task_storage_delete, void *map, void *task);
HELPER(158, struct task_struct *, bpf_get_current_task_btf, void);
HELPER(164, long, bpf_for_each_map_elem, void *map, void *callback, void *context, __u64 flags);
HELPER(169, long, bpf_timer_init, struct bpf_timer *timer, void *map, __u64 flags);
HELPER(170, long, bpf_timer_set_callback, struct bpf_timer *timer, void *callback);
HELPER(171, long, bpf_timer_start, struct bpf_timer *timer, __u64 nanoseconds, __u64 flags);
HELPER(172, long, bpf_timer_cancel, struct bpf_timer *timer);
HELPER(181, long, bpf_loop, __u32 rounds, void *callback, void *context, __u64 flags);
HELPER(194, void *, bpf_kptr_xchg, void *place, void *pointer);
HELPER(195, void *, bpf_map_lookup_percpu_elem, void *map, const void *key, __u32 cpu);
HELPER(197, long, bpf_dynptr_from_mem, void *data, __u32 size, __u64 flags, struct bpf_dynptr *pointer);
HELPER(198, long, bpf_ringbuf_reserve_dynptr, void *ring, __u32 size, __u64 flags, struct bpf_dynptr *pointer);
HELPER(199, void, bpf_ringbuf_submit_dynptr, struct bpf_dynptr *pointer, __u64 flags);
HELPER(200, void, bpf_ringbuf_discard_dynptr, struct bpf_dynptr *pointer, __u64 flags);
HELPER(201, long, bpf_dynptr_read, void *to, __u32 length, const struct bpf_dynptr *from, __u32 offset, __u64 flags);
HELPER(202, long, bpf_dynptr_write, const struct bpf_dynptr *to, __u32 offset, void *from, __u32 length, __u64 flags);
HELPER(203, void *, bpf_dynptr_data, const struct bpf_dynptr *pointer, __u32 offset, __u32 length);
HELPER(209, long, bpf_user_ringbuf_drain, void *map, void *callback, void *context, __u64 flags);
HELPER(210, void *, bpf_cgrp_storage_get, void *map, void *group, void *value, __u64 flags);
HELPER(211, long, bpf_cgrp_storage_delete, void *map, void *group);

#endif
