// SPDX-License-Identifier: Apache-2.0
/*
 * What libbpf makes of records that a program fires: how fast they come from the kernel to the handler, how many are lost,
 * and how long each takes from the program to the handler.
 *
 *     records OBJECT FIRE SHOTS
 *
 * OBJECT is records.bpf.o; FIRE is the program that makes it fire, the same as for bpf4j. See RecordsMain.java beside the
 * benchmarks: names and numbers here are those there.
 */
#include <bpf/bpf.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define RATE_COUNT 500000
/* Each wake-up through a perf buffer takes several microseconds. */
#define RATE_COUNT_PERF 50000
#define LATENCY_COUNT 25600
#define LATENCY_INTERVAL "20000"
#define BATCH 64
#define PAGES 256
#define WAIT_MS 10
#define IDLE_NS 1000000000ULL

struct record {
	unsigned long long fired_ns, number, rest[6];
};

struct counts {
	unsigned long long fired, lost;
};

struct reader {
	const char *name;
	int rate_count;
	struct bpf_object *object;
	struct bpf_program *program;
	const struct counts *counts;
	struct ring_buffer *ring;
	struct perf_buffer *perf;
};

/* Of the records since the last start. */
static struct {
	long count;
	unsigned long long first, last, latest;
	double us[LATENCY_COUNT];
} seen;

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Reads a field, and looks at no clock: that would take several times as long as reading the record. */
static int count_record(void *context, void *data, size_t size)
{
	const struct record *record = data;

	(void)context;
	(void)size;
	if (!seen.count++)
		seen.first = record->fired_ns;
	seen.latest = record->fired_ns;
	return 0;
}

static int time_record(void *context, void *data, size_t size)
{
	const struct record *record = data;

	(void)context;
	(void)size;
	seen.us[seen.count++ % LATENCY_COUNT] = (now_ns() - record->fired_ns) / 1e3;
	return 0;
}

static int (*handler)(void *context, void *data, size_t size);

static int on_ring(void *context, void *data, size_t size)
{
	return handler(context, data, size);
}

static void on_perf(void *context, int cpu, void *data, __u32 size)
{
	(void)cpu;
	handler(context, data, size);
}

/* wake_at: bytes that wait when the program forces a wake-up; 0: it does not look. */
static struct reader open_reader(const char *object, bool ring, int batch, int wake_at)
{
	LIBBPF_OPTS(perf_buffer_opts, options, .sample_period = batch);
	struct reader reader = { .object = bpf_object__open_file(object, NULL) };
	static char name[32];
	unsigned int *constants;
	struct bpf_map *map;
	size_t size;

	if (!reader.object)
		die("open %s", object);
	map = bpf_object__find_map_by_name(reader.object, ".rodata");
	constants = bpf_map__initial_value(map, &size);
	constants[0] = batch;
	constants[1] = wake_at;
	if (bpf_object__load(reader.object))
		die("load %s", object);
	reader.counts = bpf_map__initial_value(bpf_object__find_map_by_name(reader.object, ".bss"), &size);
	reader.program = bpf_object__find_program_by_name(reader.object, ring ? "to_ring" : "to_perf");
	map = bpf_object__find_map_by_name(reader.object, ring ? "ring" : "events");
	if (ring)
		reader.ring = ring_buffer__new(bpf_map__fd(map), on_ring, NULL, NULL);
	else
		reader.perf = perf_buffer__new(bpf_map__fd(map), PAGES, on_perf, NULL, NULL, &options);
	if (!reader.ring && !reader.perf)
		die("open the buffer");
	reader.rate_count = !ring && batch == 1 ? RATE_COUNT_PERF : RATE_COUNT;
	reader.name = ring ? batch == 1 ? "ring" : "ring batched" : batch == 1 ? "perf" : "perf batched";
	if (wake_at)
		snprintf(name, sizeof(name), "ring at %d KiB", wake_at >> 10);
	if (wake_at)
		reader.name = name;
	return reader;
}

static void close_reader(struct reader *reader)
{
	ring_buffer__free(reader->ring);
	perf_buffer__free(reader->perf);
	bpf_object__close(reader->object);
}

/* Reads until all that was fired is read or lost. Returns how many were lost. */
static unsigned long long read_fired(const struct reader *reader, const char *fire, const char *count, const char *interval)
{
	unsigned long long lost = reader->counts->lost;
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	char id[16];
	int status, taken;
	pid_t child;

	if (bpf_prog_get_info_by_fd(bpf_program__fd(reader->program), &info, &size))
		die("id of the program");
	snprintf(id, sizeof(id), "%u", info.id);
	seen.count = 0;
	child = vfork();
	if (child < 0)
		die("vfork");
	if (!child) {
		execl(fire, fire, id, count, interval, NULL);
		_exit(127);
	}
	do {
		taken = reader->ring ? ring_buffer__poll(reader->ring, WAIT_MS) : perf_buffer__poll(reader->perf, WAIT_MS);
		if (taken < 0)
			die("poll");
		if (taken)
			seen.last = now_ns();
	} while (taken || waitpid(child, &status, WNOHANG) != child);
	if (status)
		die("%s ended with status %d", fire, status);
	/* What was less than a batch woke nobody. */
	if (reader->ring)
		ring_buffer__consume(reader->ring);
	else
		perf_buffer__consume(reader->perf);
	return reader->counts->lost - lost;
}

/* A reader of real-time priority waits for records, and not for other work of the machine. Not all may have it. */
static void schedule(int policy)
{
	struct sched_param param = { .sched_priority = policy == SCHED_FIFO };

	if (sched_setscheduler(0, policy, &param))
		fputs("latencies include other work of the machine: no real-time priority for the reader\n", stderr);
}

static double cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1e9 + used.tv_nsec;
}

/* Polls while no record comes. Returns the time of CPUs that this process took, in percent of the time. */
static double idle(const struct reader *reader)
{
	unsigned long long start = now_ns();
	double used = cpu_ns();

	while (now_ns() - start < IDLE_NS)
		if ((reader->ring ? ring_buffer__poll(reader->ring, WAIT_MS) : perf_buffer__poll(reader->perf, WAIT_MS)) < 0)
			die("poll");
	return 100 * (cpu_ns() - used) / (now_ns() - start);
}

static int ascending(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return (difference > 0) - (difference < 0);
}

static double percentile(double of_100)
{
	return seen.us[(long)(of_100 / 100 * (seen.count - 1))];
}

static void measure(struct reader *reader, const char *fire, int shots)
{
	static const double percents[] = { 50, 99, 99.9 };
	double *rates = calloc(shots, sizeof(double)), *losses = calloc(shots, sizeof(double));
	double *idles = calloc(shots, sizeof(double)), *latencies[3] = { 0 };
	char count[16], size[32];

	for (int i = 0; i < 3; i++)
		latencies[i] = calloc(shots, sizeof(double));
	/* Shot -1 warms up. */
	for (int shot = -1; shot < shots; shot++) {
		unsigned long long lost;

		handler = count_record;
		snprintf(count, sizeof(count), "%d", reader->rate_count);
		lost = read_fired(reader, fire, count, "0");
		if ((long)(seen.count + lost) != reader->rate_count)
			die("%s: %ld records read and %llu lost of %s", reader->name, seen.count, lost, count);
		if (seen.latest < seen.first)
			die("%s: the records were not read in their order", reader->name);
		if (shot >= 0) {
			rates[shot] = (double)(seen.last - seen.first) / seen.count;
			losses[shot] = 100.0 * lost / reader->rate_count;
		}
		handler = time_record;
		snprintf(count, sizeof(count), "%d", LATENCY_COUNT);
		schedule(SCHED_FIFO);
		lost = read_fired(reader, fire, count, LATENCY_INTERVAL);
		schedule(SCHED_OTHER);
		if (lost)
			die("%s: %llu records lost at a slow pace", reader->name, lost);
		if (shot >= 0)
			idles[shot] = idle(reader);
		qsort(seen.us, seen.count, sizeof(double), ascending);
		for (int i = 0; i < 3 && shot >= 0; i++)
			latencies[i][shot] = percentile(percents[i]);
	}
	report_in("ns", libbpf(), "recordAtFullRate", reader->name, rates, shots);
	report_in("%", libbpf(), "lostAtFullRate", reader->name, losses, shots);
	report_in("%", libbpf(), "idleCpu", reader->name, idles, shots);
	for (int i = 0; i < 3; i++) {
		snprintf(size, sizeof(size), "%s p%g", reader->name, percents[i]);
		report_in("us", libbpf(), "recordLatency", size, latencies[i], shots);
		free(latencies[i]);
	}
	free(rates);
	free(losses);
	free(idles);
}

int main(int argc, char **argv)
{
	static const int wake_at[] = { 4 << 10, 64 << 10, 256 << 10 };
	int shots;

	if (argc != 4 || (shots = atoi(argv[3])) < 1) {
		fputs("usage: records OBJECT FIRE SHOTS\n", stderr);
		return 2;
	}
	for (int way = 0; way < 7; way++) {
		struct reader reader = way < 4 ? open_reader(argv[1], way < 2, way % 2 ? BATCH : 1, 0) :
						 open_reader(argv[1], true, 1, wake_at[way - 4]);

		measure(&reader, argv[2], shots);
		close_reader(&reader);
	}
	return 0;
}
