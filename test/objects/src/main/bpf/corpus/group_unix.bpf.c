/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a control group asks programs about sockets of the unix family. Linux 6.7. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { UNIX = 1 };

struct sock_addr { /* struct bpf_sock_addr */
	__u32 user_family, user_ip4, user_ip6[4], user_port, family, type, protocol;
};

REPORTS

#define ADDRESS(section, name)                                                                     \
	SEC("cgroup/" section) int name(struct sock_addr *ctx)                                     \
	{                                                                                          \
		return report(ctx->family == UNIX ? 0 : __LINE__, 1);                              \
	}

ADDRESS("connect_unix", connect)
ADDRESS("getsockname_unix", own)
ADDRESS("getpeername_unix", peer)
ADDRESS("sendmsg_unix", send)
ADDRESS("recvmsg_unix", receive)
