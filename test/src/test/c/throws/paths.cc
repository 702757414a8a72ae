// Throws as many exceptions as the first argument says, by three ways in turn: a member function, a virtual one that is
// called by it, and a function that calls itself one to three times.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define NOINLINE __attribute__((noinline, noclone))

namespace shop {
struct Order {
    virtual ~Order() = default;

    NOINLINE virtual void check(long n) {
        if (n % 3 == 1) {
            throw std::runtime_error("refused");
        }
    }

    NOINLINE void pay(long n) {
        check(n);
        if (n % 3 == 0) {
            throw n;
        }
        paid++;
    }

    long paid = 0;
};

NOINLINE void restore(long n, int depth) {
    if (depth == 0) {
        throw n;
    }
    restore(n, depth - 1);
    asm volatile("" ::: "memory"); // not a jump to itself
}
}

int main(int, char **argv) {
    shop::Order order;
    long thrown = 0;
    for (long n = atol(argv[1]); n > 0; n--) {
        try {
            order.pay(n);
            shop::restore(n, n % 9 / 3);
        } catch (...) {
            thrown++;
        }
    }
    printf("%ld\n", thrown);
    return 0;
}
