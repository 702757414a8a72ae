/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where XDP sends packets: other devices, processors, sockets. A slot with nothing in it gives the action that
 * the flags name; user space fills slot 1 of those that it can fill.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { XDP_DROP = 1, XDP_PASS = 2, XDP_TX = 3, XDP_REDIRECT = 4 };

struct devmap_value { /* struct bpf_devmap_val */
	__u32 interface;
	int program;
};

struct cpumap_value { /* struct bpf_cpumap_val */
	__u32 queue_size;
	int program;
};

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u32);
} devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, 4);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct devmap_value));
} devices_by_number SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct cpumap_value);
} processors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

REPORTS

static __always_inline int devices_are_there(void)
{
	__u32 slot = 0;

	CHECK(bpf_redirect_map(&devices, 0, XDP_PASS) == XDP_PASS);
	CHECK(bpf_redirect_map(&devices, 9, XDP_TX) == XDP_TX);
	CHECK(!bpf_map_lookup_elem(&devices, &slot));
	slot = 1;
	CHECK(bpf_map_lookup_elem(&devices, &slot));
	CHECK(bpf_redirect_map(&devices, 1, 0) == XDP_REDIRECT);
	return 0;
}

SEC("xdp")
int to_device(struct xdp_md *ctx)
{
	return report(devices_are_there(), XDP_PASS);
}

static __always_inline int devices_by_number_are_there(void)
{
	struct devmap_value *value;
	__u32 slot = 0;

	CHECK(bpf_redirect_map(&devices_by_number, 0, XDP_DROP) == XDP_DROP);
	CHECK(!bpf_map_lookup_elem(&devices_by_number, &slot));
	slot = 1;
	value = bpf_map_lookup_elem(&devices_by_number, &slot);
	CHECK(value && value->interface);
	CHECK(bpf_redirect_map(&devices_by_number, 1, 0) == XDP_REDIRECT);
	return 0;
}

SEC("xdp")
int to_device_by_number(struct xdp_md *ctx)
{
	return report(devices_by_number_are_there(), XDP_PASS);
}

static __always_inline int processors_are_there(void)
{
	/* Its elements can't be looked up. */
	CHECK(bpf_redirect_map(&processors, 1, XDP_TX) == XDP_TX);
	CHECK(bpf_redirect_map(&processors, 0, 0) == XDP_REDIRECT);
	return 0;
}

SEC("xdp")
int to_processor(struct xdp_md *ctx)
{
	return report(processors_are_there(), XDP_PASS);
}

static __always_inline int sockets_are_not_there(struct xdp_md *ctx)
{
	__u32 queue = ctx->rx_queue_index;

	CHECK(bpf_redirect_map(&sockets, queue, XDP_PASS) == XDP_PASS);
	CHECK(!bpf_map_lookup_elem(&sockets, &queue));
	return 0;
}

SEC("xdp.frags")
int to_socket(struct xdp_md *ctx)
{
	return report(sockets_are_not_there(ctx), XDP_PASS);
}

/* What runs behind a redirection. */
SEC("xdp/devmap")
int at_device(struct xdp_md *ctx)
{
	return ctx->egress_ifindex ? XDP_PASS : XDP_DROP;
}

SEC("xdp/cpumap")
int at_processor(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp.frags/devmap")
int at_device_in_pieces(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp.frags/cpumap")
int at_processor_in_pieces(struct xdp_md *ctx)
{
	return XDP_PASS;
}
