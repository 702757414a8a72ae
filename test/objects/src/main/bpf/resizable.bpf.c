/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A hash map that grows with what is in it (Linux 7.2), written by a program. */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { BPF_MAP_TYPE_RHASH = 35, BPF_F_NO_PREALLOC = 1 };

struct {
	__uint(type, BPF_MAP_TYPE_RHASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1000);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct request {
	__u32 key;
};

/* Counts a key; what it was at before. */
SEC("?syscall")
int count(struct request *ctx)
{
	__u32 key = ctx->key;
	__u64 one = 1, *value = bpf_map_lookup_elem(&counts, &key);

	if (!value)
		return bpf_map_update_elem(&counts, &key, &one, BPF_NOEXIST);
	return __sync_fetch_and_add(value, 1);
}
