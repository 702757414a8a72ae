/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Raw tracepoints whose programs may change an argument: the kernel has one, of network block devices. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("raw_tp.w/nbd_send_request")
int change(__u64 *ctx)
{
	__u32 *request = (void *)ctx[0];

	return *request ? 0 : 1;
}

SEC("raw_tracepoint.w/nbd_send_request")
int change_by_its_long_name(__u64 *ctx)
{
	return 0;
}
