// SPDX-License-Identifier: Apache-2.0
/*
 * What attach and detach of USDT probes cost without bpf4j, as a yardstick for its benchmarks. Two ways to do the same:
 *
 *   libbpf  bpf_program__attach_usdt: open the file, find the notes, understand the arguments, write the specs, make one
 *           uprobe_multi link; what a user of libbpf waits for
 *   bare    the system calls of that alone, everything computed before: 20 map updates and one BPF_LINK_CREATE; the
 *           floor under any loader
 *
 *     attach OBJECTS TARGET ROUNDS [WORK SIZE [PROCESSES]]
 *
 * OBJECTS is the folder of the tests' objects; TARGET is made of sites.S. Prints a line for each way and each direction,
 * fields separated by tabs: way, direction, number of sites, the unit ms, and the time of each round.
 * With WORK only the time of attaching by libbpf, as this work and size; while so many processes run the target.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "sites.h"

#define PROVIDER "bench"
#define PROBE "site"
#define SPECS 20
#define SPEC_BYTES 304
/* As the benchmarks', for the specs of a thousand argument strings, of two attachments. */
#define MANY_SPECS 2048

static void report_sites(const char *way, const char *direction, size_t sites, const double *times, int rounds)
{
	char size[24];

	snprintf(size, sizeof(size), "%zu", sites);
	report(way, direction, size, times, rounds);
}

/* Runs the target, which writes a byte when it is up, and ends with its standard input: when this process does. */
static void run(const char *target)
{
	int to[2], from[2];
	char up;

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		die("pipe");
	switch (vfork()) {
	case -1:
		die("vfork");
	case 0:
		if (dup2(to[0], 0) == 0 && dup2(from[1], 1) == 1)
			execl(target, target, NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	if (read(from[0], &up, 1) != 1)
		die("run %s", target);
}

static void with_libbpf(const char *objects, const char *target, const char *work, const char *size, size_t sites,
			int rounds)
{
	double *attach = calloc(rounds, sizeof(double)), *detach = calloc(rounds, sizeof(double));
	struct bpf_object *object = open_usdt_object(objects);
	struct bpf_program *program;

	program = bpf_object__next_program(object, NULL);
	if (work && bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "__bpf_usdt_specs"), MANY_SPECS))
		die("size of the map of specs");
	if (bpf_object__load(object))
		die("load the object");
	/* Round -1 warms up. */
	for (int round = -1; round < rounds; round++) {
		double start = now_ms(), attached, detached;
		struct bpf_link *link = bpf_program__attach_usdt(program, -1, target, PROVIDER, PROBE, NULL);

		if (!link)
			die("attach to %s", target);
		attached = now_ms();
		bpf_link__destroy(link);
		detached = now_ms();
		if (round < 0)
			continue;
		attach[round] = attached - start;
		detach[round] = detached - attached;
	}
	bpf_object__close(object);
	if (work) {
		report(libbpf(), work, size, attach, rounds);
	} else {
		report_sites(libbpf(), "attach", sites, attach, rounds);
		report_sites(libbpf(), "detach", sites, detach, rounds);
	}
	free(attach);
	free(detach);
}

static void with_bare_calls(const char *target, const unsigned long *offsets, size_t sites, int rounds)
{
	double *attach = calloc(rounds, sizeof(double)), *detach = calloc(rounds, sizeof(double));
	const struct bpf_insn return_0[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, load, .expected_attach_type = BPF_TRACE_UPROBE_MULTI);
	int program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", return_0, 2, &load);
	int specs = bpf_map_create(BPF_MAP_TYPE_ARRAY, "specs", 4, SPEC_BYTES, 256, NULL);
	unsigned long long *cookies = calloc(sites, sizeof(*cookies));
	char spec[SPEC_BYTES] = { 0 };

	if (program < 0 || specs < 0)
		die("load a program for uprobe_multi and make a map");
	for (size_t i = 0; i < sites; i++)
		cookies[i] = i % SPECS;
	LIBBPF_OPTS(bpf_link_create_opts, create,
		    .uprobe_multi = { .path = target, .offsets = offsets, .cookies = (void *)cookies, .cnt = sites });
	for (int round = -1; round < rounds; round++) {
		double start = now_ms(), attached, detached;
		int link;

		for (int id = 0; id < SPECS && id < (int)sites; id++)
			if (bpf_map_update_elem(specs, &id, spec, BPF_ANY))
				die("update a map");
		link = bpf_link_create(program, 0, BPF_TRACE_UPROBE_MULTI, &create);
		if (link < 0)
			die("BPF_LINK_CREATE for %s", target);
		attached = now_ms();
		close(link);
		detached = now_ms();
		if (round < 0)
			continue;
		attach[round] = attached - start;
		detach[round] = detached - attached;
	}
	close(program);
	close(specs);
	report_sites("bare calls", "attach", sites, attach, rounds);
	report_sites("bare calls", "detach", sites, detach, rounds);
	free(attach);
	free(detach);
	free(cookies);
}

int main(int argc, char **argv)
{
	unsigned long *offsets;
	size_t sites;
	int rounds;

	if (argc < 4 || argc == 5 || argc > 7 || (rounds = atoi(argv[3])) < 1) {
		fputs("usage: attach OBJECTS TARGET ROUNDS [WORK SIZE [PROCESSES]]\n", stderr);
		return 2;
	}
	for (int i = argc > 6 ? atoi(argv[6]) : 0; i > 0; i--)
		run(argv[2]);
	offsets = site_offsets(argv[2], &sites);
	with_libbpf(argv[1], argv[2], argc > 4 ? argv[4] : NULL, argc > 4 ? argv[5] : NULL, sites, rounds);
	if (argc == 4)
		with_bare_calls(argv[2], offsets, sites, rounds);
	free(offsets);
	return 0;
}
