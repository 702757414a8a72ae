// SPDX-License-Identifier: Apache-2.0
/*
 * What attach and detach of USDT probes cost without bpf4j, as a yardstick for its benchmarks. Two ways to do the same:
 *
 *   libbpf  bpf_program__attach_usdt: open the file, find the notes, understand the arguments, write the specs, make one
 *           uprobe_multi link; what a user of libbpf waits for
 *   bare    the system calls of that alone, everything computed before: 20 map updates and one BPF_LINK_CREATE; the
 *           floor under any loader
 *
 *     attach OBJECTS TARGET ROUNDS
 *
 * OBJECTS is the folder of the tests' objects; TARGET is made of sites.S. Prints a line for each way and each direction,
 * fields separated by tabs: way, direction, number of sites, the unit ms, and the time of each round.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define PROVIDER "bench"
#define PROBE "site"
#define SPECS 20
#define SPEC_BYTES 304

static void report_sites(const char *way, const char *direction, size_t sites, const double *times, int rounds)
{
	char size[24];

	snprintf(size, sizeof(size), "%zu", sites);
	report(way, direction, size, times, rounds);
}

/* Where the sites are in the file; their number goes to *count. The caller frees the list. */
static unsigned long *site_offsets(const char *path, size_t *count)
{
	unsigned long *offsets = NULL;
	Elf_Scn *section = NULL;
	size_t names, segments;
	GElf_Phdr segment;
	GElf_Shdr header;
	Elf *elf;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*count = 0;
	if (fd < 0)
		die("open %s", path);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_getshdrstrndx(elf, &names) || elf_getphdrnum(elf, &segments))
		die("%s: %s", path, elf_errmsg(-1));
	while ((section = elf_nextscn(elf, section)) && gelf_getshdr(section, &header)) {
		Elf_Data *data;
		GElf_Nhdr note;
		size_t name, description, next = 0;

		if (strcmp(elf_strptr(elf, names, header.sh_name), ".note.stapsdt"))
			continue;
		data = elf_getdata(section, NULL);
		while ((next = gelf_getnote(data, next, &note, &name, &description)) > 0) {
			unsigned long address;

			memcpy(&address, (char *)data->d_buf + description, sizeof(address));
			for (size_t i = 0; i < segments && gelf_getphdr(elf, i, &segment); i++) {
				if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
				    address >= segment.p_vaddr + segment.p_filesz)
					continue;
				offsets = realloc(offsets, (*count + 1) * sizeof(*offsets));
				offsets[(*count)++] = address - segment.p_vaddr + segment.p_offset;
				break;
			}
		}
	}
	/* Closed before anything is measured: a mapping of the target makes every attach slower. */
	elf_end(elf);
	close(fd);
	if (!*count) {
		errno = ENOENT;
		die("sites in %s", path);
	}
	return offsets;
}

static void with_libbpf(const char *objects, const char *target, size_t sites, int rounds)
{
	double *attach = calloc(rounds, sizeof(double)), *detach = calloc(rounds, sizeof(double));
	struct bpf_object *object = open_usdt_object(objects);
	struct bpf_program *program;

	program = bpf_object__next_program(object, NULL);
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
	report_sites(libbpf(), "attach", sites, attach, rounds);
	report_sites(libbpf(), "detach", sites, detach, rounds);
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

	if (argc != 4 || (rounds = atoi(argv[3])) < 1) {
		fputs("usage: attach OBJECTS TARGET ROUNDS\n", stderr);
		return 2;
	}
	offsets = site_offsets(argv[2], &sites);
	with_libbpf(argv[1], argv[2], sites, rounds);
	with_bare_calls(argv[2], offsets, sites, rounds);
	free(offsets);
	return 0;
}
