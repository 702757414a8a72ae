/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the tracer (trace.bpf.c, object "trace.bpf.o") and user space agree on.
 *
 * Before load, user space sets these globals of .rodata, in the machine's byte order:
 *
 *   u64 pidns_device,          the pid namespace whose ids are meant here: see bpf4j/pidns.h.
 *       pidns_inode
 *   u8  string_mode[12]        for argument n: TRACE_VALUE, TRACE_CSTRING or TRACE_COUNTED.
 *   u8  string_length_arg[12]  for argument n in mode TRACE_COUNTED: which argument holds its length
 *                              in bytes (0..11).
 *   u32 string_max             bytes kept of each string, 1..TRACE_STRING_LIMIT (default 128).
 *   bool lossless              whether processes are paused when the ring is half full: see pause.h.
 *
 * Program: "trace", SEC("usdt"): attach it to any number of probes; the USDT cookie given at attach
 * comes back in the record and says which probe fired.
 *
 * Maps: "events", a ring buffer (1 MiB unless max_entries is edited before load; a power of two, a
 * multiple of the page size). Globals of .bss: u64 lost, events for which the ring had no room;
 * u64 pause_bytes, see pause.h: a record of a process that was paused has TRACE_PAUSED.
 *
 * A record is `struct trace_record` with room for TRACE_FEW_ARGS arguments if the site has no more, else
 * for TRACE_ARGS. It is followed by one slot for every argument n that there is room for, in ascending n,
 * whose string_mode isn't TRACE_VALUE: a `struct trace_string` with string_max bytes, padded to a
 * multiple of 8. So a loaded object has two record sizes,
 *
 *   48 + 8 * room + (number of string arguments below room) * (string_max + 2, rounded up to 8)
 *
 * and slot k starts at 48 + 8 * room + k * (string_max + 2, rounded up to 8). Bytes that were
 * not written, such as those after a text in its slot, are left over from older records.
 */
#ifndef BPF4J_TRACE_H
#define BPF4J_TRACE_H

#define TRACE_ARGS 12
#define TRACE_FEW_ARGS 4
#define TRACE_STRING_LIMIT 4096

/* string_mode[n] */
#define TRACE_VALUE 0   /* argument n is a number: no string is read */
#define TRACE_CSTRING 1 /* it points to bytes that end with NUL */
#define TRACE_COUNTED 2 /* it points to as many bytes as argument string_length_arg[n] says */

/* error_bits: no spec was found for the site; arg_count is 0 then. */
#define TRACE_NO_SPEC 0x8000
/* error_bits: the process was sent SIGSTOP, because the ring is half full. */
#define TRACE_PAUSED 0x4000

struct trace_record {
	__u64 time_ns;        /*  0: CLOCK_MONOTONIC (bpf_ktime_get_ns) */
	__u64 cookie;         /*  8: the USDT cookie of the attachment */
	__u32 pid;            /* 16: process (tgid) */
	__u32 tid;            /* 20: thread */
	char comm[16];        /* 24: name of the thread, ends with NUL */
	__u16 arg_count;      /* 40: arguments of this site, 0..12 */
	__u16 error_bits;     /* 42: bit n: argument n could not be read; args[n] is 0 */
	__u16 string_bits;    /* 44: bit n: the string of argument n was read */
	__u16 truncated_bits; /* 46: bit n: that string was longer than string_max */
	__u64 args[];         /* 48: sign- or zero-extended to 64 bits; 0 from arg_count on */
};

struct trace_string {
	__u16 length; /* 0: bytes of the text, without the NUL */
	__u8 text[];  /* 2 */
};

#endif
