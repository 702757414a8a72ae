// Throws as many exceptions as the first argument says, all from inner, which outer calls, which main calls.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define NOINLINE __attribute__((noinline, noclone))

extern "C" NOINLINE void inner(long n) {
    if (n % 2) {
        throw std::runtime_error("refused");
    }
    throw n;
}

extern "C" NOINLINE int outer(long n) {
    try {
        inner(n);
    } catch (...) {
        return 1;
    }
    return 0;
}

int main(int, char **argv) {
    long thrown = 0;
    for (long n = atol(argv[1]); n > 0; n--) {
        thrown += outer(n);
    }
    printf("%ld\n", thrown);
    return 0;
}
