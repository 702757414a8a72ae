// nested D N: calls nested(D), which calls itself until 0, so that D + 1 calls are nested. When 10 calls are left, N threads
// run one after the other, which call nested(0) once each.
// nested D N end: the same, but these threads end inside of their call, and N of them have different numbers: the kernel
// gives the number of a thread that has ended to another one.
// Prints how many calls there were, and how many were nested in the first thread.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long others, calls, depth, deepest;
static int end_in_call;
static _Thread_local int is_other;

// PID_MAX_LIMIT of include/linux/threads.h in the kernel.
static char seen[1 << 22];
static int is_new;

long nested(long n);

static void *other(void *unused) {
    long number = syscall(SYS_gettid);

    is_other = 1;
    is_new = !seen[number];
    seen[number] = 1;
    nested(0);
    return unused;
}

static void run_others(void) {
    for (long i = 0; i < others; i += !end_in_call || is_new) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, other, NULL) || pthread_join(thread, NULL)) {
            exit(1);
        }
    }
}

__attribute__((noipa)) long nested(long n) {
    long result = 0;

    calls++;
    if (is_other) {
        if (end_in_call) {
            syscall(SYS_exit, 0);
        }
        return 0;
    }
    depth++;
    deepest = depth > deepest ? depth : deepest;
    if (n == 10) {
        run_others();
    }
    if (n > 0) {
        result = nested(n - 1) + 1;
    }
    depth--;
    return result;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        return 2;
    }
    others = atol(argv[2]);
    end_in_call = argc > 3;
    nested(atol(argv[1]));
    printf("%ld %ld\n", calls, deepest);
    return 0;
}
