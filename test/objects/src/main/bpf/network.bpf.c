/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs for devices that packets go through, and for sockets that packets come to. All are optional: each kernel has
 * some of the hooks.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { XDP_DROP = 1, XDP_PASS = 2, SK_DROP = 0, SK_PASS = 1 };
enum { BPF_MAP_TYPE_DEVMAP = 14 };

struct xdp_md { /* include/uapi/linux/bpf.h */
	__u32 data;
	__u32 data_end;
	__u32 data_meta;
	__u32 ingress_ifindex;
	__u32 rx_queue_index;
	__u32 egress_ifindex;
};

struct __sk_buff;
struct sk_reuseport_md;

HELPER(51, long, bpf_redirect_map, void *map, __u64 key, __u64 flags);

/* struct bpf_devmap_val */
struct device {
	__u32 ifindex;
	__u32 program;
};

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 2);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct device));
} devices SEC(".maps");

__u64 redirected = 0, at_device_runs = 0, arrived = 0, arrived_unmarked = 0;
__u32 from_device = 0, to_device = 0;
__u64 filtered = 0, chosen = 0;

/* The type of the packets that the test sends, and what the program at the device makes of it. */
enum { ETHERTYPE = 12, MARK = 0x88b5 /* for local experiments, IEEE 802 */ };

static __u16 *ethertype(struct xdp_md *ctx)
{
	char *start = (char *)(long)ctx->data;
	char *end = (char *)(long)ctx->data_end;

	return start + ETHERTYPE + 2 > end ? (void *)0 : (__u16 *)(start + ETHERTYPE);
}

/* Sends everything to the first device of the map. */
SEC("?xdp")
int redirect_all(struct xdp_md *ctx)
{
	atomic_add(&redirected, 1);
	return bpf_redirect_map(&devices, 0, 0);
}

SEC("?xdp/devmap")
int at_device(struct xdp_md *ctx)
{
	__u16 *type = ethertype(ctx);

	if (!type)
		return XDP_DROP;
	*type = MARK;
	from_device = ctx->ingress_ifindex;
	to_device = ctx->egress_ifindex;
	atomic_add(&at_device_runs, 1);
	return XDP_PASS;
}

/* Where the packets come out. */
SEC("?xdp")
int on_arrival(struct xdp_md *ctx)
{
	__u16 *type = ethertype(ctx);

	if (type && *type == MARK)
		atomic_add(&arrived, 1);
	else
		atomic_add(&arrived_unmarked, 1);
	return XDP_DROP;
}

/* As many bytes as a packet may have reach the socket, or none. */
const volatile __u32 passed_bytes = 0;

SEC("?socket")
int filter(struct __sk_buff *ctx)
{
	atomic_add(&filtered, 1);
	return passed_bytes;
}

/* The second of the sockets that share a port. */
SEC("?socket")
int second(struct __sk_buff *ctx)
{
	atomic_add(&chosen, 1);
	return 1;
}

SEC("?sk_reuseport")
int refuse_all(struct sk_reuseport_md *ctx)
{
	atomic_add(&chosen, 1);
	return SK_DROP;
}
