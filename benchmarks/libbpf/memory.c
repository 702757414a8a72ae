// SPDX-License-Identifier: Apache-2.0
/*
 * The resident memory of a process that uses libbpf: when it has started, has loaded an object, has attached it to all
 * sites of a program, and has closed the link.
 *
 *     memory OBJECTS TARGET
 *
 * OBJECTS is the folder of the tests' objects; TARGET is made of sites.S, with 10,000 sites. Prints a line for each step,
 * fields separated by tabs: way, work, step, the unit MiB, and the memory. See MemoryMain.java beside the benchmarks.
 */
#include <unistd.h>

#include "harness.h"

static void print(const char *when)
{
	FILE *in = fopen("/proc/self/statm", "re");
	long resident;
	double mib;

	/* Pages: all, resident ... */
	if (!in || fscanf(in, "%*d %ld", &resident) != 1)
		die("read /proc/self/statm");
	fclose(in);
	mib = resident * (sysconf(_SC_PAGESIZE) / 1024.0 / 1024);
	report_in("MiB", libbpf(), "residentMemory", when, &mib, 1);
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_link *link;

	if (argc != 3) {
		fputs("usage: memory OBJECTS TARGET\n", stderr);
		return 2;
	}
	print("1 started");
	object = open_usdt_object(argv[1]);
	if (bpf_object__load(object))
		die("load the object");
	print("2 loaded");
	link = bpf_program__attach_usdt(bpf_object__next_program(object, NULL), -1, argv[2], "bench", "site", NULL);
	if (!link)
		die("attach to %s", argv[2]);
	print("3 10,000 sites");
	bpf_link__destroy(link);
	print("4 detached");
	bpf_object__close(object);
	return 0;
}
