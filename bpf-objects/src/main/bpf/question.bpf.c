/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The frame of a question: "how often, by which key", "how is this value distributed", "how long from here to there".
 *
 * The question is not known when this file is compiled. Two things complete the program:
 *
 *   - Constants. User space sets the variables in .rodata before the load; the verifier knows their values and drops
 *     what they rule out, so a question pays for what it uses.
 *   - Functions. The filter, the keys and the values are expressions. User space compiles each to the body of one of the
 *     functions below that begin with question_, and replaces the stub that stands here. They are hidden, so the verifier
 *     checks them with what their caller passes; and weak, so the compiler doesn't draw conclusions from the stubs.
 *
 * Counting is exact. A program may be preempted by a program of another thread on the same CPU, hence atomic operations
 * on per-CPU values, which are cheap because no other CPU uses the cache line. What can't be counted (a full table,
 * memory that can't be read) is counted as such.
 */
#include <bpf4j/usdt.h>
#include <bpf4j/pidns.h>
#include "groups.h"
#include "pause.h"
#include "question.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/uapi/linux/bpf.h: storage of tasks, since 5.12 in programs that trace */
enum { BPF_MAP_TYPE_TASK_STORAGE = 29, BPF_F_NO_PREALLOC = 1, BPF_STORAGE_GET_F_CREATE = 1 };
struct task_struct;
HELPER(156, void *, bpf_task_storage_get, void *map, struct task_struct *task, void *value, __u64 flags);
HELPER(158, struct task_struct *, bpf_get_current_task_btf, void);

#define NO_STACK 0xffffffff

const volatile struct config {
	__u32 kind;          /* enum question_kind */
	__u32 wanted_args;   /* a bit for each */
	__u32 wanted_fields; /* enum question_field */
	bool has_begin;      /* the end of a pair needs values of its begin */
	bool has_where;
	bool has_keys;
	bool has_pair;
	bool has_returns;
	bool has_task_storage; /* with bpf_get_current_task_btf(), which needs the kernel's BTF */
	bool by_frame;         /* pairs are the entries and returns of functions */
	bool value_signed;
	/*
	 * linear buckets [from + n * step, from + (n + 1) * step), one below and one above; four for each power of two
	 * if linear_step is 0
	 */
	__s64 linear_from;
	__u64 linear_step;
	__u32 bucket_count;
	__u32 user_stack_at; /* bytes in the key where the stack's hash is written, or NO_STACK */
	__u32 kernel_stack_at;
	bool has_slower; /* latencies of at least slower_than nanoseconds are shown */
	__u64 slower_than;
	__u32 shown_bytes;
} config = { .bucket_count = 253, .user_stack_at = NO_STACK, .kernel_stack_at = NO_STACK };

/* tables of the generated functions */
const volatile __u64 tables[QUESTION_TABLES / 8] = {};

/*
 * Not 0 while user space attaches or detaches; events are not counted then. The kernel attaches to one probe after the
 * other, and detaches in the same way, so some probes would be counted for longer than others.
 */
__u64 suspended = 0;

__u64 unreadable = 0;    /* events of which an expression could not be read */
__u64 full = 0;          /* events whose key found no room */
__u64 unpaired_ends = 0; /* ends without a begin */
__u64 unpaired_begins = 0; /* begins that another begin replaced */
__u64 pairs_full = 0;    /* begins that found no room */
__u64 stacks_lost = 0;   /* events whose stack could not be read or kept */
__u64 returns_dropped = 0; /* calls of which the kernel reports no return */
__u64 nestings_lost = 0; /* calls and returns by which the depth of a thread was not changed */
__u64 extremes_lost = 0; /* extremes that could not be raised to the value of an event */
__u64 lost = 0;          /* records that found no room */

/* Without keys user space makes it a per-CPU array of one element, which the program finds without a hash. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 256); /* user space makes room for as many keys as the question may have */
	__uint(key_size, QUESTION_OUT);
	__uint(value_size, sizeof(struct question_distribution));
} table SEC(".maps");

struct pair_key {
	__u64 pair; /* the value of an expression, the thread, or the frame of a call */
	__u64 pid;  /* with an expression its process, with a frame its function and thread; else 0 */
};

/* User space cuts it after the last value. Its time is written last: without a time it is not there yet. */
struct begin {
	__u64 nsecs;
	__u64 values[QUESTION_BEGIN_OUT / 8];
};

const volatile struct begin no_begin = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10240);
	__uint(key_size, sizeof(struct pair_key));
	__uint(value_size, sizeof(struct begin));
} begins SEC(".maps");

/*
 * The calls with probed returns that a thread is in, the outermost first. The kernel follows 64 (MAX_URETPROBE_DEPTH of
 * kernel/events/uprobes.c) and says nothing of the returns of more. A thread may leave calls without a return, by longjmp.
 * The kernel notices that by their places on the stack, at a later call (cleanup_return_instances) or at a return
 * (uprobe_handle_trampoline), but it does not look when it follows 64 already. The places are compared here in the same way,
 * because one call too many or too few would count later returns as dropped, or dropped ones as calls without an end.
 */
#define RETURNS_FOLLOWED 64

struct nesting {
	__u64 depth;
	__u64 places[RETURNS_FOLLOWED]; /* see frame() */
};

const volatile struct nesting not_nested = {};

/* The kernel frees the value of a thread when the thread ends, so there is room while the kernel has memory. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct nesting);
} nestings SEC(".maps");

/*
 * The same by the number of the thread, for kernels without task storage. It must not be an LRU map, which forgets the
 * calls of a thread and doesn't say so. A thread that ends in a call stays in it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct nesting);
} nestings_by_tid SEC(".maps");

/*
 * Stacks by a hash of 64 bits. A map of the kernel's type for stacks would lose some: it keeps one stack for each value of
 * a short hash, so of 3,000 stacks in a map for 16,384 every twelfth finds its place taken.
 */
struct stack {
	__u64 addresses[QUESTION_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct stack);
} stacks SEC(".maps");

/*
 * Room for a thread to write its stack to, while it needs it: per-CPU memory would be shared with a program that preempts
 * this one.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct stack);
} stacks_in_work SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} records SEC(".maps");

const volatile struct question_distribution zero = {};

#define STUB(name)                                                                                                     \
	__weak __hidden __noinline int name(struct question_event *event, void *out, const void *from)                 \
	{                                                                                                              \
		int result = 0;                                                                                        \
		asm volatile("" : "+r"(result) : "r"(event), "r"(out), "r"(from) : "memory");                          \
		return result;                                                                                         \
	}

STUB(question_begin) /* writes values of a begin, and before them a bit for each that can't be read, to out; 0 */
STUB(question_where) /* 1: take the event; 0: leave it */
STUB(question_keys)  /* writes the key's bytes to out; 0 */
STUB(question_value) /* writes 8 bytes to out; 0 */
STUB(question_pair)  /* writes 8 bytes to out; 0 */
STUB(question_show)  /* writes shown_bytes to out; 0. Each returns -1 if something can't be read. */

/*
 * Atomic compare and swap, which returns the number that was there: since Linux 5.12.
 * Older verifiers refuse the instruction even where it is never reached, so there user space replaces this function by one
 * that just stores. That suffices: before Linux 6.0 (8c7dcb84e3b7) no thread preempts a program of a uprobe.
 */
__weak __hidden __noinline __u64 question_exchange(__u64 *number, __u64 old, __u64 to)
{
	return __sync_val_compare_and_swap(number, old, to);
}

/* The register that holds argument n of a function, by the calling convention of the machine. */
static __always_inline __u64 argument_register(struct pt_regs *ctx, int n)
{
	switch (n) {
	case 0: return REGS_ARG1(ctx);
	case 1: return REGS_ARG2(ctx);
	case 2: return REGS_ARG3(ctx);
	case 3: return REGS_ARG4(ctx);
	case 4: return REGS_ARG5(ctx);
	default: return REGS_ARG6(ctx);
	}
}

/* The same of Go, on x86-64; on arm64 and riscv64 Go uses the registers of C. */
static __always_inline __u64 go_register(struct pt_regs *ctx, int n)
{
	switch (n) {
	case 0: return REGS_READ(ctx, 80 /* ax */);
	case 1: return REGS_READ(ctx, 40 /* bx */);
	case 2: return REGS_READ(ctx, 88 /* cx */);
	case 3: return REGS_READ(ctx, 112 /* di */);
	case 4: return REGS_READ(ctx, 104 /* si */);
	default: return REGS_READ(ctx, 72 /* r8 */);
	}
}

/* Whether this is a 32-bit process of x86-64: its code segment is __USER32_CS (arch/x86/include/asm/segment.h). */
static __always_inline bool is_ia32(struct pt_regs *ctx)
{
	return LINUX_ELF_MACHINE == 62 && REGS_READ(ctx, 136 /* cs */) == 0x23;
}

/* Argument n of a function at its entry. Not 0 if it can't be read. */
static __always_inline long function_argument(struct pt_regs *ctx, __u64 cookie, int n, __u64 *value)
{
	if (is_ia32(ctx)) {
		/* On the stack, each 4 bytes, after the return address (System V ABI, Intel386 supplement). */
		const void *from = (const void *)(REGS_READ(ctx, 152 /* sp */) + 4 + 4 * n);
		__u32 word = 0;
		long error = bpf_probe_read_user(&word, sizeof(word), from);

		*value = word;
		return error;
	}
	*value = LINUX_ELF_MACHINE == 62 && cookie >> 32 & QUESTION_GO ? go_register(ctx, n) : argument_register(ctx, n);
	return 0;
}

static __always_inline void fill(struct question_event *event, __u64 cookie)
{
	event->cookie = cookie;
	if (config.wanted_fields & QUESTION_THREAD) {
		struct pidns_ids ids = current_ids();

		event->pid = ids.tgid;
		event->tid = ids.pid;
	}
	if (config.wanted_fields & QUESTION_NSECS)
		event->nsecs = bpf_ktime_get_ns();
	if (config.wanted_fields & QUESTION_CGROUP)
		event->cgroup = bpf_get_current_cgroup_id();
	if (config.wanted_fields & QUESTION_UID)
		event->uid = bpf_get_current_uid_gid();
	if (config.wanted_fields & QUESTION_CPU)
		event->cpu = bpf_get_smp_processor_id();
	if (config.wanted_fields & QUESTION_COMM)
		bpf_get_current_comm(event->comm, sizeof(event->comm));
}

/*
 * Makes a per-CPU number as large as a new one. An attempt fails only if another thread preempts this one between two
 * instructions, and raises the number on this CPU.
 */
#define ATTEMPTS_TO_RAISE 16

static __always_inline void raise(__u64 *number, __u64 to)
{
	for (int attempt = 0; attempt < ATTEMPTS_TO_RAISE; attempt++) {
		__u64 old = *(volatile __u64 *)number;

		if (old >= to)
			return;
		if (question_exchange(number, old, to) == old)
			return;
	}
	atomic_add(&extremes_lost, 1);
}

/*
 * Four for each power of two: 0 for negative values, n + 1 for values n below 8. Larger values are shifted until their
 * three highest bits are left, 4 to 7, and each shift is four buckets. Linear: 0 below the first bucket, the last one
 * above.
 */
static __always_inline __u32 bucket_of(__u64 value)
{
	__u32 shift = 0;

	if (config.linear_step) {
		if (config.value_signed ? (__s64)value < config.linear_from : value < (__u64)config.linear_from)
			return 0;
		value = (value - (__u64)config.linear_from) / config.linear_step;
		return value >= config.bucket_count - 2 ? config.bucket_count - 1 : value + 1;
	}
	if (config.value_signed && (__s64)value < 0)
		return 0;
	if (value >> 34) {
		value >>= 32;
		shift += 32;
	}
	if (value >> 18) {
		value >>= 16;
		shift += 16;
	}
	if (value >> 10) {
		value >>= 8;
		shift += 8;
	}
	if (value >> 6) {
		value >>= 4;
		shift += 4;
	}
	if (value >> 4) {
		value >>= 2;
		shift += 2;
	}
	if (value >> 3) {
		value >>= 1;
		shift += 1;
	}
	return 4 * shift + value + 1;
}

/* One more event of a key. */
static __noinline int add(void *key, __u64 value)
{
	struct question_distribution *found = bpf_map_lookup_elem(&table, key);
	__u32 n;

	if (!found) {
		/* Another CPU may be first, or another thread on this one: then there is a value now. */
		bpf_map_update_elem(&table, key, (const void *)&zero, BPF_NOEXIST);
		found = bpf_map_lookup_elem(&table, key);
		if (!found) {
			atomic_add(&full, 1);
			return 0;
		}
	}
	atomic_add(&found->sum, config.kind == QUESTION_COUNT ? 1 : value);
	if (config.kind == QUESTION_COUNT)
		return 0;
	n = bucket_of(value);
	opaque(n); /* or the compiler checks a copy of the index */
	if (n >= config.bucket_count)
		return 0;
	atomic_add(&found->buckets[n], 1);
	value ^= config.value_signed ? 1ULL << 63 : 0;
	raise(&found->largest, value);
	raise(&found->smallest, ~value);
	return 0;
}

/*
 * The stack pointer after the return of a call: at its entry, and at its return. x86 pushes the return address; what
 * selects the segment of the code (cs, 0x23) tells processes of 32 bits apart.
 */
static __always_inline __u64 frame(struct pt_regs *ctx, __u64 cookie)
{
	__u64 sp = REGS_SP(ctx);

	if (LINUX_ELF_MACHINE == 62 && !(cookie >> 32 & QUESTION_RETURN))
		sp += REGS_READ(ctx, 136) == 0x23 ? 4 : 8;
	return sp;
}

/* The calls that the current thread is in; NULL if there is no room for them, or the kernel could not look. */
static __always_inline struct nesting *nesting_of(__u64 *tid)
{
	struct nesting *nesting;

	if (config.has_task_storage)
		return bpf_task_storage_get(&nestings, bpf_get_current_task_btf(), NULL, BPF_STORAGE_GET_F_CREATE);
	nesting = bpf_map_lookup_elem(&nestings_by_tid, tid);
	if (nesting)
		return nesting;
	bpf_map_update_elem(&nestings_by_tid, tid, (const void *)&not_nested, BPF_NOEXIST);
	return bpf_map_lookup_elem(&nestings_by_tid, tid);
}

/*
 * Where a function returns to, at its entry: x86 pushes the address (see frame), other machines have it in a register.
 * 0 if it can't be read.
 */
static __always_inline __u64 caller(struct pt_regs *ctx)
{
	__u64 address = REGS_OF(ctx, 152 /* sp */, 240 /* lr */, 8 /* ra */, 136 /* r14 */, 8 /* r1 */);
	__u64 pushed = 0;

	if (LINUX_ELF_MACHINE != 62)
		return address;
	bpf_probe_read_user(&pushed, is_ia32(ctx) ? 4 : 8, (const void *)address);
	return pushed;
}

/*
 * Whether a function with a probed return ended by a jump to this one (a tail call), so that both have one place on the
 * stack. The address to return to is then the kernel's, the begin of a page (uprobe_get_trampoline_vaddr). Call sites rarely
 * return to the begin of a page.
 */
static __always_inline bool is_chained(struct pt_regs *ctx)
{
	return !(caller(ctx) & 0xfff);
}

/* Forgets the innermost calls whose places are below this one. */
static __always_inline void forget_below(struct nesting *nesting, __u64 place)
{
	for (int n = 0; n < RETURNS_FOLLOWED; n++) {
		if (!nesting->depth || nesting->places[(nesting->depth - 1) % RETURNS_FOLLOWED] >= place)
			break;
		nesting->depth--;
	}
}

/* Follows the calls of a thread as the kernel does. Returns whether the kernel drops the return of this call. */
static __always_inline bool too_deep(struct pt_regs *ctx, struct question_event *event)
{
	__u64 tid = event->tid;
	__u64 place = frame(ctx, event->cookie);
	struct nesting *nesting = nesting_of(&tid);

	if (!nesting) {
		/* While nothing is counted, too: the depth would be wrong afterwards. */
		atomic_add(&nestings_lost, 1);
		return false;
	}
	if (event->cookie >> 32 & QUESTION_RETURN) {
		forget_below(nesting, place + 1);
		if (!config.has_task_storage && !nesting->depth)
			bpf_map_delete_elem(&nestings_by_tid, &tid);
		return false;
	}
	if (nesting->depth >= RETURNS_FOLLOWED) {
		if (!suspended)
			atomic_add(&returns_dropped, 1);
		return true;
	}
	forget_below(nesting, is_chained(ctx) ? place : place + 1);
	nesting->places[nesting->depth % RETURNS_FOLLOWED] = place;
	nesting->depth++;
	return false;
}

/* The begin of a pair at its end: which it is, to find whether it still is the same. */
struct pair {
	struct pair_key key;
	struct begin *begin;
	__u64 nsecs;
};

/*
 * Whether the values of the begin were those of this pair while they were read. The begin of a thread's pair is its own.
 * With an expression, another thread may end or begin the same pair: then the memory may be that of another begin.
 */
static __always_inline bool intact(struct pair *pair)
{
	struct begin *begin;

	if (!config.has_begin || !config.has_pair)
		return true;
	begin = bpf_map_lookup_elem(&begins, &pair->key);
	return begin && begin == pair->begin && begin->nsecs == pair->nsecs;
}

/* Keeps the time of a begin, and the values that are wanted of it. */
static __always_inline void keep(struct question_event *event, struct pair_key *key)
{
	struct begin *begin;
	__u64 nsecs = event->nsecs;

	if (bpf_map_update_elem(&begins, key, config.has_begin ? (const void *)&no_begin : &nsecs, BPF_ANY)) {
		atomic_add(&pairs_full, 1);
		return;
	}
	if (!config.has_begin)
		return;
	begin = bpf_map_lookup_elem(&begins, key);
	if (!begin)
		return; /* another thread has ended it */
	question_begin(event, begin->values, (const void *)tables);
	begin->nsecs = nsecs;
}

/* Keeps a begin, or finds the begin of an end. */
static __always_inline bool paired(struct pt_regs *ctx, struct question_event *event, struct pair *pair, __u64 *elapsed)
{
	struct begin *begin;

	pair->key.pair = event->tid;
	if (config.has_pair) {
		if (question_pair(event, &pair->key.pair, (const void *)tables) < 0) {
			atomic_add(&unreadable, 1);
			return false;
		}
		pair->key.pid = event->pid;
	} else if (config.by_frame) {
		pair->key.pair = frame(ctx, event->cookie);
		pair->key.pid = event->cookie << 32 | event->tid;
	}
	begin = bpf_map_lookup_elem(&begins, &pair->key);
	if (event->cookie >> 32 & QUESTION_BEGIN) {
		if (begin)
			atomic_add(&unpaired_begins, 1);
		keep(event, &pair->key);
		return false;
	}
	if (!begin || !begin->nsecs) {
		atomic_add(&unpaired_ends, 1);
		return false;
	}
	pair->begin = begin;
	pair->nsecs = begin->nsecs;
	*elapsed = event->nsecs - pair->nsecs;
	if (config.has_begin)
		event->begin = begin->values;
	else
		bpf_map_delete_elem(&begins, &pair->key);
	return true;
}

/* Puts an event into the ring, with the values that are to be shown. */
static __always_inline void show(struct question_event *event, struct pair *pair, __u64 value)
{
	__u32 size = config.shown_bytes > QUESTION_SHOW ? QUESTION_SHOW : config.shown_bytes;
	struct question_record *record = bpf_ringbuf_reserve(&records, sizeof(*record) + size, 0);

	if (!record) {
		atomic_add(&lost, 1);
		return;
	}
	record->nsecs = event->nsecs;
	record->cookie = event->cookie;
	record->value = value;
	record->pid = event->pid;
	record->tid = event->tid;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	record->bits = 0;
	if (config.shown_bytes && question_show(event, record->shown, (const void *)tables) < 0)
		record->bits |= QUESTION_FAILED;
	if (config.kind == QUESTION_LATENCY && !intact(pair)) {
		bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
		return;
	}
	if (pause_if_full(&records))
		record->bits |= QUESTION_PAUSED;
	bpf_ringbuf_submit(record, 0);
}

/* Two stacks may have the same hash: a process can choose what stands in its frames. */
static __always_inline bool same_stack(struct stack *one, struct stack *other)
{
	for (int n = 0; n < QUESTION_FRAMES && one->addresses[n] == other->addresses[n]; n++)
		if (!one->addresses[n] || n == QUESTION_FRAMES - 1)
			return true;
	return false;
}

/*
 * Keeps the stack, and returns its hash; 0 if there is none, or no room, or another stack has the same hash.
 *
 * At the entry of a function the frame pointer is still that of its caller, so the kernel begins with the caller's caller.
 * Where the function begins by saving the frame pointer it adds the caller itself, on x86 since Linux 6.11. A stack that
 * ends with the function shows that there are no frame pointers: only the caller is known, and what comes after it is not.
 */
static __noinline __u64 stack_hash(struct pt_regs *ctx, __u64 flags, __u64 caller)
{
	__u64 thread = bpf_get_current_pid_tgid();
	__u64 hash = 0;
	struct stack *stack, *kept;

	bpf_map_update_elem(&stacks_in_work, &thread, (const void *)&zero, BPF_ANY);
	stack = bpf_map_lookup_elem(&stacks_in_work, &thread);
	if (!stack) {
		atomic_add(&stacks_lost, 1);
		return 0;
	}
	if (bpf_get_stack(ctx, stack, sizeof(*stack), flags) > 0) {
		if (caller && !stack->addresses[1]) {
			stack->addresses[1] = caller;
			stack->addresses[2] = QUESTION_NOT_KNOWN;
		} else if (caller && stack->addresses[1] != caller) {
			stack->addresses[1] = caller;
			if (bpf_get_stack(ctx, &stack->addresses[2], sizeof(*stack) - 16, flags + 1 /* without the function */) < 0)
				stack->addresses[2] = QUESTION_NOT_KNOWN;
		}
		for (int n = 0; n < QUESTION_FRAMES && stack->addresses[n]; n++) {
			hash = (hash ^ stack->addresses[n]) * 0x9e3779b97f4a7c15;
			hash ^= hash >> 32;
		}
		hash += !hash; /* 0 means none */
		kept = bpf_map_lookup_elem(&stacks, &hash);
		if (!kept) {
			bpf_map_update_elem(&stacks, &hash, stack, BPF_NOEXIST);
			kept = bpf_map_lookup_elem(&stacks, &hash);
		}
		if (!kept || !same_stack(stack, kept)) {
			atomic_add(&stacks_lost, 1);
			hash = 0;
		}
	} else if (flags) {
		/* Each thread has one in user space. */
		atomic_add(&stacks_lost, 1);
	}
	bpf_map_delete_elem(&stacks_in_work, &thread);
	return hash;
}

/* Writes the hash of a stack into the key. */
static __always_inline void stack(struct pt_regs *ctx, void *key, __u32 at, __u64 flags, __u64 caller)
{
	__u64 hash = stack_hash(ctx, flags, caller);

	if (at <= QUESTION_OUT - 8)
		*(__u64 *)(key + at) = hash;
}

static __always_inline int take(struct pt_regs *ctx, struct question_event *event, __u64 *key, struct pair *pair,
				__u64 value, bool entry)
{
	if (config.has_where) {
		/* The key isn't there yet, so its bytes are free for the memory that the filter reads. */
		int wanted = question_where(event, key, (const void *)tables);

		if (wanted < 0)
			atomic_add(&unreadable, 1);
		if (wanted <= 0)
			return 0;
		__builtin_memset(key, 0, QUESTION_OUT);
	}
	if (config.kind == QUESTION_EVENTS) {
		show(event, pair, 0);
		return 0;
	}
	if (config.kind == QUESTION_LATENCY && config.has_slower && value >= config.slower_than)
		show(event, pair, value);
	if (config.kind == QUESTION_HISTOGRAM) {
		if (question_value(event, key, (const void *)tables) < 0) {
			atomic_add(&unreadable, 1);
			return 0;
		}
		value = key[0];
		key[0] = 0;
	}
	if (config.has_keys && question_keys(event, key, (const void *)tables) < 0) {
		atomic_add(&unreadable, 1);
		return 0;
	}
	if (config.user_stack_at != NO_STACK)
		stack(ctx, key, config.user_stack_at, 256 /* BPF_F_USER_STACK */, entry ? caller(ctx) : 0);
	if (config.kernel_stack_at != NO_STACK)
		stack(ctx, key, config.kernel_stack_at, 0, 0);
	if (config.kind == QUESTION_LATENCY && !intact(pair))
		return 0;
	return add(key, value);
}

static __always_inline int answer(struct pt_regs *ctx, struct question_event *event, bool entry)
{
	__u64 key[QUESTION_OUT / 8] = {};
	struct pair pair = {};
	__u64 value = 0;

	if (suspended)
		return 0;
	if (config.kind == QUESTION_LATENCY && !paired(ctx, event, &pair, &value))
		return 0;
	take(ctx, event, key, &pair, value, entry);
	if (config.kind == QUESTION_LATENCY && config.has_begin) {
		if (intact(&pair))
			bpf_map_delete_elem(&begins, &pair.key);
		else
			atomic_add(&unpaired_ends, 1);
	}
	return 0;
}

SEC("usdt")
int question_usdt(struct pt_regs *ctx)
{
	struct question_event event = {};
	struct __bpf_usdt_spec *spec;

	if (!is_in_groups() || is_other_process(usdt_process(ctx)))
		return 0;
	spec = usdt_spec(ctx);
	if (!spec)
		return 0;
	fill(&event, spec->usdt_cookie);
	event.arg_count = spec->arg_cnt;
	/* Unrolled, so that each argument's bit is one that the verifier knows. */
#pragma unroll
	for (int n = 0; n < QUESTION_ARGS; n++)
		if (config.wanted_args & 1U << n && usdt_arg_of(ctx, spec, n, &event.args[n]))
			event.unreadable |= 1U << n;
	return answer(ctx, &event, false);
}

SEC("uprobe")
int question_function(struct pt_regs *ctx)
{
	struct question_event event = {};

	if (!is_in_groups())
		return 0;
	fill(&event, bpf_get_attach_cookie(ctx));
	if (is_other_process(event.cookie >> QUESTION_PROCESS))
		return 0;
	if (config.has_returns && event.cookie >> 32 & (QUESTION_RETURN | QUESTION_CALL)) {
		bool deep = too_deep(ctx, &event);

		if (event.cookie >> 32 & QUESTION_SILENT || (deep && config.kind == QUESTION_LATENCY))
			return 0;
	}
	if (event.cookie >> 32 & QUESTION_RETURN) {
		event.retval = REGS_RETURN(ctx);
		event.unreadable = (1U << QUESTION_ARGS) - 1;
		return answer(ctx, &event, false);
	}
	event.arg_count = 6;
	event.unreadable = (1U << QUESTION_ARGS) - (1U << 6);
#pragma unroll
	for (int n = 0; n < 6; n++)
		if (config.wanted_args & 1U << n && function_argument(ctx, event.cookie, n, &event.args[n]))
			event.unreadable |= 1U << n;
	/* s390x passes five in registers. */
	if (LINUX_ELF_MACHINE == 22)
		event.unreadable |= 1U << 5;
	if (event.cookie >> 32 & QUESTION_NO_ARGUMENTS)
		event.unreadable = (1U << QUESTION_ARGS) - 1;
	return answer(ctx, &event, true);
}
