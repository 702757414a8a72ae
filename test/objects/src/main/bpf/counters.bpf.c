/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counts USDT events by cookie: the cheapest thing that still shows which probe fired. `counts` has
 * room for 1,024 cookies unless it is made larger before load; a cookie beyond it counts in `beyond`.
 */
#include <bpf4j/usdt.h>
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 total = 0;
__u64 beyond = 0;
__u64 no_spec = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

SEC("usdt")
int count(struct pt_regs *ctx)
{
	struct __bpf_usdt_spec *spec;
	__u64 *counter;
	__u32 cookie;

	if (!is_target())
		return 0;
	atomic_add(&total, 1);
	spec = usdt_spec(ctx);
	if (!spec) {
		atomic_add(&no_spec, 1);
		return 0;
	}
	cookie = spec->usdt_cookie;
	counter = spec->usdt_cookie >> 32 ? NULL : bpf_map_lookup_elem(&counts, &cookie);
	if (counter)
		atomic_add(counter, 1);
	else
		atomic_add(&beyond, 1);
	return 0;
}
