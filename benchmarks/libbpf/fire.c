// SPDX-License-Identifier: Apache-2.0
/*
 * Fires a loaded program of type "tc" by test runs: what makes the records whose way to user space is measured. A process
 * of its own, so that the firing side is the same for whoever reads. Needs no libbpf.
 *
 *     fire PROGRAM_ID COUNT INTERVAL
 *
 * INTERVAL is the time from one run to the next in nanoseconds; 0: as fast as the kernel runs it. It waits by looking at
 * the clock: a sleeping CPU would wake up first, and that time belongs to no reader. It fires at the usual priority, also
 * if the reader that starts it has a higher one.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	int result = syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (result < 0) {
		fprintf(stderr, "fire: bpf command %d: %s\n", command, strerror(errno));
		exit(1);
	}
	return result;
}

int main(int argc, char **argv)
{
	static const struct sched_param usual;
	static const char packet[64];
	union bpf_attr by_id, run;
	unsigned int count;
	long interval;

	if (argc != 4) {
		fputs("usage: fire PROGRAM_ID COUNT INTERVAL\n", stderr);
		return 2;
	}
	if (sched_setscheduler(0, SCHED_OTHER, &usual)) {
		perror("fire: sched_setscheduler");
		return 1;
	}
	count = strtoul(argv[2], NULL, 10);
	interval = atol(argv[3]);
	memset(&by_id, 0, sizeof(by_id));
	by_id.prog_id = strtoul(argv[1], NULL, 10);
	memset(&run, 0, sizeof(run));
	run.test.prog_fd = bpf(BPF_PROG_GET_FD_BY_ID, &by_id);
	run.test.data_in = (unsigned long)packet;
	run.test.data_size_in = sizeof(packet);
	if (!interval) {
		run.test.repeat = count;
		bpf(BPF_PROG_TEST_RUN, &run);
		return 0;
	}
	for (long long next = now_ns(); count--; next += interval) {
		while (now_ns() < next)
			;
		bpf(BPF_PROG_TEST_RUN, &run);
	}
	return 0;
}
