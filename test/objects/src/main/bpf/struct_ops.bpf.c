/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Congestion controls for TCP that never slow down: structs of functions that the kernel calls. They are good
 * for the loopback device only. All are optional: each kernel can do with some of them.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct sock;

/* What is used of the kernel's struct, in an order of its own: members are found by name. */
struct tcp_congestion_ops {
	char name[16];
	__u32 flags;
	__u32 (*ssthresh)(struct sock *sk);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

/* The same and what no kernel has. */
struct tcp_congestion_ops___future {
	char name[16];
	__u32 (*ssthresh)(struct sock *sk);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*bpf4j_predict)(struct sock *sk);
	__u64 bpf4j_horizon;
};

__u64 sockets = 0, closed = 0, first_calls = 0, second_calls = 0;

SEC("struct_ops/ssthresh")
__u32 ssthresh(unsigned long long *ctx)
{
	return 1000;
}

SEC("struct_ops/undo_cwnd")
__u32 undo_cwnd(unsigned long long *ctx)
{
	return 1000;
}

SEC("struct_ops/cong_avoid")
void first_avoid(unsigned long long *ctx)
{
	atomic_add(&first_calls, 1);
}

/* Optional, and loaded nevertheless where the struct that refers to it is made. */
SEC("?struct_ops/cong_avoid")
void second_avoid(unsigned long long *ctx)
{
	atomic_add(&second_calls, 1);
}

SEC("struct_ops/init")
void on_init(unsigned long long *ctx)
{
	atomic_add(&sockets, 1);
}

SEC("struct_ops/release")
void on_release(unsigned long long *ctx)
{
	atomic_add(&closed, 1);
}

SEC("struct_ops/bpf4j_predict")
void predict(unsigned long long *ctx)
{
}

SEC("?.struct_ops.link")
struct tcp_congestion_ops first = {
	.name = "bpf4j_link",
	.ssthresh = (void *)ssthresh,
	.undo_cwnd = (void *)undo_cwnd,
	.cong_avoid = (void *)first_avoid,
	.init = (void *)on_init,
	.release = (void *)on_release,
};

SEC("?.struct_ops.link")
struct tcp_congestion_ops second = {
	.name = "bpf4j_link",
	.ssthresh = (void *)ssthresh,
	.undo_cwnd = (void *)undo_cwnd,
	.cong_avoid = (void *)second_avoid,
	.init = (void *)on_init,
	.release = (void *)on_release,
};

SEC("?.struct_ops")
struct tcp_congestion_ops direct = {
	.name = "bpf4j_direct",
	.ssthresh = (void *)ssthresh,
	.undo_cwnd = (void *)undo_cwnd,
	.cong_avoid = (void *)first_avoid,
};

SEC("?.struct_ops.link")
struct tcp_congestion_ops___future future = {
	.name = "bpf4j_future",
	.ssthresh = (void *)ssthresh,
	.undo_cwnd = (void *)undo_cwnd,
	.cong_avoid = (void *)first_avoid,
	.bpf4j_predict = (void *)predict,
	.bpf4j_horizon = 0,
};
