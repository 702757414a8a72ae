/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a control group asks programs about: sockets, addresses, options, devices, sysctls. All say yes. Attached
 * to the group of the test, which then does what they wait for.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { INET = 2, INET6 = 10, STREAM = 1, DGRAM = 2, TCP = 6 };

struct sock_addr { /* struct bpf_sock_addr */
	__u32 user_family, user_ip4, user_ip6[4], user_port, family, type, protocol;
};

struct sockopt { /* struct bpf_sockopt */
	__u64 socket, optval, optval_end;
	int level, optname, optlen, retval;
};

struct device { /* struct bpf_cgroup_dev_ctx */
	__u32 access_type, major, minor;
};

struct sysctl { /* struct bpf_sysctl */
	__u32 write, file_position;
};

HELPER(101, long, bpf_sysctl_get_name, struct sysctl *ctx, char *name, unsigned long length, __u64 flags);

REPORTS

#define IS(condition) ((condition) ? 0 : __LINE__)

SEC("cgroup/sock_create")
int created(struct bpf_sock *socket)
{
	return report(IS(socket->family), 1);
}

SEC("cgroup/sock")
int created_too(struct bpf_sock *socket)
{
	return report(IS(socket->type), 1);
}

SEC("cgroup/sock_release")
int released(struct bpf_sock *socket)
{
	return report(IS(socket->family == INET || socket->family == INET6), 1);
}

SEC("cgroup/post_bind4")
int bound_4(struct bpf_sock *socket)
{
	return report(IS(socket->family == INET), 1);
}

SEC("cgroup/post_bind6")
int bound_6(struct bpf_sock *socket)
{
	return report(IS(socket->family == INET6), 1);
}

#define ADDRESS(section, name, condition)                                                          \
	SEC("cgroup/" section) int name(struct sock_addr *ctx)                                     \
	{                                                                                          \
		return report(IS(condition), 1);                                                   \
	}

ADDRESS("bind4", bind_4, ctx->user_family == INET)
ADDRESS("bind6", bind_6, ctx->user_family == INET6)
ADDRESS("connect4", connect_4, ctx->user_port)
ADDRESS("connect6", connect_6, ctx->user_port)
ADDRESS("sendmsg4", send_4, ctx->type == DGRAM)
ADDRESS("sendmsg6", send_6, ctx->type == DGRAM)
ADDRESS("recvmsg4", receive_4, ctx->type == DGRAM)
ADDRESS("recvmsg6", receive_6, ctx->type == DGRAM)
ADDRESS("getpeername4", peer_4, ctx->user_port)
ADDRESS("getpeername6", peer_6, ctx->user_port)
ADDRESS("getsockname4", own_4, ctx->family == INET)
ADDRESS("getsockname6", own_6, ctx->family == INET6)

SEC("cgroup/getsockopt")
int asked(struct sockopt *ctx)
{
	return report(IS(ctx->level >= 0), 1);
}

SEC("cgroup/setsockopt")
int set(struct sockopt *ctx)
{
	return report(IS(ctx->optlen > 0), 1);
}

SEC("cgroup/dev")
int device(struct device *ctx)
{
	return report(IS(ctx->access_type), 1);
}

static __always_inline int named(struct sysctl *ctx)
{
	char name[64];

	CHECK(bpf_sysctl_get_name(ctx, name, sizeof(name), 0) > 0);
	CHECK(name[0] >= 'a' && name[0] <= 'z');
	return 0;
}

SEC("cgroup/sysctl")
int sysctl(struct sysctl *ctx)
{
	return report(named(ctx), 1);
}

SEC("sockops")
int operations(void *ctx)
{
	return report(0, 1);
}
