/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A USDT program that does nothing: what attach and detach cost by themselves. */
#include <bpf4j/usdt.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("usdt")
int empty(struct pt_regs *ctx)
{
	return 0;
}
