// Fires probes whose answers are known, as often as it is told, and ends.
//   values N      N times asked:value(int i, const char *colour, unsigned long size, long signed_value): i counts from 0,
//                 the colours take turns (red, green, blue), size is 1 << (i % 40), the last is i - N / 2
//   pairs N US    N times asked:begin(int id) and asked:end(int id, const char *what), with at least US microseconds between;
//                 one begin more has no end, and one end more has no begin
//   crossed N     N pairs whose ends come in reverse order, in another thread
//   threads T N   T threads, N times asked:value each
//   fast T N      T threads, N times asked:fast(long i, long i * 1000003, int thread) each, from 0 and without a pause
//   later T N     the same, once a line comes on standard input
//   tree N        N times from top by middle to leaf, which fires asked:leaf
//   bare          asked:value once with an address that can't be read
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <unistd.h>

static const char *const colours[] = {"red", "green", "blue"};

static void values(long n) {
    for (long i = 0; i < n; i++) {
        DTRACE_PROBE4(asked, value, (int)i, colours[i % 3], 1UL << (i % 40), i - n / 2);
    }
}

static void pairs(long n, useconds_t pause) {
    for (long i = 0; i < n; i++) {
        DTRACE_PROBE1(asked, begin, (int)i);
        usleep(pause);
        DTRACE_PROBE2(asked, end, (int)i, colours[i % 3]);
    }
    DTRACE_PROBE2(asked, end, -1, "none");
    DTRACE_PROBE1(asked, begin, (int)n);
}

static void *ends(void *count) {
    for (long i = *(long *)count; i-- > 0;) {
        DTRACE_PROBE2(asked, end, (int)i, "crossed");
    }
    return NULL;
}

static void crossed(long n) {
    pthread_t thread;

    for (long i = 0; i < n; i++) {
        DTRACE_PROBE1(asked, begin, (int)i);
    }
    if (pthread_create(&thread, NULL, ends, &n) == 0) {
        pthread_join(thread, NULL);
    }
}

static void *value_thread(void *count) {
    values(*(long *)count);
    return NULL;
}

static void threads(int t, long n) {
    pthread_t all[64];

    for (int i = 0; i < t; i++) {
        pthread_create(&all[i], NULL, value_thread, &n);
    }
    for (int i = 0; i < t; i++) {
        pthread_join(all[i], NULL);
    }
}

struct fast {
    int thread;
    long count;
};

static void *fast_thread(void *arguments) {
    const struct fast *fast = arguments;

    for (long i = 0; i < fast->count; i++) {
        DTRACE_PROBE3(asked, fast, i, i * 1000003, fast->thread);
    }
    return NULL;
}

static void fast(int t, long n) {
    pthread_t all[64];
    struct fast what[64];

    for (int i = 0; i < t; i++) {
        what[i] = (struct fast){.thread = i, .count = n};
        pthread_create(&all[i], NULL, fast_thread, &what[i]);
    }
    for (int i = 0; i < t; i++) {
        pthread_join(all[i], NULL);
    }
}

// gcc makes no frame for a function that calls nothing and has nothing on the stack, not even if it is told to.
__attribute__((noinline)) void leaf(long i) {
    volatile long kept = i;

    DTRACE_PROBE1(asked, leaf, kept);
    asm volatile("" ::: "memory");
}

__attribute__((noinline)) void middle(long i) {
    leaf(i);
    asm volatile("" ::: "memory");
}

__attribute__((noinline)) void top(long i) {
    middle(i);
    asm volatile("" ::: "memory");
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    long first = argc > 2 ? atol(argv[2]) : 0;
    long second = argc > 3 ? atol(argv[3]) : 0;

    if (!strcmp(what, "values")) {
        values(first);
    } else if (!strcmp(what, "pairs")) {
        pairs(first, (useconds_t)second);
    } else if (!strcmp(what, "crossed")) {
        crossed(first);
    } else if (!strcmp(what, "threads")) {
        threads((int)first, second);
    } else if (!strcmp(what, "fast")) {
        fast((int)first, second);
    } else if (!strcmp(what, "later")) {
        getchar();
        fast((int)first, second);
    } else if (!strcmp(what, "tree")) {
        for (long i = 0; i < first; i++) {
            top(i);
        }
    } else if (!strcmp(what, "bare")) {
        DTRACE_PROBE4(asked, value, 1, (const char *)8, 1UL, 1L);
    } else {
        fprintf(stderr, "usage: asked values|pairs|crossed|threads|fast|later|tree|bare …\n");
        return 2;
    }
    return 0;
}
