// SPDX-License-Identifier: Apache-2.0
/*
 * What opening and loading a BPF object costs without bpf4j, as a yardstick for its benchmarks. Two ways:
 *
 *   libbpf  open: bpf_object__open_mem of a file that is in memory; load: bpf_object__load, which makes the maps, relocates
 *           against the kernel's types and hands the programs to the verifier
 *   bare    load alone: the system calls with everything computed before: BTF, maps and programs as libbpf gave them to the
 *           kernel, but for the information about functions and lines; the floor under any loader
 *
 *     load OBJECT ROUNDS [COUNT]
 *
 * Prints a line for each way and each step, fields separated by tabs: way, step, object, the unit ms, and the time of
 * each round. With COUNT only the time that libbpf takes to load the object, which is small, as often, and to keep all.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

struct file {
	const char *name;
	void *bytes;
	size_t size;
};

static struct file read_file(const char *path)
{
	struct file file = { .name = path };
	FILE *in = fopen(path, "re");
	long size;

	if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) <= 0)
		die("open %s", path);
	rewind(in);
	file.size = size;
	file.bytes = malloc(size);
	if (fread(file.bytes, 1, size, in) != file.size)
		die("read %s", path);
	fclose(in);
	return file;
}

static struct bpf_object *open_object(const struct file *file)
{
	struct bpf_object *object = bpf_object__open_mem(file->bytes, file->size, NULL);

	if (!object)
		die("open %s", file->name);
	return object;
}

static void with_libbpf(const struct file *file, int rounds)
{
	double *open = calloc(rounds, sizeof(double)), *load = calloc(rounds, sizeof(double));

	/* Round -1 warms up. */
	for (int round = -1; round < rounds; round++) {
		double start = now_ms(), opened, loaded;
		struct bpf_object *object = open_object(file);

		opened = now_ms();
		if (bpf_object__load(object))
			die("load %s", file->name);
		loaded = now_ms();
		bpf_object__close(object);
		if (round < 0)
			continue;
		open[round] = opened - start;
		load[round] = loaded - opened;
	}
	report(libbpf(), "open", file->name, open, rounds);
	report(libbpf(), "load", file->name, load, rounds);
	free(open);
	free(load);
}

/* The time to open an object and load it many times. */
static void many_with_libbpf(const struct file *file, int count, int rounds)
{
	struct bpf_object **objects = calloc(count, sizeof(*objects));
	double *load = calloc(rounds, sizeof(double));
	char work[32];

	for (int round = -1; round < rounds; round++) {
		double start = now_ms();

		for (int i = 0; i < count; i++) {
			objects[i] = open_object(file);
			if (bpf_object__load(objects[i]))
				die("load %s", file->name);
		}
		if (round >= 0)
			load[round] = now_ms() - start;
		for (int i = 0; i < count; i++)
			bpf_object__close(objects[i]);
	}
	snprintf(work, sizeof(work), "load%dObjects", count);
	report(libbpf(), work, "", load, rounds);
	free(objects);
	free(load);
}

static int load_btf(const struct bpf_object *object)
{
	struct btf *types = bpf_object__btf(object);
	const void *bytes;
	__u32 size;
	int fd;

	if (!types)
		return 0;
	bytes = btf__raw_data(types, &size);
	fd = bpf_btf_load(bytes, size, NULL);
	if (fd < 0)
		die("BPF_BTF_LOAD");
	return fd;
}

static void with_bare_calls(const struct file *file, int rounds)
{
	double *load = calloc(rounds, sizeof(double));
	struct bpf_object *object = open_object(file);
	struct bpf_program *program;
	struct bpf_map *map;
	char license[] = "Dual BSD/GPL";
	int fds[256];

	if (bpf_object__load(object))
		die("load %s", file->name);
	for (int round = -1; round < rounds; round++) {
		double start = now_ms(), loaded;
		int count = 0;

		fds[count++] = load_btf(object);
		bpf_object__for_each_map(map, object) {
			LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = bpf_map__map_flags(map));

			fds[count] = bpf_map_create(bpf_map__type(map), NULL, bpf_map__key_size(map), bpf_map__value_size(map),
						    bpf_map__max_entries(map), &options);
			if (fds[count++] < 0)
				die("BPF_MAP_CREATE for %s", bpf_map__name(map));
		}
		bpf_object__for_each_program(program, object) {
			/* What libbpf adds on the way, for SEC("syscall") among ours. */
			unsigned int sleepable = bpf_program__type(program) == BPF_PROG_TYPE_SYSCALL ? BPF_F_SLEEPABLE : 0;
			LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_btf_fd = fds[0],
				    .expected_attach_type = bpf_program__expected_attach_type(program),
				    .prog_flags = bpf_program__flags(program) | sleepable);

			if (!bpf_program__autoload(program))
				continue;
			fds[count] = bpf_prog_load(bpf_program__type(program), NULL, license, bpf_program__insns(program),
						   bpf_program__insn_cnt(program), &options);
			if (fds[count++] < 0)
				die("BPF_PROG_LOAD for %s", bpf_program__name(program));
		}
		loaded = now_ms();
		while (count)
			close(fds[--count]);
		if (round >= 0)
			load[round] = loaded - start;
	}
	bpf_object__close(object);
	report("bare calls", "load", file->name, load, rounds);
	free(load);
}

int main(int argc, char **argv)
{
	struct file file;
	int rounds;

	if (argc < 3 || argc > 4 || (rounds = atoi(argv[2])) < 1) {
		fputs("usage: load OBJECT ROUNDS [COUNT]\n", stderr);
		return 2;
	}
	file = read_file(argv[1]);
	if (argc == 4) {
		many_with_libbpf(&file, atoi(argv[3]), rounds);
	} else {
		with_libbpf(&file, rounds);
		with_bare_calls(&file, rounds);
	}
	free(file.bytes);
	return 0;
}
