// SPDX-License-Identifier: Apache-2.0
/*
 * What it costs libbpf to attach by a perf uprobe for each site, each with a cookie, as kernels before 6.6 need it. The
 * sites are known before, and no specs are written: bpf_program__attach_uprobe_opts alone.
 *
 *     singles OBJECTS TARGET ROUNDS
 *
 * OBJECTS is the folder of the tests' objects; TARGET is made of sites.S. Prints a line for attach and one for detach,
 * fields separated by tabs: way, work, number of sites, the unit ms, and the time of each round.
 */
#include <linux/bpf.h>

#include "harness.h"
#include "sites.h"

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_program *program;
	struct bpf_link **links;
	unsigned long *offsets;
	double *attach, *detach;
	size_t sites;
	char size[24];
	int rounds;

	if (argc != 4 || (rounds = atoi(argv[3])) < 1) {
		fputs("usage: singles OBJECTS TARGET ROUNDS\n", stderr);
		return 2;
	}
	offsets = site_offsets(argv[2], &sites);
	object = open_usdt_object(argv[1]);
	program = bpf_object__next_program(object, NULL);
	/* There and back: it is not a program of SEC("usdt") any more, which libbpf loads for multi links only. */
	if (bpf_program__set_type(program, BPF_PROG_TYPE_SOCKET_FILTER) ||
	    bpf_program__set_type(program, BPF_PROG_TYPE_KPROBE) || bpf_program__set_expected_attach_type(program, 0) ||
	    bpf_object__load(object))
		die("load the object");
	links = calloc(sites, sizeof(*links));
	attach = calloc(rounds, sizeof(double));
	detach = calloc(rounds, sizeof(double));
	for (int round = 0; round < rounds; round++) {
		double start = now_ms(), attached;

		for (size_t i = 0; i < sites; i++) {
			LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = i);

			links[i] = bpf_program__attach_uprobe_opts(program, -1, argv[2], offsets[i], &options);
			if (!links[i])
				die("attach to site %zu of %s", i, argv[2]);
		}
		attached = now_ms();
		for (size_t i = 0; i < sites; i++)
			bpf_link__destroy(links[i]);
		attach[round] = attached - start;
		detach[round] = now_ms() - attached;
	}
	bpf_object__close(object);
	snprintf(size, sizeof(size), "%zu", sites);
	report(libbpf(), "attachByCookie", size, attach, rounds);
	report(libbpf(), "detachByCookie", size, detach, rounds);
	free(links);
	free(attach);
	free(detach);
	free(offsets);
	return 0;
}
