/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Maps of sockets, and the programs that live on them: connections to one port come into the maps as they are
 * made, their bytes and messages are judged, and a value hangs on a socket.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { SK_DROP = 0, SK_PASS = 1, ACTIVE_ESTABLISHED = 4, PASSIVE_ESTABLISHED = 5 };

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

struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} by_end SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SOCKHASH);
	__uint(max_entries, 8);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
} by_port SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_REUSEPORT_SOCKARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} listeners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} of_socket SEC(".maps");

HELPER(53, long, bpf_sock_map_update, struct bpf_sock_ops *ctx, void *map, void *key, __u64 flags);
HELPER(70, long, bpf_sock_hash_update, struct bpf_sock_ops *ctx, void *map, void *key, __u64 flags);

REPORTS

static __always_inline int remember(struct bpf_sock_ops *ctx, __u32 end)
{
	__u32 port = ctx->local_port;

	CHECK(!bpf_sock_map_update(ctx, &by_end, &end, BPF_ANY));
	CHECK(!bpf_sock_hash_update(ctx, &by_port, &port, BPF_NOEXIST));
	CHECK(bpf_sock_hash_update(ctx, &by_port, &port, BPF_NOEXIST) == -EEXIST);
	return 0;
}

SEC("sockops")
int connections(struct bpf_sock_ops *ctx)
{
	if (ctx->op == ACTIVE_ESTABLISHED && __builtin_bswap32(ctx->remote_port) == target_port)
		return report(remember(ctx, 0), 1);
	if (ctx->op == PASSIVE_ESTABLISHED && ctx->local_port == target_port)
		return report(remember(ctx, 1), 1);
	return 1;
}

SEC("sk_msg")
int message(void *ctx)
{
	__u32 none = 1;

	/* The helper says where the message goes, and nowhere if the slot is empty. */
	if (bpf_msg_redirect_hash(ctx, &by_port, &none, 0) != SK_DROP)
		return report(__LINE__, SK_PASS);
	return report(0, SK_PASS);
}

SEC("sk_skb/stream_parser")
int parse(struct __sk_buff *skb)
{
	return report(0, skb->len);
}

SEC("sk_skb/stream_verdict")
int stream_verdict(struct __sk_buff *skb)
{
	if (bpf_sk_redirect_map(skb, &by_end, 7, 0) != SK_DROP)
		return report(__LINE__, SK_PASS);
	return report(0, SK_PASS);
}

SEC("sk_skb/verdict")
int verdict(struct __sk_buff *skb)
{
	return report(0, SK_PASS);
}

/* Loaded for no purpose in particular: told when it is attached. */
SEC("sk_skb")
int any_purpose(struct __sk_buff *skb)
{
	return report(0, SK_PASS);
}

struct sk_reuseport_md;

SEC("sk_reuseport")
int choose(struct sk_reuseport_md *ctx)
{
	__u32 slot = 0;

	/* The slot is empty. */
	return report(bpf_sk_select_reuseport(ctx, &listeners, &slot, 0) == -ENOENT ? 0 : __LINE__, SK_PASS);
}

SEC("sk_reuseport/migrate")
int choose_or_migrate(struct sk_reuseport_md *ctx)
{
	return SK_PASS;
}

static __always_inline int hang_value(struct bpf_sock *socket)
{
	__u64 initial = 40, *value;

	CHECK(!bpf_sk_storage_get(&of_socket, socket, NULL, 0));
	value = bpf_sk_storage_get(&of_socket, socket, &initial, BPF_STORAGE_GET_F_CREATE);
	CHECK(value && *value == 40);
	*value += 2;
	value = bpf_sk_storage_get(&of_socket, socket, NULL, 0);
	CHECK(value && *value == 42);
	return 0;
}

SEC("cgroup/sock_create")
int socket_storage(struct bpf_sock *socket)
{
	return report(hang_value(socket), 1);
}
