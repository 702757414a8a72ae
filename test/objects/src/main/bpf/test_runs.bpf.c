/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs to run without attaching them, one for each way in which such a run takes and gives: a packet,
 * a packet with its context, a struct, arguments, nothing.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { XDP_DROP = 1, XDP_TX = 3 };

/* The parts of the kernel's structs that are used: include/uapi/linux/bpf.h. */
struct xdp_md {
	__u32 data;
	__u32 data_end;
};

struct __sk_buff {
	__u32 len;
	__u32 pkt_type;
	__u32 mark;
};

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

HELPER(44, long, bpf_xdp_adjust_head, struct xdp_md *ctx, int delta);

/* Puts eight bytes before the packet: 0xb4, and the length that it had. */
SEC("xdp")
int longer(struct xdp_md *ctx)
{
	__u8 *data;

	if (bpf_xdp_adjust_head(ctx, -8))
		return XDP_DROP;
	data = (void *)(long)ctx->data;
	if (data + 8 > (__u8 *)(long)ctx->data_end)
		return XDP_DROP;
	data[0] = 0xb4;
	data[1] = ctx->data_end - ctx->data - 8;
	return XDP_TX;
}

/* Adds one to the mark. */
SEC("tc")
int mark(struct __sk_buff *skb)
{
	skb->mark += 1;
	return 7;
}

struct sum {
	__u64 left;
	__u64 right;
	__u64 sum;
};

SEC("?syscall")
int add(struct sum *sum)
{
	sum->sum = sum->left + sum->right;
	return sum->sum > 100;
}

SEC("?raw_tp/sys_enter")
int first(struct bpf_raw_tracepoint_args *ctx)
{
	return ctx->args[0] + ctx->args[1];
}

__u64 runs = 0;

SEC("socket")
int count(void *ctx)
{
	atomic_add(&runs, 1);
	return 0;
}

/* A kind that can't be run so. */
SEC("?kprobe/do_nothing")
int attached_only(void *ctx)
{
	return 0;
}
