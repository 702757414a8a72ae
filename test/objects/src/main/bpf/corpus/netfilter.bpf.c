/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A program at a hook of netfilter. Linux 6.4. */
#include <bpf4j/corpus.h>
#include <bpf4j/core.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct sk_buff {
	unsigned int len;
} __core;

struct nf_hook_state {
	__u8 pf;
	__u8 hook;
} __core;

struct bpf_nf_ctx {
	struct sk_buff *skb;
	const struct nf_hook_state *state;
} __core;

enum { NF_ACCEPT = 1, NFPROTO_IPV4 = 2, NF_INET_LOCAL_OUT = 3 };

REPORTS

static __always_inline int filter(struct bpf_nf_ctx *ctx)
{
	CHECK(ctx->skb->len >= 20); /* a header of IPv4: other packets may come by, too */
	CHECK(ctx->state->pf == NFPROTO_IPV4);
	CHECK(ctx->state->hook == NF_INET_LOCAL_OUT);
	return 0;
}

SEC("netfilter")
int at_hook(struct bpf_nf_ctx *ctx)
{
	return report(filter(ctx), NF_ACCEPT);
}
