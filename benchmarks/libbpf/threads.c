// SPDX-License-Identifier: Apache-2.0
/*
 * What it costs libbpf if many threads attach at once, each by an object of its own: libbpf's objects are not for several
 * threads.
 *
 *     threads OBJECTS TARGET THREADS ROUNDS
 *
 * OBJECTS is the folder of the tests' objects; TARGET is made of sites.S. Prints a line, fields separated by tabs: way,
 * work, size (empty), the unit ms, and the time until the last thread has attached, of each round.
 */
#include <pthread.h>

#include "harness.h"

struct thread {
	pthread_t id;
	struct bpf_object *object;
	struct bpf_link *link;
};

static const char *target;
/* All threads wait for it thrice in a round: when they are ready, to begin, and when they have attached. */
static pthread_barrier_t barrier;
static int rounds;

static void *attach(void *context)
{
	struct thread *thread = context;
	struct bpf_program *program = bpf_object__next_program(thread->object, NULL);

	for (int round = -1; round < rounds; round++) {
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		thread->link = bpf_program__attach_usdt(program, -1, target, "bench", "site", NULL);
		if (!thread->link)
			die("attach to %s", target);
		pthread_barrier_wait(&barrier);
		bpf_link__destroy(thread->link);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct thread *threads;
	double *times;
	char work[32];
	int count;

	if (argc != 5 || (count = atoi(argv[3])) < 1 || (rounds = atoi(argv[4])) < 1) {
		fputs("usage: threads OBJECTS TARGET THREADS ROUNDS\n", stderr);
		return 2;
	}
	target = argv[2];
	threads = calloc(count, sizeof(*threads));
	times = calloc(rounds, sizeof(double));
	pthread_barrier_init(&barrier, NULL, count + 1);
	for (int i = 0; i < count; i++) {
		threads[i].object = open_usdt_object(argv[1]);
		if (bpf_object__load(threads[i].object))
			die("load the object");
		if ((errno = pthread_create(&threads[i].id, NULL, attach, &threads[i])))
			die("make a thread");
	}
	for (int round = -1; round < rounds; round++) {
		double start;

		pthread_barrier_wait(&barrier);
		/* Before they begin: they may be done before this thread gets a CPU again. */
		start = now_ms();
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		if (round >= 0)
			times[round] = now_ms() - start;
	}
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i].id, NULL);
		bpf_object__close(threads[i].object);
	}
	snprintf(work, sizeof(work), "attach%dThreads", count);
	report(libbpf(), work, "", times, rounds);
	free(threads);
	free(times);
	return 0;
}
