/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A record of each program of bpf-objects; what Java reads from them is compared with these values. */
#include "question.h"
#include "trace.h"

struct {
	struct trace_record fixed;
	__u64 args[TRACE_FEW_ARGS];
} traced = {
	.fixed = {
		.time_ns = 0x1122334455667788,
		.cookie = 42,
		.pid = 100,
		.tid = 101,
		.comm = "worker",
		.arg_count = 3,
		.error_bits = 1 << 1 | TRACE_PAUSED,
	},
	.args = { 7, 0, -9 },
};

struct question_record shown = { .pid = 1 };
