// Functions of which one has no frame of its own, because it calls nothing: -fno-omit-frame-pointer with
// -momit-leaf-frame-pointer, which is how gcc compiles for x86-64 anyway. app:leaf fires in it, app:framed in its caller.
#include <sys/sdt.h>

#define NOINLINE __attribute__((noipa))

NOINLINE long leaf(long n) {
    DTRACE_PROBE1(app, leaf, n);
    return n * 3;
}

NOINLINE long caller(long n) {
    long r = leaf(n);
    DTRACE_PROBE1(app, framed, r);
    return r + 1;
}

NOINLINE long outer(long n) {
    long r = caller(n);
    return r + 1;
}

int main(void) {
    long sum = 0;
    for (long n = 0; n < 5; n++) sum += outer(n);
    return sum == 0;
}
