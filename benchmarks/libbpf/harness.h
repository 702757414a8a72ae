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

static int by_value(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return (difference > 0) - (difference < 0);
}

/* A line of the yardstick: way, work, size, shortest and median time in ms, with tabs between. Sorts the times. */
static void report(const char *way, const char *work, const char *size, double *times, int rounds)
{
	qsort(times, rounds, sizeof(*times), by_value);
	printf("%s\t%s\t%s\t%.3f\t%.3f\n", way, work, size, times[0],
	       rounds % 2 ? times[rounds / 2] : (times[rounds / 2 - 1] + times[rounds / 2]) / 2);
}

#endif
