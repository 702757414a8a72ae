/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the tracer (trace.bpf.c, object "trace.bpf.o") and user space agree on.
 *
 * Before load, user space sets these globals of .rodata, all little-endian like the machine:
 *
 *   u64 pidns_device,          the pid namespace whose ids are meant here: see bpf4j/pidns.h.
 *       pidns_inode
 *   u32 target_tgid            0: every process; else only events of this process.
 *   u8  string_mode[12]        for argument n: TRACE_VALUE, TRACE_CSTRING or TRACE_COUNTED.
 *   u8  string_length_arg[12]  for argument n in mode TRACE_COUNTED: which argument holds its length
 *                              in bytes (0..11).
 *   u32 string_max             bytes kept of each string, 1..TRACE_STRING_LIMIT (default 128).
 *   u32 wakeup_bytes           0 (default): the kernel wakes the reader when the ring was empty.
 *                              Else it is woken only once that many bytes wait, so the reader has to
 *                              poll with a timeout; fewer context switches under a storm of events.
 *
 * Program: "trace", SEC("usdt"): attach it to any number of probes; the USDT cookie given at attach
 * comes back in the record and says which probe fired.
 *
 * Maps: "events", a ring buffer (1 MiB unless max_entries is edited before load; a power of two, a
 * multiple of the page size). Globals of .bss: u64 lost, events for which the ring had no room.
 *
 * A record is `struct trace_record` and behind it one slot of string_max bytes for every argument n,
 * in ascending n, whose string_mode isn't TRACE_VALUE. So a loaded object has one record size,
 *
 *   sizeof(struct trace_record) + (number of string arguments) * string_max
 *
 * and slot k starts at 168 + k * string_max. Only the first string_length[n] bytes of a slot were
 * written; what follows them is left over from older records.
 */
#ifndef BPF4J_TRACE_H
#define BPF4J_TRACE_H

#define TRACE_ARGS 12
#define TRACE_STRING_LIMIT 4096

/* string_mode[n] */
#define TRACE_VALUE 0   /* argument n is a number: no string is read */
#define TRACE_CSTRING 1 /* it points to bytes that end with NUL */
#define TRACE_COUNTED 2 /* it points to as many bytes as argument string_length_arg[n] says */

/* error_bits: no spec was found for the site; arg_count is 0 then. */
#define TRACE_NO_SPEC 0x8000

struct trace_record {
	__u64 time_ns;                   /*   0: CLOCK_MONOTONIC (bpf_ktime_get_ns) */
	__u64 cookie;                    /*   8: the USDT cookie of the attachment */
	__u32 pid;                       /*  16: process (tgid) */
	__u32 tid;                       /*  20: thread */
	char comm[16];                   /*  24: name of the thread, ends with NUL */
	__u16 arg_count;                 /*  40: arguments of this site, 0..12 */
	__u16 error_bits;                /*  42: bit n: argument n could not be read; args[n] is 0 */
	__u16 string_bits;               /*  44: bit n: the string of argument n was read */
	__u16 truncated_bits;            /*  46: bit n: that string was longer than string_max */
	__u64 args[TRACE_ARGS];          /*  48: sign- or zero-extended to 64 bits; 0 from arg_count on */
	__u16 string_length[TRACE_ARGS]; /* 144: bytes in the slot of argument n, without the NUL */
	__u8 strings[];                  /* 168: the slots */
};

#endif
