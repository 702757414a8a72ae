/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lines of a log, of each kind of argument.
 */
#define BPF4J_LOG_RING_SIZE 4096
#include <bpf4j/log.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct xdp_md;

__s32 small = 0;
__u64 large = 0;
__u32 address = 0;
__u64 user_text = 0;
char name[16] = {};

HELPER(6, long, bpf_trace_printk, const char *format, __u32 size, ...);

SEC("xdp")
int say(struct xdp_md *ctx)
{
	bpf4j_log(BPF4J_LOG_INFO, "no argument, 100%%");
	bpf4j_log(BPF4J_LOG_WARN, "%5d|%-5d|%05d|%+d|%x|%#X|%o|%c", small, small, small, small, small, small, small,
		  (__u32)large);
	return 2;
}

SEC("xdp")
int say_texts(struct xdp_md *ctx)
{
	const char *own = "constant";

	bpf4j_log(BPF4J_LOG_ERROR, "[%s] [%.3s] [%10s] [%s] from %pI4", name, name, own, bpf4j_user_text(user_text), address);
	return 2;
}

SEC("xdp")
int say_numbers(struct xdp_md *ctx)
{
	bpf4j_log(BPF4J_LOG_INFO, "%d %u %lld %llu %llx %p %hhd %zu", small, small, large, large, large, large, large, large);
	return 2;
}

static __noinline int helper(__u32 value)
{
	bpf4j_log(BPF4J_LOG_DEBUG, "helper %u", value);
	return value;
}

SEC("xdp")
int say_details(struct xdp_md *ctx)
{
	bpf4j_log(BPF4J_LOG_TRACE, "trace %i", small);
	return helper(small) == 77 ? 1 : 2;
}

/* To trace_pipe, which all programs of the machine share. */
SEC("?xdp")
int print(struct xdp_md *ctx)
{
	static const char format[] = "bpf4j says %d\n";

	bpf_trace_printk(format, sizeof(format), small);
	return 2;
}
