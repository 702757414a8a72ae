/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Relocations about fields, checked against what the kernel says in another way, or against its own types laid
 * over bytes that the program knows.
 */
#include <bpf4j/corpus.h>
#include <bpf4j/core.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct list_head___any {
	struct list_head___any *next, *prev;
} __core;

/* None of the members is where the kernel has it. */
struct task_struct {
	char comm[16];
	int tgid;
	struct task_struct *group_leader;
	int pid;
	unsigned int flags;
} __core;

/* Structs whose only name is that of a typedef, within others. */
typedef struct {
	int counter;
} atomic_t;

typedef struct {
	atomic_t refs;
} __core refcount_t;

struct task_struct___count {
	refcount_t usage;
} __core;

/* The same of another flavour: wider and narrower, a member that no kernel has. */
struct task_struct___wide {
	unsigned long long flags;
	unsigned long long no_such_member;
} __core;

struct task_struct___narrow {
	unsigned short flags;
} __core;

/* Headers of packets: the fields are where the standard says, on every kernel. Bit-fields in another order. */
struct iphdr {
	__u16 id;
	__u8 version : 4, ihl : 4;
	__u8 ttl;
	__u32 daddr;
} __core;

struct tcphdr___bits {
	__u32 syn : 1, ack : 1, fin : 1;
	__u32 doff : 4;
} __core;

/* include/uapi/linux/bpf.h: numbers of 4 bytes but for netns_dev. */
struct bpf_map_info {
	__u32 id;
	__u32 key_size;
	char name[16];
	__u64 netns_dev;
} __core;

struct bpf_map_info___wide {
	__u64 key_size;
	__u64 max_entries;
} __core;

struct bpf_map_info___narrow {
	__u8 key_size;
	__u16 netns_dev;
} __core;

/* Members of unnamed members: here named by their place, there by none. */
struct sk_buff___flat {
	void *dev;
	void *list;
} __core;

struct sk_buff___deep {
	union {
		struct {
			void *next;
			void *prev;
			union {
				void *dev;
			};
		};
		struct list_head___any list;
	};
} __core;

struct linux_dirent64 {
	char d_name[0];
	unsigned char d_type;
} __core;

struct linux_dirent64___flexible {
	__u64 d_ino;
	char d_name[];
} __core;

/* One function in several programs: its relocations are applied wherever it goes. */
static __noinline int number_of(struct task_struct *task)
{
	return task ? task->pid : -1;
}

SEC("syscall")
int in_a_function(void *ctx)
{
	CHECK(number_of(bpf_get_current_task_btf()) == (int)bpf_get_current_pid_tgid());
	return 0;
}

SEC("syscall")
int in_the_same_function(void *ctx)
{
	struct task_struct *leader = bpf_get_current_task_btf()->group_leader;

	CHECK(number_of(leader) == (int)(bpf_get_current_pid_tgid() >> 32));
	return 0;
}

SEC("syscall")
int offsets(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	char comm[16];
	__u64 ids = bpf_get_current_pid_tgid();

	CHECK(task->pid == (int)ids);
	CHECK(task->tgid == (int)(ids >> 32));
	CHECK(task->group_leader->pid == task->tgid);
	CHECK(task->group_leader->group_leader->tgid == task->tgid);
	CHECK(!bpf_get_current_comm(comm, sizeof(comm)));
	CHECK(task->comm[0] == comm[0]);
	CHECK(task->comm[3] == comm[3]);
	CHECK(core_field_offset(task->comm[3]) == core_field_offset(task->comm) + 3);
	return 0;
}

SEC("syscall")
int names_of_typedefs(void *ctx)
{
	struct task_struct___count *task = (void *)bpf_get_current_task_btf();

	CHECK(task->usage.refs.counter > 0);
	CHECK(core_field_exists(core_field(struct task_struct___count, usage.refs.counter)));
	CHECK(core_field_size(core_field(struct task_struct___count, usage)) == 4);
	return 0;
}

SEC("syscall")
int existence(void *ctx)
{
	CHECK(core_field_exists(core_field(struct task_struct, pid)) == 1);
	CHECK(core_field_exists(core_field(struct task_struct, comm[15])) == 1);
	CHECK(core_field_exists(core_field(struct task_struct___wide, flags)) == 1);
	CHECK(core_field_exists(core_field(struct task_struct___wide, no_such_member)) == 0);
	/* What is not there is not reached: the verifier never sees the access, or the loader's poison in it. */
	if (core_field_exists(core_field(struct task_struct___wide, no_such_member))) {
		struct task_struct___wide *task = (void *)bpf_get_current_task_btf();

		return task->no_such_member;
	}
	return 0;
}

SEC("syscall")
int sizes(void *ctx)
{
	CHECK(core_field_size(core_field(struct task_struct, pid)) == 4);
	CHECK(core_field_size(core_field(struct task_struct, comm)) == 16);
	CHECK(core_field_size(core_field(struct task_struct, comm[1])) == 1);
	CHECK(core_field_size(core_field(struct task_struct, group_leader)) == 8);
	CHECK(core_field_size(core_field(struct task_struct___wide, flags)) == 4);
	CHECK(core_field_size(core_field(struct task_struct___narrow, flags)) == 4);
	return 0;
}

SEC("syscall")
int signs(void *ctx)
{
	CHECK(core_field_signed(core_field(struct task_struct, pid)) == 1);
	CHECK(core_field_signed(core_field(struct task_struct, flags)) == 0);
	CHECK(core_field_signed(core_field(struct iphdr, ihl)) == 0);
	return 0;
}

/* Loads of 8 and 2 bytes that become loads of 4. */
SEC("syscall")
int loads_of_another_size(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 flags = 0;

	CHECK(!bpf_probe_read_kernel(&flags, sizeof(flags), (void *)task + core_field_offset(task->flags)));
	CHECK(flags);
	CHECK(((struct task_struct___wide *)task)->flags == flags);
	CHECK((__u32)((struct task_struct___narrow *)task)->flags == flags);
	return 0;
}

/* Where the program writes the kernel's struct: a buffer of its own. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, char[256]);
} buffer SEC(".maps");

/* Stores of 8, 2 and 1 bytes that become stores of 4 or 8: what is beside the field stays. */
SEC("syscall")
int stores_of_another_size(void *ctx)
{
	__u32 zero = 0;
	void *bytes = bpf_map_lookup_elem(&buffer, &zero);
	/* volatile: by the declarations here the fields are elsewhere. */
	volatile __u32 *words = bytes;
	volatile struct bpf_map_info___wide *wide = bytes;
	volatile struct bpf_map_info___narrow *narrow = bytes;
	__u64 value = 0x11223344;
	__u32 small;

	CHECK(bytes);
	opaque(value);
	/* type, id, key_size, value_size, max_entries, map_flags: include/uapi/linux/bpf.h */
	words[0] = 1;
	words[1] = 2;
	words[3] = 4;
	words[5] = 6;
	wide->key_size = value;
	wide->max_entries = value + 1;
	CHECK(words[0] == 1 && words[1] == 2 && words[3] == 4 && words[5] == 6);
	CHECK(words[2] == 0x11223344);
	CHECK(words[4] == 0x11223345);
	words[2] = ~0;
	/* All of the register goes in, so it is to hold nothing more. */
	small = 0x44;
	opaque(small);
	narrow->key_size = small;
	CHECK(words[2] == 0x44);
	CHECK(wide->key_size == 0x44);
	narrow->netns_dev = 0x7788;
	CHECK(((struct bpf_map_info *)bytes)->netns_dev == 0x7788);
	return 0;
}

SEC("syscall")
int bit_fields(void *ctx)
{
	__u32 zero = 0;
	__u8 *bytes = bpf_map_lookup_elem(&buffer, &zero);

	CHECK(bytes);
	bytes[0] = 0x45; /* version 4, header of 5 words */
	bytes[8] = 64;
	CHECK(core_bit_field((struct iphdr *)bytes, version) == 4);
	CHECK(core_bit_field((struct iphdr *)bytes, ihl) == 5);
	CHECK(((struct iphdr *)bytes)->ttl == 64);
	CHECK(core_field_size(core_field(struct iphdr, version)) <= 4);
	CHECK(core_field_right_shift(core_field(struct iphdr, version)) == 60);
	CHECK(core_field_right_shift(core_field(struct tcphdr___bits, syn)) == 63);
	bytes[12] = 0xa0; /* header of 10 words */
	bytes[13] = 0x12; /* syn and ack */
	CHECK(core_bit_field((struct tcphdr___bits *)bytes, doff) == 10);
	CHECK(core_bit_field((struct tcphdr___bits *)bytes, syn) == 1);
	CHECK(core_bit_field((struct tcphdr___bits *)bytes, ack) == 1);
	CHECK(core_bit_field((struct tcphdr___bits *)bytes, fin) == 0);
	return 0;
}

SEC("syscall")
int unnamed_members(void *ctx)
{
	CHECK(core_field_exists(core_field(struct sk_buff___flat, dev)));
	CHECK(core_field_offset(core_field(struct sk_buff___flat, dev)) ==
	      core_field_offset(core_field(struct sk_buff___deep, dev)));
	CHECK(core_field_offset(core_field(struct sk_buff___deep, list)) == 0);
	CHECK(core_field_offset(core_field(struct sk_buff___deep, list.prev)) == 8);
	CHECK(core_field_offset(core_field(struct iphdr, daddr)) == 16);
	return 0;
}

/* Arrays without a length: any index is in them. */
SEC("syscall")
int flexible_arrays(void *ctx)
{
	CHECK(core_field_offset(core_field(struct linux_dirent64, d_type)) == 18);
	CHECK(core_field_offset(core_field(struct linux_dirent64, d_name)) == 19);
	CHECK(core_field_offset(core_field(struct linux_dirent64___flexible, d_name[7])) == 26);
	CHECK(core_field_exists(core_field(struct linux_dirent64___flexible, d_name[200])));
	return 0;
}
