// SPDX-License-Identifier: Apache-2.0
/* What the programs of this folder share: a clock, an end, a line of results. */
#ifndef BPF4J_HARNESS_H
#define BPF4J_HARNESS_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const char *what, ...)
{
	int error = errno;
	va_list args;

	va_start(args, what);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, what, args);
	fprintf(stderr, ": %s\n", strerror(error));
	va_end(args);
	exit(1);
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* A line of results: way, work, size, and the time of each round in ms, with tabs between. */
static void report(const char *way, const char *work, const char *size, const double *times, int rounds)
{
	printf("%s\t%s\t%s", way, work, size);
	for (int round = 0; round < rounds; round++)
		printf("\t%.4f", times[round]);
	putchar('\n');
}

#endif
