// SPDX-License-Identifier: Apache-2.0
/*
 * What it costs libbpf to attach to many probes of one program, each by a link of its own as it needs one, and to detach
 * from them, one after the other.
 *
 *     many OBJECTS TARGET PROBES ROUNDS
 *
 * OBJECTS is the folder of the tests' objects; TARGET is made of sites.S with PROBES probes, p0 and so on. Prints a line
 * for attach and one for detach, fields separated by tabs: way, work, size (empty), the unit ms, and the time of each
 * round. Detaching waits for a grace period of the kernel for each link, so a round takes half a minute.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_program *program;
	struct bpf_link **links;
	double *attach, *detach;
	int probes, rounds;
	char work[32];

	if (argc != 5 || (probes = atoi(argv[3])) < 1 || (rounds = atoi(argv[4])) < 1) {
		fputs("usage: many OBJECTS TARGET PROBES ROUNDS\n", stderr);
		return 2;
	}
	object = open_usdt_object(argv[1]);
	program = bpf_object__next_program(object, NULL);
	/* Each link has specs of its own. */
	if (bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "__bpf_usdt_specs"), 4 * probes))
		die("size of the map of specs");
	if (bpf_object__load(object))
		die("load the object");
	links = calloc(probes, sizeof(*links));
	attach = calloc(rounds, sizeof(double));
	detach = calloc(rounds, sizeof(double));
	for (int round = 0; round < rounds; round++) {
		double start = now_ms(), attached;

		for (int i = 0; i < probes; i++) {
			char name[16];

			snprintf(name, sizeof(name), "p%d", i);
			links[i] = bpf_program__attach_usdt(program, -1, argv[2], "bench", name, NULL);
			if (!links[i])
				die("attach to %s of %s", name, argv[2]);
		}
		attached = now_ms();
		for (int i = 0; i < probes; i++)
			bpf_link__destroy(links[i]);
		attach[round] = attached - start;
		detach[round] = now_ms() - attached;
	}
	bpf_object__close(object);
	snprintf(work, sizeof(work), "attach%d", probes);
	report(libbpf(), work, "", attach, rounds);
	snprintf(work, sizeof(work), "detach%d", probes);
	report(libbpf(), work, "", detach, rounds);
	free(links);
	free(attach);
	free(detach);
	return 0;
}
