/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What question.bpf.c and user space share: the event that generated functions read, and the bits of a cookie. Numbers
 * have the machine's byte order.
 */
#ifndef BPF4J_QUESTION_H
#define BPF4J_QUESTION_H

#include <bpf4j/helpers.h>

#define QUESTION_ARGS     12
#define QUESTION_OUT      160 /* bytes that a generated function may write: keys, which lie on the stack */
#define QUESTION_SHOW     1024 /* bytes of the values that are shown of an event, which lie in the ring buffer */
#define QUESTION_BEGIN_OUT (8 + QUESTION_OUT + QUESTION_SHOW) /* bytes of a begin's values, for keys and to be shown */
#define QUESTION_FRAMES   127 /* of a stack: what the kernel gives if kernel.perf_event_max_stack is not changed */
#define QUESTION_NOT_KNOWN 1 /* in a stack, in the place of callers that are not known: no address of code */
#define QUESTION_TABLES   32768
#define QUESTION_BUCKETS  1024

/* An event as a generated function sees it. A field that no function asked for is 0. */
struct question_event {
	__u64 args[QUESTION_ARGS]; /* 0: extended to 64 bits as size and sign of the argument say */
	__u64 nsecs;               /* 96: CLOCK_MONOTONIC */
	__u64 cookie;              /* 104: see enum question_cookie */
	__u64 cgroup;              /* 112: id of the cgroup (version 2) */
	__u64 retval;              /* 120: what a function returned */
	__u32 pid;                 /* 128: process, in the pid namespace of user space */
	__u32 tid;                 /* 132: thread, likewise */
	__u32 uid;                 /* 136 */
	__u32 cpu;                 /* 140 */
	__u32 arg_count;           /* 144 */
	__u32 unreadable;          /* 148: bit n: args[n] could not be read, or the site has no such argument */
	char comm[16];             /* 152 */
	__u64 *begin;              /* 168: at the end of a pair: what question_begin wrote at its begin, if it is wanted */
};

_Static_assert(sizeof(struct question_event) == 176, "generated functions know these offsets");

/*
 * A probe's number, from 1, in the low 32 bits, and its part in the question. If the entry and the return of a function
 * are a pair, both have the number of the return.
 */
enum question_cookie {
	QUESTION_RETURN = 1, /* bit 32: fires when the function returns */
	QUESTION_BEGIN = 2,  /* bit 33: begins a pair */
	QUESTION_END = 4,    /* bit 34: ends a pair */
	QUESTION_CALL = 8,   /* bit 35: the entry of a function whose return is probed, too */
	QUESTION_SILENT = 16, /* bit 36: not part of the question: it tells which returns the kernel drops */
	QUESTION_GO = 32,     /* bit 37: a Go function, whose arguments are in the registers of Go since 1.17 */
	QUESTION_NO_ARGUMENTS = 64, /* bit 38: nobody knows where its arguments are */
};

/*
 * The first bit of the process in the cookie of a function; 0 there means every process. 24 bits suffice, because pids are
 * below 2^22 (PID_MAX_LIMIT).
 */
#define QUESTION_PROCESS 40

/* The kind of answer. */
enum question_kind {
	QUESTION_COUNT = 0,     /* count per key */
	QUESTION_HISTOGRAM = 1, /* distribution of a value per key */
	QUESTION_LATENCY = 2,   /* distribution of the time from begin to end per key */
	QUESTION_EVENTS = 3,    /* a record for each event */
};

/* Fields that are filled only if something reads them. */
enum question_field {
	QUESTION_NSECS = 1,
	QUESTION_CGROUP = 2,
	QUESTION_UID = 4,
	QUESTION_CPU = 8,
	QUESTION_COMM = 16,
	QUESTION_THREAD = 32, /* pid and tid */
};

/*
 * The value of a histogram's key on one CPU; user space cuts the map's value after the last bucket that is used. The
 * number of events is the sum of the buckets. A count has the first member only: a sum of ones. A new element is 0 on
 * every CPU, so extremes are kept as numbers for which 0 means none: as an unsigned number in the order of the values (a
 * signed value with its sign bit flipped), and the complement of that.
 */
struct question_distribution {
	__u64 sum;                       /* 0: modulo 2^64 */
	__u64 largest;                   /* 8 */
	__u64 smallest;                  /* 16: complement */
	__u64 buckets[QUESTION_BUCKETS]; /* 24 */
};

enum question_record_bit {
	QUESTION_FAILED = 1, /* a value could not be read; the bytes of all values are undefined */
	QUESTION_PAUSED = 2, /* the process was sent SIGSTOP: see pause.h */
};

/* A record of the ring: an event that is shown. `shown` is as long as user space wants it. */
struct question_record {
	__u64 nsecs;  /* 0 */
	__u64 cookie; /* 8 */
	__u64 value;  /* 16: nanoseconds of a latency, else 0 */
	__u32 pid;    /* 24 */
	__u32 tid;    /* 28 */
	char comm[16]; /* 32 */
	__u64 bits;   /* 48: enum question_record_bit */
	__u8 shown[]; /* 56 */
};

_Static_assert(__builtin_offsetof(struct question_record, pid) == 24, "EventReader knows these offsets");
_Static_assert(__builtin_offsetof(struct question_record, bits) == 48, "EventReader knows these offsets");
_Static_assert(__builtin_offsetof(struct question_record, shown) == 56, "EventReader knows these offsets");

#endif
