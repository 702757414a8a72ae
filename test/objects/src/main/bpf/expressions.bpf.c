/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls generated functions as the frame of questions does, with an event that user space sets: the event and what they
 * write are on the stack, except for values that are shown, which are in a record of a ring buffer.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define EVENT 168
#define OUT 160
#define SHOW 1024

const volatile __u64 tables[32768 / 8] = {};

__u64 event[EVENT / 8];
__u64 keys[OUT / 8];
__u64 value;
__u64 shown[SHOW / 8];
__s32 where_result;
__s32 keys_result;
__s32 value_result;
__s32 show_result;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} records SEC(".maps");

#define STUB(name)                                                                                                     \
	__weak __hidden __noinline int name(void *from, void *out, const void *with)                                   \
	{                                                                                                              \
		int result = 0;                                                                                        \
		asm volatile("" : "+r"(result) : "r"(from), "r"(out), "r"(with) : "memory");                           \
		return result;                                                                                         \
	}

STUB(generated_where)
STUB(generated_keys)
STUB(generated_value)
STUB(generated_show)

SEC("raw_tp/sys_enter")
int evaluate(void *ctx)
{
	__u64 copy[EVENT / 8];
	__u64 out[OUT / 8] = {};
	__u64 *record;

	__builtin_memcpy(copy, event, sizeof(copy));
	where_result = generated_where(copy, out, (const void *)tables);
	__builtin_memset(out, 0, sizeof(out));
	value_result = generated_value(copy, out, (const void *)tables);
	value = out[0];
	out[0] = 0;
	keys_result = generated_keys(copy, out, (const void *)tables);
	__builtin_memcpy(keys, out, sizeof(out));
	record = bpf_ringbuf_reserve(&records, SHOW, 0);
	if (!record)
		return 1;
	show_result = generated_show(copy, record, (const void *)tables);
	/* What it did not write is unknown to the reader, not to the verifier. */
	for (int i = 0; i < SHOW / 8; i++)
		shown[i] = record[i];
	bpf_ringbuf_discard(record, 0);
	return 0;
}
