// branches N: calls leaf N times, each time by another path of 16 calls of even and odd.
// branches N D: N times by the same path of D calls.
#include <stdlib.h>

#define SEPARATE __attribute__((noipa))

// Does something, or the probe would be at a return: where QEMU emulates s390x, a uprobe at a branch ends the program.
SEPARATE void leaf(void) {
    volatile long here = 1;

    (void)here;
}

SEPARATE void odd(long path, long calls);

SEPARATE void even(long path, long calls) {
    if (calls == 0) {
        leaf();
    } else if (path & 1) {
        odd(path >> 1, calls - 1);
    } else {
        even(path >> 1, calls - 1);
    }
    asm volatile("");
}

SEPARATE void odd(long path, long calls) {
    even(path, calls);
    asm volatile("");
}

int main(int argc, char **argv) {
    for (long i = 0; i < atol(argv[1]); i++) {
        if (argc > 2) {
            even(0, atol(argv[2]));
        } else {
            even(i, 16);
        }
    }
    return 0;
}
