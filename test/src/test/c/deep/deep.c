// deep N D: calls deep(D) N times, which calls itself until 0, so that D + 1 calls are nested; the innermost sleeps 20 ms.
// deep jump N: calls jump N times, which leaves by longjmp; then deep(1) once.
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jmp_buf back;

__attribute__((noipa)) long deep(long n) {
    if (n == 0) {
        usleep(20000);
        return 0;
    }
    return deep(n - 1) + 1;
}

__attribute__((noipa)) void jump(void) {
    longjmp(back, 1);
}

int main(int argc, char **argv) {
    if (argc > 2 && !strcmp(argv[1], "jump")) {
        for (volatile long i = 0; i < atol(argv[2]); i++) {
            if (!setjmp(back)) {
                jump();
            }
        }
        return (int)deep(1) - 1;
    }
    for (long i = 0; i < atol(argv[1]); i++) {
        deep(atol(argv[2]));
    }
    return 0;
}
