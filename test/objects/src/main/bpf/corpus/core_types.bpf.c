/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Relocations about types and the values of enumerations. */
#include <bpf4j/corpus.h>
#include <bpf4j/core.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct iphdr {
	__u8 ttl;
};

/* Less than the kernel's, and what there is agrees. */
struct task_struct {
	int pid;
	unsigned int flags;
};

/* Another type for a member. */
struct task_struct___no_match {
	long long pid;
};

struct bpf4j_no_such_struct {
	int member;
};

union bpf4j_no_such_union {
	int member;
};

typedef struct bpf4j_no_such_struct bpf4j_no_such_type;

struct list_head {
	struct list_head *next, *prev;
};

typedef int (*initcall_t)(void);

/* A typedef of the kernel's, and of a function. */
typedef long long ktime_t;

enum pid_type {
	PIDTYPE_PID = 50,
	PIDTYPE_TGID = 51,
};

/* The values' names have flavours, too. */
enum bpf_map_type___flavour {
	BPF_MAP_TYPE_LRU_HASH___flavour = 1,
	BPF_MAP_TYPE_NO_SUCH___flavour = 2,
};

enum bpf4j_no_such_enum {
	BPF4J_NO_SUCH_VALUE = 1,
};

/* Values below 0: include/linux/pm.h of kernels since 2.6.37. */
enum rpm_status {
	RPM_INVALID = -100,
	RPM_ACTIVE = 100,
};

/* Pointers match by the names of what they point to, and by what that is. */
struct task_struct___pointers {
	struct task_struct *group_leader;
	struct mm_struct *mm;
};

struct task_struct___other_pointers {
	struct mm_struct *group_leader;
};

/* 64 bits wide, there and here. */
enum perf_callchain_context {
	PERF_CONTEXT_HV = 0x100000000ULL,
	PERF_CONTEXT_KERNEL = 0x200000000ULL,
};

/* Half as wide, and still the same by name. */
enum perf_callchain_context___half {
	PERF_CONTEXT_USER = 1,
};

HELPER(167, long, bpf_btf_find_by_name_kind, char *name, int size, __u32 kind, int flags);

SEC("syscall")
int ids(void *ctx)
{
	char name[] = "task_struct";
	__u64 found = bpf_btf_find_by_name_kind(name, sizeof(name), 4 /* struct */, 0);

	CHECK((__s64)found > 0);
	CHECK(core_type_id_kernel(struct task_struct) == found);
	CHECK(core_type_id_kernel(struct task_struct___no_match) == found);
	CHECK(core_type_id_kernel(struct bpf4j_no_such_struct) == 0);
	CHECK(core_type_id_local(struct task_struct) != 0);
	CHECK(core_type_id_local(struct task_struct) != core_type_id_local(struct task_struct___no_match));
	CHECK(core_type_id_local(struct bpf4j_no_such_struct) != 0);
	CHECK(core_type_id_local(int) != 0);
	return 0;
}

SEC("syscall")
int type_existence(void *ctx)
{
	CHECK(core_type_exists(struct task_struct) == 1);
	CHECK(core_type_exists(struct task_struct___no_match) == 1);
	CHECK(core_type_exists(struct bpf4j_no_such_struct) == 0);
	CHECK(core_type_exists(union bpf4j_no_such_union) == 0);
	CHECK(core_type_exists(enum pid_type) == 1);
	CHECK(core_type_exists(enum bpf4j_no_such_enum) == 0);
	CHECK(core_type_exists(initcall_t) == 1);
	CHECK(core_type_exists(ktime_t) == 1);
	CHECK(core_type_exists(bpf4j_no_such_type) == 0);
	return 0;
}

SEC("syscall")
int type_sizes(void *ctx)
{
	CHECK(core_type_size(struct iphdr) == 20);
	CHECK(core_type_size(struct list_head) == 16);
	CHECK(core_type_size(ktime_t) == 8);
	CHECK(core_type_size(struct task_struct) > 1000);
	CHECK(core_type_size(struct bpf4j_no_such_struct) == 0);
	CHECK(core_type_size(enum pid_type) == 4);
	CHECK(core_type_size(enum perf_callchain_context___half) == 8);
	return 0;
}

SEC("syscall")
int type_matches(void *ctx)
{
	CHECK(core_type_matches(struct task_struct) == 1);
	CHECK(core_type_matches(struct task_struct___no_match) == 0);
	CHECK(core_type_matches(struct list_head) == 1);
	CHECK(core_type_matches(struct iphdr) == 1);
	CHECK(core_type_matches(struct bpf4j_no_such_struct) == 0);
	CHECK(core_type_matches(struct task_struct___pointers) == 1);
	CHECK(core_type_matches(struct task_struct___other_pointers) == 0);
	CHECK(core_type_matches(enum pid_type) == 1);
	CHECK(core_type_matches(enum bpf4j_no_such_enum) == 0);
	return 0;
}

SEC("syscall")
int enum_values(void *ctx)
{
	CHECK(core_enum_value_exists(enum pid_type, PIDTYPE_TGID) == 1);
	CHECK(core_enum_value(enum pid_type, PIDTYPE_PID) == 0);
	CHECK(core_enum_value(enum pid_type, PIDTYPE_TGID) == 1);
	CHECK((int)core_enum_value(enum rpm_status, RPM_INVALID) == -1);
	CHECK(core_enum_value(enum rpm_status, RPM_ACTIVE) == 0);
	CHECK(core_enum_value(enum bpf_map_type___flavour, BPF_MAP_TYPE_LRU_HASH___flavour) == 9);
	CHECK(core_enum_value_exists(enum bpf_map_type___flavour, BPF_MAP_TYPE_NO_SUCH___flavour) == 0);
	CHECK(core_enum_value_exists(enum bpf4j_no_such_enum, BPF4J_NO_SUCH_VALUE) == 0);
	return 0;
}

/* include/uapi/linux/perf_event.h */
SEC("syscall")
int wide_enum_values(void *ctx)
{
	CHECK(core_enum_value(enum perf_callchain_context, PERF_CONTEXT_HV) == (__u64)-32);
	CHECK(core_enum_value(enum perf_callchain_context, PERF_CONTEXT_KERNEL) == (__u64)-128);
	CHECK(core_enum_value_exists(enum perf_callchain_context___half, PERF_CONTEXT_USER) == 1);
	return 0;
}
