// crowd T N: T threads fire crowd:value(long) N times each, with values that no other event has. Each value is above all
// earlier ones of its thread, or below them. Prints how many events there were, and the smallest and the largest value.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>

#define MAX_THREADS 64

static long threads, times;
static pthread_barrier_t all_there;

struct extremes {
    long number, smallest, largest;
};

static void *fire(void *own) {
    struct extremes *extremes = own;
    long smallest = 0, largest = 0;

    pthread_barrier_wait(&all_there);
    for (long i = 0; i < times; i++) {
        long value = 1 + i * threads + extremes->number;

        if (i & 1) {
            value = -value;
        }
        DTRACE_PROBE1(crowd, value, value);
        smallest = value < smallest ? value : smallest;
        largest = value > largest ? value : largest;
    }
    extremes->smallest = smallest;
    extremes->largest = largest;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t all[MAX_THREADS];
    struct extremes extremes[MAX_THREADS];
    long smallest = 0, largest = 0;

    if (argc != 3 || atol(argv[1]) > MAX_THREADS) {
        return 2;
    }
    threads = atol(argv[1]);
    times = atol(argv[2]);
    pthread_barrier_init(&all_there, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++) {
        extremes[i].number = i;
        if (pthread_create(&all[i], NULL, fire, &extremes[i])) {
            return 1;
        }
    }
    for (long i = 0; i < threads; i++) {
        pthread_join(all[i], NULL);
        smallest = extremes[i].smallest < smallest ? extremes[i].smallest : smallest;
        largest = extremes[i].largest > largest ? extremes[i].largest : largest;
    }
    printf("%ld %ld %ld\n", threads * times, smallest, largest);
    return 0;
}
