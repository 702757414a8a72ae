/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * For programs that check themselves: CHECK(condition) ends the program with the number of the line
 * that failed, and leaves that number in the global `failed_line` for user space to read, since what
 * a probe returns is lost. Only the first failure is kept; `runs` says that the end was reached at all.
 */
#ifndef BPF4J_CHECK_H
#define BPF4J_CHECK_H

#include <bpf4j/pidns.h>

__u32 failed_line = 0;
__u64 runs = 0;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			if (!failed_line)                                                          \
				failed_line = __LINE__;                                            \
			return __LINE__;                                                           \
		}                                                                                  \
	} while (0)

/* Events of other processes are nobody's business: set before load, with the namespace that the number is of; 0 lets all through. */
const volatile __u32 target_tgid = 0;

static __always_inline bool is_target(void)
{
	return !target_tgid || current_ids().tgid == target_tgid;
}

#endif
