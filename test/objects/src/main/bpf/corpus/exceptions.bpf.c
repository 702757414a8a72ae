/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exceptions: bpf_throw ends the program however deep the call, and what the program returns is what was thrown,
 * or what its own function makes of it. Linux 6.7.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

extern void bpf_throw(__u64 cookie) __ksym;

static __noinline int throws(__u64 what)
{
	bpf_throw(what);
	return __LINE__;
}

__noinline int throws_far(struct __sk_buff *skb)
{
	return throws(skb->len - 64);
}

/* A packet of 64 bytes throws 0. */
SEC("tc")
int thrown(struct __sk_buff *skb)
{
	throws_far(skb);
	return __LINE__;
}

__noinline int handle(__u64 what)
{
	return what == 4711 ? 0 : __LINE__;
}

/* Nothing calls `handle`: that it belongs to the program says a tag. */
SEC("tc")
__exception_cb(handle) int handled(struct __sk_buff *skb)
{
	throws(4711);
	return __LINE__;
}

__noinline int handle_too(__u64 what)
{
	return what == 1 ? 0 : __LINE__;
}

SEC("tc")
__exception_cb(handle_too) int handled_by_another(struct __sk_buff *skb)
{
	bpf_throw(1);
	return __LINE__;
}
