/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of the C library: on return, many at once, on entry and return, by programs that may sleep and then
 * read what is not in memory. Optional, for kernels have some of them.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

HELPER(148, long, bpf_copy_from_user, void *to, __u32 size, const void *from);

REPORTS

static __always_inline int copied(struct pt_regs *ctx)
{
	__u64 top = 0;

	CHECK(!bpf_copy_from_user(&top, sizeof(top), (void *)REGS_SP(ctx)));
	return 0;
}

SEC("uprobe.s/libc.so.6:fdopendir")
int enters(struct pt_regs *ctx)
{
	return report(copied(ctx), 0);
}

/* It gives a pointer. */
SEC("uretprobe.s/libc.so.6:fdopendir")
int returns(struct pt_regs *ctx)
{
	return report(REGS_RETURN(ctx) ? 0 : __LINE__, 0);
}

SEC("?uprobe.multi.s/libc.so.6:fdopendi?")
int enters_many(struct pt_regs *ctx)
{
	return report(copied(ctx), 0);
}

SEC("?uretprobe.multi.s/libc.so.6:fdopendi?")
int returns_from_many(struct pt_regs *ctx)
{
	return report(REGS_RETURN(ctx) ? 0 : __LINE__, 0);
}

SEC("?uprobe.session.s/libc.so.6:fdopendi?")
int enters_and_returns(struct pt_regs *ctx)
{
	return report(copied(ctx), 0);
}

SEC("usdt.s")
int at_probe(struct pt_regs *ctx)
{
	return report(copied(ctx), 0);
}
