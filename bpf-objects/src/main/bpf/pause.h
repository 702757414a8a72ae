/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pauses processes that fire faster than their events are read, so that the ring buffer has room for each event.
 *
 * User space sets `lossless` before the load: whether processes are paused at all. Needs bpf_send_signal_thread (Linux
 * 5.6). It may change `pause_bytes` at any time: a process that fires while at least this many bytes wait in the ring
 * buffer is sent SIGSTOP, and its record says so. The reader of such a record has to send the process a SIGCONT. 0: no
 * process is paused.
 */
#ifndef BPF4J_PAUSE_H
#define BPF4J_PAUSE_H

#include <bpf4j/pidns.h>

#define SIGSTOP 19 /* on every machine that this runs on */

HELPER(117, long, bpf_send_signal_thread, __u32 signal); /* since 5.6 */

const volatile bool lossless = false;
__u64 pause_bytes = 0;

/*
 * Pauses this process if pause_bytes wait in the ring buffer. Returns whether it did: the record has to say so.
 *
 * The signal is sent before the record is submitted: a reader that continues the processes of the records that it
 * has read can't be too early, because SIGCONT cancels a SIGSTOP that was sent before, delivered or not.
 *
 * The signal goes to this thread, which handles it before it is back in user mode, and stops the whole process. Sent to
 * the process, it would be one signal for all: a thread that has been chosen to handle it, and waits for a processor,
 * would keep all others from being signalled, and they would fire on. As it is, each thread fires at most once after
 * that, for which there is room beyond pause_bytes.
 *
 * A process without a number that the reader knows is not paused: the reader could not continue it.
 */
static __always_inline bool pause_if_full(void *ring)
{
	__u64 most;

	if (!lossless)
		return false;
	most = *(volatile __u64 *)&pause_bytes;
	return most && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= most && has_known_ids() &&
	       !bpf_send_signal_thread(SIGSTOP);
}

#endif
