// leaps L R: stays in outer(), which calls inner() L times and is entered again by longjmp each time, then R times more, from
// which inner() returns.
// leaps L R tail: calls one of two functions that end by a jump to the other, L + R + 2 in a row.
// leaps L R deep: calls itself L times, leaves all of that by longjmp, then calls inner() R times from outer(), which returns.
// Prints how many calls there were, and how many of them had a return.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf start;
static long leaps, calls, returns;

__attribute__((noipa)) long inner(long n) {
    calls++;
    if (n < leaps) {
        longjmp(start, 1);
    }
    returns++;
    return n;
}

// From two places, because each has another return address.
__attribute__((noipa)) long outer(long n) {
    volatile long i;

    calls++;
    for (i = 0; i < n; i++) {
        if (!setjmp(start)) {
            if (i % 2) {
                inner(i);
                __asm__ volatile("" : : "i"(1));
            } else {
                inner(i);
                __asm__ volatile("" : : "i"(2));
            }
        }
    }
    returns++;
    return n;
}

__attribute__((noipa)) long second(long n);

__attribute__((noipa)) long first(long n) {
    calls++;
    returns++;
    return n ? second(n - 1) : 0;
}

__attribute__((noipa)) long second(long n) {
    calls++;
    returns++;
    return n ? first(n - 1) : 0;
}

__attribute__((noipa)) long deep(long n) {
    long result = 0;

    calls++;
    if (!n) {
        longjmp(start, 1);
    }
    if (n > 0) {
        result = deep(n - 1);
    }
    __asm__ volatile("" : "+r"(result));
    return result;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        return 2;
    }
    long left = atol(argv[1]), returning = atol(argv[2]);

    if (argc > 3 && !strcmp(argv[3], "tail")) {
        first(left + returning + 1);
    } else if (argc > 3) {
        if (!setjmp(start)) {
            deep(left - 1);
        }
        outer(returning);
    } else {
        leaps = left;
        outer(left + returning);
    }
    printf("%ld %ld\n", calls, returns);
    return 0;
}
