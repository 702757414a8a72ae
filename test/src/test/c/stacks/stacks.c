// Calls a chain of functions, of which the innermost is probed: outermost, middle_one, a static one, probed. How often is
// a command on standard input each time, or the only argument. Whether stacks can be walked depends on the flags: -fno-omit-frame-pointer, -fomit-frame-pointer.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SEPARATE __attribute__((noinline, noclone))

SEPARATE long probed(long n) {
    __asm__ volatile("" : "+r"(n) : : "memory");
    return n + 1;
}

SEPARATE static long inner_static(long n) {
    long result = probed(n);
    __asm__ volatile("" : "+r"(result) : : "memory"); // no tail call
    return result * 2;
}

SEPARATE long middle_one(long n) {
    long result = inner_static(n);
    __asm__ volatile("" : "+r"(result) : : "memory");
    return result * 3;
}

SEPARATE long outermost(long n) {
    long result = middle_one(n);
    __asm__ volatile("" : "+r"(result) : : "memory");
    return result * 5;
}

static long call(long times) {
    long sum = 0;

    for (long i = times; i > 0; i--) {
        sum += outermost(i);
    }
    return sum;
}

int main(int argc, char **argv) {
    char line[64];

    if (argc > 1) {
        return call(strtol(argv[1], NULL, 10)) == 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready %d\n", getpid());
    while (fgets(line, sizeof line, stdin)) {
        printf("ok %ld\n", call(strtol(line, NULL, 10)));
    }
    return 0;
}
