/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lines of text from BPF programs to the log of user space:
 *
 *   bpf4j_log(BPF4J_LOG_WARN, "%s sends %llu bytes to %pI4", comm, bytes, address);
 *
 * The program makes no text. It writes the number of the format, the name of the function and the arguments into a ring
 * buffer; user space has the formats from the object file, and makes the line (io.bpf4j.loader.ProgramLog).
 *
 * Formats are those of printf: %d %i %u %x %X %o %c %p %s %%, with flags, a width, a precision, and the sizes hh h l ll z.
 * %pI4 is an IPv4 address in network byte order, passed as a number of 4 bytes. An argument of type char * is text in
 * memory of the kernel, of a map or of the stack; bpf4j_user_text(pointer) is text in memory of the process. Of a text the
 * first 63 bytes are kept. There are at most 8 arguments, and the format has at most 111 bytes.
 *
 * A line whose level is above bpf4j_log_level costs one comparison. User space may change the level at any time. Where the
 * ring buffer is full, the line is counted in bpf4j_log_lost.
 *
 * Numbers are given by __COUNTER__. Files that are linked to one object need different ranges: define BPF4J_LOG_FIRST
 * before this file is included. Linux 5.8.
 */
#ifndef BPF4J_LOG_H
#define BPF4J_LOG_H

#include <bpf4j/helpers.h>

#ifndef BPF4J_LOG_FIRST
#define BPF4J_LOG_FIRST 0
#endif

#ifndef BPF4J_LOG_RING_SIZE
#define BPF4J_LOG_RING_SIZE (1 << 18)
#endif

enum { BPF4J_LOG_ERROR = 1, BPF4J_LOG_WARN = 2, BPF4J_LOG_INFO = 3, BPF4J_LOG_DEBUG = 4, BPF4J_LOG_TRACE = 5 };

enum { BPF4J_LOG_MOST_ARGUMENTS = 8, BPF4J_LOG_FORMAT_BYTES = 112, BPF4J_LOG_TEXT_BYTES = 64 };

/* What the arguments are. */
enum { BPF4J_LOG_NUMBER = 1, BPF4J_LOG_TEXT = 2 };

/* An element of section .rodata.bpf4j_log, 128 bytes. */
struct bpf4j_log_format {
	__u32 number;
	__u8 level;
	__u8 arguments;
	__u8 kinds[BPF4J_LOG_MOST_ARGUMENTS];
	__u8 reserved[2];
	char text[BPF4J_LOG_FORMAT_BYTES];
};

/* The start of a record. For each argument follow 8 bytes: the number, or the length of the text with its NUL, after which
 * are BPF4J_LOG_TEXT_BYTES. The length is a negative error number where the text can't be read. */
struct bpf4j_log_record {
	__u32 number;
	__u32 cpu;
	__u64 time; /* nanoseconds of CLOCK_MONOTONIC */
	char function[16] __attribute__((aligned(8)));
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, BPF4J_LOG_RING_SIZE);
} bpf4j_log_ring __weak SEC(".maps");

__u32 bpf4j_log_level __weak = BPF4J_LOG_INFO;
__u64 bpf4j_log_lost __weak = 0;

struct bpf4j_text_of_user;
#define bpf4j_user_text(pointer) ((struct bpf4j_text_of_user *)(pointer))

HELPER(115, long, bpf_probe_read_kernel_str, void *to, __u32 size, const void *from);

static __always_inline __u32 bpf4j_log_number(char *record, __u32 at, __u64 value)
{
	*(__u64 *)(record + at) = value;
	return at + 8;
}

static __always_inline __u32 bpf4j_log_kernel_text(char *record, __u32 at, __u64 text)
{
	*(__s64 *)(record + at) = bpf_probe_read_kernel_str(record + at + 8, BPF4J_LOG_TEXT_BYTES, (void *)text);
	return at + 8 + BPF4J_LOG_TEXT_BYTES;
}

static __always_inline __u32 bpf4j_log_user_text(char *record, __u32 at, __u64 text)
{
	*(__s64 *)(record + at) = bpf_probe_read_user_str(record + at + 8, BPF4J_LOG_TEXT_BYTES, (void *)text);
	return at + 8 + BPF4J_LOG_TEXT_BYTES;
}

#define BPF4J_LOG_FOR(argument, number, kernel, user)                                                                  \
	_Generic((argument), char *: kernel, const char *: kernel, struct bpf4j_text_of_user *: user, default: number)

/* What is done for each argument. */
#define BPF4J_LOG_KIND(argument) BPF4J_LOG_FOR(argument, BPF4J_LOG_NUMBER, BPF4J_LOG_TEXT, BPF4J_LOG_TEXT),
#define BPF4J_LOG_SIZE(argument) +BPF4J_LOG_FOR(argument, 8, 8 + BPF4J_LOG_TEXT_BYTES, 8 + BPF4J_LOG_TEXT_BYTES)
#define BPF4J_LOG_ONE(argument) +1
#define BPF4J_LOG_WRITE(argument)                                                                                      \
	_at = BPF4J_LOG_FOR(argument, bpf4j_log_number, bpf4j_log_kernel_text,                                         \
			    bpf4j_log_user_text)((char *)_record, _at, (__u64)(argument));

#define BPF4J_LOG_EACH_0(do)
#define BPF4J_LOG_EACH_1(do, a)      do(a)
#define BPF4J_LOG_EACH_2(do, a, ...) do(a) BPF4J_LOG_EACH_1(do, __VA_ARGS__)
#define BPF4J_LOG_EACH_3(do, a, ...) do(a) BPF4J_LOG_EACH_2(do, __VA_ARGS__)
#define BPF4J_LOG_EACH_4(do, a, ...) do(a) BPF4J_LOG_EACH_3(do, __VA_ARGS__)
#define BPF4J_LOG_EACH_5(do, a, ...) do(a) BPF4J_LOG_EACH_4(do, __VA_ARGS__)
#define BPF4J_LOG_EACH_6(do, a, ...) do(a) BPF4J_LOG_EACH_5(do, __VA_ARGS__)
#define BPF4J_LOG_EACH_7(do, a, ...) do(a) BPF4J_LOG_EACH_6(do, __VA_ARGS__)
#define BPF4J_LOG_EACH_8(do, a, ...) do(a) BPF4J_LOG_EACH_7(do, __VA_ARGS__)
#define BPF4J_LOG_EACH_N(do, ...) /* refused by BPF4J_LOG_FEW */

#define BPF4J_LOG_17TH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, ...) q
#define BPF4J_LOG_EACH(do, ...)                                                                                        \
	BPF4J_LOG_17TH(_, ##__VA_ARGS__, BPF4J_LOG_EACH_N, BPF4J_LOG_EACH_N, BPF4J_LOG_EACH_N, BPF4J_LOG_EACH_N,       \
		       BPF4J_LOG_EACH_N, BPF4J_LOG_EACH_N, BPF4J_LOG_EACH_N, BPF4J_LOG_EACH_8, BPF4J_LOG_EACH_7,       \
		       BPF4J_LOG_EACH_6, BPF4J_LOG_EACH_5, BPF4J_LOG_EACH_4, BPF4J_LOG_EACH_3, BPF4J_LOG_EACH_2,       \
		       BPF4J_LOG_EACH_1, BPF4J_LOG_EACH_0)                                                             \
	(do, ##__VA_ARGS__)
#define BPF4J_LOG_FEW(...) BPF4J_LOG_17TH(_, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1)

#define bpf4j_log(level_, format_, ...)                                                                                \
	do {                                                                                                           \
		_Static_assert(BPF4J_LOG_FEW(__VA_ARGS__), "bpf4j_log takes at most 8 arguments after the format");    \
		_Static_assert(sizeof(format_) <= BPF4J_LOG_FORMAT_BYTES,                                              \
			       "the format of bpf4j_log has more than 111 bytes");                                     \
		enum {                                                                                                 \
			_number = BPF4J_LOG_FIRST + __COUNTER__,                                                       \
			_size = sizeof(struct bpf4j_log_record) BPF4J_LOG_EACH(BPF4J_LOG_SIZE, ##__VA_ARGS__)          \
		};                                                                                                     \
		static const struct bpf4j_log_format _format SEC(".rodata.bpf4j_log") = {                              \
			.number = _number,                                                                             \
			.level = (level_),                                                                             \
			.arguments = 0 BPF4J_LOG_EACH(BPF4J_LOG_ONE, ##__VA_ARGS__),                                   \
			.kinds = { BPF4J_LOG_EACH(BPF4J_LOG_KIND, ##__VA_ARGS__) },                                    \
			.text = format_,                                                                               \
		};                                                                                                     \
		if ((level_) <= bpf4j_log_level) {                                                                     \
			struct bpf4j_log_record *_record = bpf_ringbuf_reserve(&bpf4j_log_ring, _size, 0);             \
			if (_record) {                                                                                 \
				__u32 _at __unused = sizeof(struct bpf4j_log_record);                                  \
				_record->number = _number;                                                             \
				_record->cpu = bpf_get_smp_processor_id();                                             \
				_record->time = bpf_ktime_get_ns();                                                    \
				__builtin_memset(_record->function, 0, sizeof(_record->function));                     \
				__builtin_memcpy(_record->function, __func__,                                          \
						 sizeof(__func__) < 16 ? sizeof(__func__) : 15);                       \
				BPF4J_LOG_EACH(BPF4J_LOG_WRITE, ##__VA_ARGS__)                                         \
				bpf_ringbuf_submit(_record, 0);                                                        \
			} else {                                                                                       \
				atomic_add(&bpf4j_log_lost, 1);                                                        \
			}                                                                                              \
		}                                                                                                      \
	} while (0)

#endif
