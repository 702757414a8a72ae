/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a global function says of its arguments by tags: that one is the context. Of the kernel's own
 * knowledge since Linux 6.8; for older ones the loader writes the context's type into the BTF.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define __arg_ctx __attribute__((btf_decl_tag("arg:ctx")))

REPORTS

__noinline int length_of(void *ctx __arg_ctx)
{
	struct __sk_buff *skb = ctx;

	return skb->len;
}

/* The same prototype without the tag: a number, however it may be called. */
__noinline int is_there(void *number)
{
	return number != NULL;
}

SEC("tc")
int of_packet(struct __sk_buff *skb)
{
	int line = length_of(skb) == 64 && is_there(NULL) == 0 ? 0 : __LINE__;

	return report(line, 0);
}

/* The second argument. */
__noinline int queue_above(int from, void *ctx __arg_ctx)
{
	return ((struct xdp_md *)ctx)->rx_queue_index + from;
}

SEC("xdp")
int of_frame(struct xdp_md *ctx)
{
	return report(queue_above(14, ctx) == 14 ? 0 : __LINE__, 2);
}

__noinline int is_in_code(void *ctx __arg_ctx)
{
	return REGS_IP(ctx) != 0;
}

SEC("uprobe/libc.so.6:fdopendir")
int of_function(struct pt_regs *ctx)
{
	return report(is_in_code(ctx) ? 0 : __LINE__, 0);
}

__noinline int first_of(void *ctx __arg_ctx)
{
	__u64 *arguments = ctx;

	return arguments[0] == 0;
}

SEC("raw_tp/sys_enter")
int of_tracepoint(void *ctx)
{
	return report(first_of(ctx) ? 0 : __LINE__, 0);
}
