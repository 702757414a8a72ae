/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A program that prints to its two streams of text (Linux 6.17). */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define __ksym __attribute__((section(".ksyms")))

enum { STREAM_OUT = 1, STREAM_ERR = 2 };

/* bpf_stream_vprintk of 6.17 is bpf_stream_vprintk_impl in 6.18. Since 7.0 the verifier adds the last argument. */
extern int bpf_stream_vprintk___4(int stream, const char *format, const void *arguments, __u32 size) __ksym __weak;
extern int bpf_stream_vprintk_impl(int stream, const char *format, const void *arguments, __u32 size,
				   void *aux) __ksym __weak;
extern int bpf_stream_vprintk(int stream, const char *format, const void *arguments, __u32 size, void *aux) __ksym __weak;

__u64 number = 0;

static const char words[] = "number %llu of %s\n";
static const char who[] = "streams";

static int print(int stream)
{
	__u64 arguments[2] = {number, (__u64)who};

	if (bpf_stream_vprintk___4)
		return bpf_stream_vprintk___4(stream, words, arguments, sizeof(arguments));
	if (bpf_stream_vprintk_impl)
		return bpf_stream_vprintk_impl(stream, words, arguments, sizeof(arguments), NULL);
	if (bpf_stream_vprintk)
		return bpf_stream_vprintk(stream, words, arguments, sizeof(arguments), NULL);
	return 100;
}

SEC("?syscall")
int say(void *ctx)
{
	int failed;

	number += 1;
	failed = print(STREAM_OUT);
	if (failed)
		return -failed;
	number += 1;
	return -print(STREAM_ERR);
}
