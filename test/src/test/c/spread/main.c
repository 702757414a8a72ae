// Fires a probe with values of all sizes, and prints each value.
//   values N      N times spread:value(unsigned long value, long the same number signed): first the numbers beside each
//                 power of two, then random ones of all sizes; prints each as an unsigned number
//   results N     N times result(i), an int: i, or -i for each third; prints each
//   unsigned N    N times large(i), an unsigned long of which the upper half has a 1; prints nothing
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>

static void value(unsigned long value) {
    DTRACE_PROBE2(spread, value, value, (long)value);
    printf("%lu\n", value);
}

static void values(long n) {
    unsigned long state = 88172645463325252UL;

    for (int power = 0; power < 64; power++) {
        for (int beside = -1; beside <= 1; beside++) {
            value((1UL << power) + (unsigned long)beside);
        }
    }
    value(~0UL);
    for (long i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        value(state >> (state * 0x9e3779b97f4a7c15UL >> 58));
    }
}

__attribute__((noinline)) int result(int i) {
    asm volatile("" : "+r"(i));
    return i % 3 == 2 ? -i : i;
}

__attribute__((noinline)) unsigned long large(unsigned long i) {
    asm volatile("" : "+r"(i));
    return 1UL << 63 | i << 32 | 1;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 0;

    if (!strcmp(what, "values")) {
        values(n);
    } else if (!strcmp(what, "results")) {
        for (int i = 0; i < n; i++) {
            printf("%d\n", result(i));
        }
    } else if (!strcmp(what, "unsigned")) {
        for (long i = 0; i < n; i++) {
            large((unsigned long)i);
        }
    } else {
        fprintf(stderr, "usage: spread values|results|unsigned N\n");
        return 2;
    }
    return 0;
}
