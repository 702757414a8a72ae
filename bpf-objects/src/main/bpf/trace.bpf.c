/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tracer behind `bpf4j trace`: one record into the ring buffer for each USDT event. trace.h has
 * the layout of the record and what is configured before load.
 *
 * Why reserve, and not a scratch buffer with bpf_ringbuf_output, which would allow records as short
 * as their strings: programs of a uprobe_multi link may be preempted, so another task on the same
 * CPU would overwrite a per-CPU scratch buffer in the middle of use, and a buffer on the stack has
 * 512 bytes. bpf_ringbuf_reserve wants a size that the verifier knows as a constant. It is one,
 * though the compiler doesn't know it: .rodata is frozen before the program is verified, so what is
 * loaded from there is a known number, and so are all the offsets that follow from it. Arguments
 * that aren't strings cost nothing, because the verifier drops the branches of dead modes.
 *
 * Most probes have few arguments, and most of what an event costs here is memory that is written on
 * one CPU and read on another. So the code is there twice, with room for few arguments and for all.
 */
#include <bpf4j/usdt.h>
#include <bpf4j/pidns.h>
#include "groups.h"
#include "pause.h"
#include "trace.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 string_max = 128;
const volatile __u8 string_mode[TRACE_ARGS] = {};
const volatile __u8 string_length_arg[TRACE_ARGS] = {};

__u64 lost = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

/* Sizes that user space may not exceed; kept from wrapping, so that the load of a wrong one fails. */
static __always_inline __u32 string_limit(void)
{
	__u32 size = string_max;

	return size > TRACE_STRING_LIMIT ? TRACE_STRING_LIMIT : size;
}

static __always_inline __u32 slot_size(void)
{
	return (sizeof(struct trace_string) + string_limit() + 7) & ~7U;
}

static __always_inline __u32 record_size(__u32 args)
{
	__u32 size = sizeof(struct trace_record) + args * sizeof(__u64);

#pragma unroll
	for (__u32 n = 0; n < args; n++)
		if (string_mode[n] != TRACE_VALUE)
			size += slot_size();
	return size;
}

/*
 * NUL-terminated: the helper wants room for the NUL and reports bytes with the NUL. With a slot of S
 * bytes it stops after S - 1 and a NUL. A result of S means that the text was cut, or fits exactly: the
 * next byte in the process decides. So the last byte of a slot is never part of the text.
 */
static __always_inline void read_cstring(struct trace_record *record, int n, struct trace_string *slot)
{
	__u32 size = string_limit();
	const __u8 *from = (const __u8 *)record->args[n];
	long got = bpf_probe_read_user_str(slot->text, size, from);

	if (got <= 0)
		return;
	record->string_bits |= 1 << n;
	slot->length = got - 1;
	if (got == size) {
		__u8 next = 0;

		if (!bpf_probe_read_user(&next, 1, from + size - 1) && next)
			record->truncated_bits |= 1 << n;
	}
}

static __always_inline void read_counted(struct trace_record *record, int n, struct trace_string *slot, __u32 args)
{
	__u32 by = string_length_arg[n];
	__u32 size = string_limit();
	__u64 length;

	if (by >= args || by >= record->arg_count || record->error_bits & (1 << by))
		return;
	length = record->args[by];
	if ((__s64)length < 0)
		return;
	if (length > size) {
		length = size;
		record->truncated_bits |= 1 << n;
	}
	if (length && bpf_probe_read_user(slot->text, length, (const void *)record->args[n])) {
		record->truncated_bits &= ~(1 << n);
		return;
	}
	record->string_bits |= 1 << n;
	slot->length = length;
}

/* `args` is a constant: how many arguments the record has room for. */
static __always_inline int emit(struct pt_regs *ctx, struct __bpf_usdt_spec *spec, const struct pidns_ids *ids,
				const __u32 args)
{
	struct trace_record *record = bpf_ringbuf_reserve(&events, record_size(args), 0);
	__u32 slot = sizeof(struct trace_record) + args * sizeof(__u64);

	if (!record) {
		atomic_add(&lost, 1);
		return 0;
	}
	record->time_ns = bpf_ktime_get_ns();
	record->cookie = spec ? spec->usdt_cookie : 0;
	record->pid = ids->tgid;
	record->tid = ids->pid;
	record->arg_count = spec ? spec->arg_cnt : 0;
	record->error_bits = spec ? 0 : TRACE_NO_SPEC;
	record->string_bits = 0;
	record->truncated_bits = 0;
	bpf_get_current_comm(record->comm, sizeof(record->comm));

	for (__u32 n = 0; n < args; n++) {
		__u64 value = 0;

		if (n < record->arg_count && usdt_arg_of(ctx, spec, n, &value))
			record->error_bits |= 1 << n;
		record->args[n] = value;
	}

	/* Unrolled, so that each argument's mode is one load from .rodata that the verifier resolves. */
#pragma unroll
	for (__u32 n = 0; n < args; n++) {
		struct trace_string *string = (void *)record + slot;

		if (string_mode[n] == TRACE_VALUE)
			continue;
		if (n < record->arg_count && !(record->error_bits & (1 << n))) {
			if (string_mode[n] == TRACE_CSTRING)
				read_cstring(record, n, string);
			else
				read_counted(record, n, string, args);
		}
		slot += slot_size();
	}

	if (pause_if_full(&events))
		record->error_bits |= TRACE_PAUSED;
	bpf_ringbuf_submit(record, 0);
	return 0;
}

SEC("usdt")
int trace(struct pt_regs *ctx)
{
	struct pidns_ids ids;
	struct __bpf_usdt_spec *spec;

	if (!is_in_groups() || is_other_process(usdt_process(ctx)))
		return 0;
	ids = current_ids();
	spec = usdt_spec(ctx);
	if (!spec || spec->arg_cnt <= TRACE_FEW_ARGS)
		return emit(ctx, spec, &ids, TRACE_FEW_ARGS);
	return emit(ctx, spec, &ids, TRACE_ARGS);
}
