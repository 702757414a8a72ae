// SPDX-License-Identifier: Apache-2.0
/*
 * What it costs libbpf to read and write a hash map with 10,000 elements, keys and values of 8 bytes: one by one, and all
 * of them in batches of as many as there are.
 *
 *     maps ROUNDS
 *
 * Prints a line for each operation, fields separated by tabs: way, operation, size (empty), the unit ns, and the time of an
 * element in each round. "InPlace" is the same operation: C has no other.
 */
#include <bpf/bpf.h>

#include "harness.h"

#define ENTRIES 10000
/* Of single elements: a round takes some 20 ms. */
#define OPERATIONS 50000

static unsigned long long keys[ENTRIES], values[ENTRIES];

/* Each returns the number of elements that it read or wrote. */
static int lookup(int map)
{
	for (int i = 0; i < OPERATIONS; i++)
		if (bpf_map_lookup_elem(map, &keys[i % ENTRIES], &values[0]))
			die("BPF_MAP_LOOKUP_ELEM");
	return OPERATIONS;
}

static int update(int map)
{
	for (int i = 0; i < OPERATIONS; i++)
		if (bpf_map_update_elem(map, &keys[i % ENTRIES], &values[i % ENTRIES], BPF_ANY))
			die("BPF_MAP_UPDATE_ELEM");
	return OPERATIONS;
}

static int lookup_batched(int map)
{
	static unsigned long long found_keys[ENTRIES], found_values[ENTRIES];
	__u32 place, total = 0;
	int error;

	do {
		__u32 count = ENTRIES - total;

		error = bpf_map_lookup_batch(map, total ? &place : NULL, &place, found_keys + total, found_values + total,
					     &count, NULL);
		if (error && errno != ENOENT)
			die("BPF_MAP_LOOKUP_BATCH");
		total += count;
	} while (!error && total < ENTRIES);
	if (total != ENTRIES)
		die("%u of %d elements", total, ENTRIES);
	return ENTRIES;
}

static int update_batched(int map)
{
	__u32 count = ENTRIES;

	if (bpf_map_update_batch(map, keys, values, &count, NULL))
		die("BPF_MAP_UPDATE_BATCH");
	return ENTRIES;
}

static void measure(const char *const works[2], int (*operation)(int), int map, int rounds)
{
	double *times = calloc(rounds, sizeof(double));

	/* Round -1 warms up. */
	for (int round = -1; round < rounds; round++) {
		double start = now_ms();
		int elements = operation(map);

		if (round >= 0)
			times[round] = (now_ms() - start) * 1e6 / elements;
	}
	for (int i = 0; i < 2 && works[i]; i++)
		report_in("ns", libbpf(), works[i], "", times, rounds);
	free(times);
}

int main(int argc, char **argv)
{
	int rounds, map;

	if (argc != 2 || (rounds = atoi(argv[1])) < 1) {
		fputs("usage: maps ROUNDS\n", stderr);
		return 2;
	}
	map = bpf_map_create(BPF_MAP_TYPE_HASH, "bench", sizeof(keys[0]), sizeof(values[0]), ENTRIES, NULL);
	if (map < 0)
		die("BPF_MAP_CREATE");
	for (int i = 0; i < ENTRIES; i++) {
		keys[i] = i;
		values[i] = 3ULL * i;
	}
	update_batched(map);
	measure((const char *const[2]){ "lookup", "lookupInPlace" }, lookup, map, rounds);
	measure((const char *const[2]){ "update", "updateInPlace" }, update, map, rounds);
	measure((const char *const[2]){ "lookupBatched" }, lookup_batched, map, rounds);
	measure((const char *const[2]){ "updateBatched" }, update_batched, map, rounds);
	return 0;
}
