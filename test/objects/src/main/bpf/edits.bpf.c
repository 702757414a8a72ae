/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs that say too little, or the wrong thing, about themselves: whoever loads them says the rest.
 */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile bool use_extra = false;

__u64 calls;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} extra SEC(".maps");

/* Comes to the map only where the constant says so. */
SEC("socket")
int guarded(void *ctx)
{
	__u32 key = 0;
	__u64 *value;

	if (!use_extra)
		return 7;
	value = bpf_map_lookup_elem(&extra, &key);
	return value ? 8 : 9;
}

SEC("?socket")
int unguarded(void *ctx)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&extra, &key) ? 8 : 9;
}

/* No loader knows that name. */
SEC("?anything/at/all")
int nameless(void *ctx)
{
	return 3;
}

/* Neither says which event. */
SEC("?raw_tp")
int on_event(void *ctx)
{
	__sync_fetch_and_add(&calls, 1);
	return 0;
}

SEC("?raw_tp/no_such_event_anywhere")
int on_wrong_event(void *ctx)
{
	__sync_fetch_and_add(&calls, 1);
	return 0;
}

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

/* What every iterator's context begins with. */
struct bpf_iter__any {
	struct bpf_iter_meta *meta;
};

HELPER(127, long, bpf_seq_write, struct seq_file *seq, const void *data, __u32 size);

/* A byte for each of whatever there is to iterate, and one for the end. */
SEC("?iter")
int each(struct bpf_iter__any *ctx)
{
	char one = '.';

	bpf_seq_write(ctx->meta->seq, &one, 1);
	return 0;
}
