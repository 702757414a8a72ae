// Calls a chain of functions, of which the innermost is probed: outermost, middle_one, a static one, probed. The command
// is how often. Whether stacks can be walked depends on the flags: -fno-omit-frame-pointer, -fomit-frame-pointer.
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

int main(void) {
    char line[64];
    long sum = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready %d\n", getpid());
    while (fgets(line, sizeof line, stdin)) {
        for (long i = strtol(line, NULL, 10); i > 0; i--) {
            sum += outermost(i);
        }
        printf("ok %ld\n", sum);
    }
    return 0;
}
