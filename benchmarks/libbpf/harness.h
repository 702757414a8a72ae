// SPDX-License-Identifier: Apache-2.0
/* What the programs of this folder that use libbpf share: a clock, an end, a line of results. */
#ifndef BPF4J_HARNESS_H
#define BPF4J_HARNESS_H

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline __attribute__((noreturn)) void die(const char *what, ...)
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

static inline double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* A line of results: way, work, size, unit, and the figure of each round, with tabs between. */
static inline void report_in(const char *unit, const char *way, const char *work, const char *size,
			     const double *figures, int rounds)
{
	printf("%s\t%s\t%s\t%s", way, work, size, unit);
	for (int round = 0; round < rounds; round++)
		printf("\t%.4f", figures[round]);
	putchar('\n');
}

static inline void report(const char *way, const char *work, const char *size, const double *ms, int rounds)
{
	report_in("ms", way, work, size, ms, rounds);
}

/* The object of one program, SEC("usdt"), whose specs have the layout of this libbpf; opened from the folder of objects. */
static inline struct bpf_object *open_usdt_object(const char *folder)
{
	int grown = libbpf_major_version() > 1 || libbpf_minor_version() >= 7;
	struct bpf_object *object;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, grown ? "args12.bpf.o" : "args12_208.bpf.o");
	object = bpf_object__open_file(path, NULL);
	if (!object)
		die("open %s", path);
	return object;
}

/* "libbpf 1.5" */
static inline const char *libbpf(void)
{
	static char name[32];

	snprintf(name, sizeof(name), "libbpf %u.%u", libbpf_major_version(), libbpf_minor_version());
	return name;
}

#endif
