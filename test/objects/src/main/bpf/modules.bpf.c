/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What modules of the kernel have: a function of ext4 that is traced, and functions of nf_conntrack that are
 * called. All are optional: both may be part of the kernel, or not there.
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define __ksym __attribute__((section(".ksyms")))

/* Structs as in the kernel, if only in name: a declaration alone would not go with them. */
struct nf_conn {
	int use;
};

struct __sk_buff {
	__u32 len;
};

/* include/uapi/linux/bpf.h, the part for IPv4 */
struct bpf_sock_tuple {
	__u32 saddr, daddr;
	__u16 sport, dport;
};

/* net/netfilter/nf_conntrack_bpf.c of Linux 5.18: 12 bytes, and later ones take these */
struct bpf_ct_opts {
	int netns_id;
	int error;
	__u8 l4proto;
	__u8 dir;
	__u8 reserved[2];
};

enum { IPPROTO_TCP = 6, THIS_NAMESPACE = -1 };

extern struct nf_conn *bpf_skb_ct_lookup(struct __sk_buff *skb, struct bpf_sock_tuple *tuple, __u32 tuple_size,
					 struct bpf_ct_opts *options, __u32 options_size) __ksym __weak;
extern void bpf_ct_release(struct nf_conn *connection) __ksym __weak;
extern void bpf4j_no_such_function(void) __ksym __weak;

__u64 opened = 0, opened_of_module = 0;

SEC("?fentry/ext4_file_open")
int on_open(unsigned long long *ctx)
{
	atomic_add(&opened, 1);
	return 0;
}

SEC("?fentry/ext4:ext4_file_open")
int on_open_of_module(unsigned long long *ctx)
{
	atomic_add(&opened_of_module, 1);
	return 0;
}

SEC("?fentry/bpf4j_no_such_module:ext4_file_open")
int on_open_of_no_module(unsigned long long *ctx)
{
	return 0;
}

/* What it looks for is not there: minus the error number, 2 (ENOENT) is right. */
SEC("?tc")
int look_up(struct __sk_buff *skb)
{
	struct bpf_ct_opts options = {.netns_id = THIS_NAMESPACE, .l4proto = IPPROTO_TCP};
	struct bpf_sock_tuple tuple = {.saddr = 0x0100007f, .daddr = 0x0100007f, .sport = 1, .dport = 1};
	struct nf_conn *connection;

	if (!bpf_skb_ct_lookup || !bpf_ct_release)
		return 100;
	if (bpf4j_no_such_function)
		bpf4j_no_such_function();
	connection = bpf_skb_ct_lookup(skb, &tuple, sizeof(tuple), &options, sizeof(options));
	if (connection) {
		bpf_ct_release(connection);
		return 101;
	}
	return -options.error;
}
