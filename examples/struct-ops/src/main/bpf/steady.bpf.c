/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A congestion control of TCP that always sends at the same rate: a struct of functions that the kernel calls. Good for
 * the loopback device only.
 */
#include <bpf4j/helpers.h>

enum { TCP_CONG_NON_RESTRICTED = 1 }; /* for all users and all network namespaces */

struct sock;

/* What is used of the kernel's struct. Members are found by their names. */
struct tcp_congestion_ops {
	char name[16];
	__u32 flags;
	__u32 (*ssthresh)(struct sock *sk);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*init)(struct sock *sk);
};

__u64 sockets = 0, acknowledgements = 0; /* read by the Java program */

SEC("struct_ops/ssthresh")
__u32 ssthresh(__u64 *ctx)
{
	return 1000;
}

SEC("struct_ops/undo_cwnd")
__u32 undo_cwnd(__u64 *ctx)
{
	return 1000;
}

SEC("struct_ops/cong_avoid")
void cong_avoid(__u64 *ctx)
{
	atomic_add(&acknowledgements, 1);
}

SEC("struct_ops/init")
void init(__u64 *ctx)
{
	atomic_add(&sockets, 1);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops steady = {
	.name = "bpf4j_steady",
	.flags = TCP_CONG_NON_RESTRICTED,
	.ssthresh = (void *)ssthresh,
	.undo_cwnd = (void *)undo_cwnd,
	.cong_avoid = (void *)cong_avoid,
	.init = (void *)init,
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
