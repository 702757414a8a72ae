/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs for the hooks of the network, of control groups, of perf events and of iterators. They let
 * everything pass and count how often they ran. All are optional: each kernel has some of the hooks.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { SK_PASS = 1, XDP_PASS = 2, TCX_NEXT = -1, NF_ACCEPT = 1, FLOW_DISSECTOR_CONTINUE = 129 };
enum { BPF_MAP_TYPE_SOCKMAP = 15 };

struct __sk_buff;
struct xdp_md;

__u64 xdp_hits = 0, xdp_other_hits = 0;
__u64 tc_hits = 0, netkit_hits = 0, netkit_peer_hits = 0, netfilter_hits = 0, lookup_hits = 0, dissector_hits = 0;
__u64 egress_hits = 0, socket_hits = 0, message_hits = 0;
__u64 clock_hits = 0, clock_cookies = 0;

/* Digits in the order in which the programs of one hook ran for the last packet. */
__u64 order = 0;

SEC("?xdp")
int on_xdp(struct xdp_md *ctx)
{
	atomic_add(&xdp_hits, 1);
	return XDP_PASS;
}

SEC("?xdp")
int on_xdp_other(struct xdp_md *ctx)
{
	atomic_add(&xdp_other_hits, 1);
	return XDP_PASS;
}

/* Each packet starts anew with the program whose digit is 1. */
SEC("?tcx/ingress")
int tcx_one(struct __sk_buff *ctx)
{
	order = 1;
	return TCX_NEXT;
}

SEC("?tcx/ingress")
int tcx_two(struct __sk_buff *ctx)
{
	order = order * 10 + 2;
	return TCX_NEXT;
}

SEC("?tcx/ingress")
int tcx_three(struct __sk_buff *ctx)
{
	order = order * 10 + 3;
	return TCX_NEXT;
}

/* Loaded for no direction. */
SEC("?tc")
int on_tc(struct __sk_buff *ctx)
{
	atomic_add(&tc_hits, 1);
	return TCX_NEXT;
}

SEC("?netkit/primary")
int on_netkit(struct __sk_buff *ctx)
{
	atomic_add(&netkit_hits, 1);
	return TCX_NEXT;
}

SEC("?netkit/peer")
int on_netkit_peer(struct __sk_buff *ctx)
{
	atomic_add(&netkit_peer_hits, 1);
	return TCX_NEXT;
}

SEC("?netfilter")
int on_netfilter(void *ctx)
{
	atomic_add(&netfilter_hits, 1);
	return NF_ACCEPT;
}

SEC("?sk_lookup")
int on_lookup(void *ctx)
{
	atomic_add(&lookup_hits, 1);
	return SK_PASS;
}

SEC("?sk_lookup")
int on_lookup_other(void *ctx)
{
	return SK_PASS;
}

SEC("?flow_dissector")
int on_dissect(struct __sk_buff *ctx)
{
	atomic_add(&dissector_hits, 1);
	return FLOW_DISSECTOR_CONTINUE;
}

SEC("?cgroup_skb/egress")
int on_egress(struct __sk_buff *ctx)
{
	atomic_add(&egress_hits, 1);
	return 1;
}

/* In the order of attaching unless told otherwise; each packet starts anew with the digit 1. */
SEC("?cgroup_skb/egress")
int egress_one(struct __sk_buff *ctx)
{
	order = 1;
	return 1;
}

SEC("?cgroup_skb/egress")
int egress_two(struct __sk_buff *ctx)
{
	order = order * 10 + 2;
	return 1;
}

/* Loaded for no direction. */
SEC("?cgroup/skb")
int on_packet(struct __sk_buff *ctx)
{
	atomic_add(&egress_hits, 1);
	return 1;
}

SEC("?cgroup/sock_create")
int on_socket(void *ctx)
{
	atomic_add(&socket_hits, 1);
	return 1;
}

/* Both ends of the connections to one port go into the map of sockets, by the end. */
struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

const volatile __u32 target_port = 0;

struct bpf_sock_ops { /* include/uapi/linux/bpf.h, its beginning */
	__u32 op;
	__u32 args[4];
	__u32 family;
	__u32 remote_ip4, local_ip4;
	__u32 remote_ip6[4], local_ip6[4];
	__u32 remote_port; /* network byte order */
	__u32 local_port;  /* host byte order */
};

enum { ACTIVE_ESTABLISHED = 4, PASSIVE_ESTABLISHED = 5 };

HELPER(53, long, bpf_sock_map_update, struct bpf_sock_ops *ctx, void *map, void *key, __u64 flags);

SEC("?sockops")
int on_connection(struct bpf_sock_ops *ctx)
{
	__u32 end = 0;

	if (ctx->op == ACTIVE_ESTABLISHED && __builtin_bswap32(ctx->remote_port) == target_port)
		bpf_sock_map_update(ctx, &sockets, &end, BPF_ANY);
	if (ctx->op == PASSIVE_ESTABLISHED && ctx->local_port == target_port) {
		end = 1;
		bpf_sock_map_update(ctx, &sockets, &end, BPF_ANY);
	}
	return 1;
}

SEC("?sk_msg")
int on_message(void *ctx)
{
	atomic_add(&message_hits, 1);
	return SK_PASS;
}

SEC("?sk_skb/stream_verdict")
int on_stream(struct __sk_buff *ctx)
{
	return SK_PASS;
}

SEC("?perf_event")
int on_clock(void *ctx)
{
	atomic_add(&clock_hits, 1);
	return 0;
}

/* Apart from on_clock, because a kernel without cookies refuses the helper. */
SEC("?perf_event")
int on_clock_cookie(void *ctx)
{
	atomic_add(&clock_hits, 1);
	clock_cookies = bpf_get_attach_cookie(ctx);
	return 0;
}

/* Iterators: the context has pointers that the verifier knows the types of. */
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid;  /* thread */
	int tgid; /* process */
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	void *map;
	void *key;
	void *value;
} __attribute__((preserve_access_index));

HELPER(127, long, bpf_seq_write, struct seq_file *seq, const void *data, __u32 size);

/* 8 bytes for each task: thread and process. */
SEC("?iter/task")
int each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	int numbers[2];

	if (!task)
		return 0; /* behind the last */
	numbers[0] = task->pid;
	numbers[1] = task->tgid;
	bpf_seq_write(ctx->meta->seq, numbers, sizeof(numbers));
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10000);
	__type(key, __u32);
	__type(value, __u64);
} numbers SEC(".maps");

/* 16 bytes for each element: key, padding, value. */
SEC("?iter/bpf_map_elem")
int each_element(struct bpf_iter__bpf_map_elem *ctx)
{
	__u32 *key = ctx->key;
	__u64 *value = ctx->value;
	struct {
		__u32 key, padding;
		__u64 value;
	} element = {};

	if (!key || !value)
		return 0; /* behind the last */
	element.key = *key;
	element.value = *value;
	bpf_seq_write(ctx->meta->seq, &element, sizeof(element));
	return 0;
}
