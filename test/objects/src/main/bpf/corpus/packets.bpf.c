/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs that packets pass. They are run on a packet that the test makes: an Ethernet frame of 64 bytes with
 * an IPv4 packet for UDP in it, from and to 127.0.0.1. Some see the frame, others what is in it.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { SK_PASS = 1, XDP_PASS = 2, ETHERNET = 14, UDP = 17, IPV4 = 0x0800 };

REPORTS

/* `at`: where the IPv4 packet starts. */
static __always_inline int load(struct __sk_buff *skb, __u32 at)
{
	__u8 byte = 0;

	CHECK(skb->len == at + 50);
	CHECK(skb->protocol == __builtin_bswap16(IPV4));
	CHECK(!bpf_skb_load_bytes(skb, at, &byte, 1));
	CHECK(byte == 0x45);
	CHECK(!bpf_skb_load_bytes(skb, at + 9, &byte, 1));
	CHECK(byte == UDP);
	CHECK(bpf_skb_load_bytes(skb, at + 50, &byte, 1) < 0);
	return 0;
}

/* Without a helper: the verifier wants to see that the packet is long enough. */
static __always_inline int look(__u8 *start, __u8 *end, __u32 at)
{
	if (start + at + 20 > end)
		return __LINE__;
	CHECK(start[at] == 0x45);
	CHECK(start[at + 9] == UDP);
	CHECK(start[at + 12] == 127);
	return 0;
}

#define DATA(ctx) ((void *)(long)(ctx)->data)
#define DATA_END(ctx) ((void *)(long)(ctx)->data_end)

SEC("socket")
int socket_filter(struct __sk_buff *skb)
{
	return report(load(skb, 0), 0);
}

SEC("tc")
int traffic_control(struct __sk_buff *skb)
{
	int line = load(skb, ETHERNET);

	return report(line ? line : look(DATA(skb), DATA_END(skb), ETHERNET), 0);
}

/* The older name of the same, and programs for one direction. */
SEC("classifier")
int classify(struct __sk_buff *skb)
{
	return report(look(DATA(skb), DATA_END(skb), ETHERNET), 0);
}

SEC("tc/ingress")
int inward(struct __sk_buff *skb)
{
	return report(load(skb, ETHERNET), 0);
}

SEC("tc/egress")
int outward(struct __sk_buff *skb)
{
	return report(load(skb, ETHERNET), 0);
}

SEC("tcx/ingress")
int inward_by_link(struct __sk_buff *skb)
{
	return report(load(skb, ETHERNET), 0);
}

SEC("tcx/egress")
int outward_by_link(struct __sk_buff *skb)
{
	return report(load(skb, ETHERNET), 0);
}

SEC("netkit/primary")
int near_end(struct __sk_buff *skb)
{
	return report(load(skb, ETHERNET), 0);
}

SEC("netkit/peer")
int far_end(struct __sk_buff *skb)
{
	return report(load(skb, ETHERNET), 0);
}

SEC("action")
int act(struct __sk_buff *skb)
{
	return report(look(DATA(skb), DATA_END(skb), ETHERNET), 0);
}

SEC("xdp")
int express(struct xdp_md *ctx)
{
	return report(look(DATA(ctx), DATA_END(ctx), ETHERNET), XDP_PASS);
}

SEC("xdp.frags")
int xdp_in_pieces(struct xdp_md *ctx)
{
	return report(look(DATA(ctx), DATA_END(ctx), ETHERNET), XDP_PASS);
}

SEC("cgroup_skb/ingress")
int into_group(struct __sk_buff *skb)
{
	return report(load(skb, 0), 1);
}

SEC("cgroup_skb/egress")
int out_of_group(struct __sk_buff *skb)
{
	return report(load(skb, 0), 1);
}

SEC("cgroup/skb")
int either_way(struct __sk_buff *skb)
{
	return report(load(skb, 0), 1);
}

SEC("lwt_in")
int tunnel_in(struct __sk_buff *skb)
{
	return report(look(DATA(skb), DATA_END(skb), 0), 0);
}

SEC("lwt_out")
int tunnel_out(struct __sk_buff *skb)
{
	return report(load(skb, 0), 0);
}

SEC("lwt_xmit")
int tunnel_transmit(struct __sk_buff *skb)
{
	return report(load(skb, 0), 0);
}

SEC("lwt_seg6local")
int segment(struct __sk_buff *skb)
{
	return report(load(skb, 0), 0);
}

struct flow_keys { /* struct bpf_flow_keys, its beginning */
	__u16 network_offset, transport_offset, address_protocol;
	__u8 is_fragment, is_first_fragment, is_encapsulated, ip_protocol;
	__u16 network_protocol; /* network byte order */
};

struct flow_context { /* struct __sk_buff, as far as a dissector may look */
	__u32 before[36];
	struct flow_keys *flow_keys;
};

static __always_inline int dissected(struct flow_context *ctx)
{
	struct flow_keys *keys = ctx->flow_keys;

	CHECK(keys->network_protocol == __builtin_bswap16(IPV4));
	keys->ip_protocol = UDP;
	return 0;
}

SEC("flow_dissector")
int dissect(struct flow_context *ctx)
{
	return report(dissected(ctx), 0);
}

struct lookup { /* struct bpf_sk_lookup */
	void *socket;
	__u32 family, protocol, remote_ip4, remote_ip6[4];
	__u16 remote_port, padding;
	__u32 local_ip4, local_ip6[4], local_port, ingress_ifindex;
};

static __always_inline int looked_up(struct lookup *ctx)
{
	CHECK(!ctx->socket);
	CHECK(ctx->family == 2);
	CHECK(ctx->protocol == 6);
	CHECK(ctx->local_port == 4242);
	CHECK(ctx->local_ip4 == __builtin_bswap32(0x7f000001));
	return 0;
}

SEC("sk_lookup")
int socket_lookup(struct lookup *ctx)
{
	return report(looked_up(ctx), SK_PASS);
}
