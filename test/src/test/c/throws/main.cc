// Throws as many exceptions as it is told, of four types in turn, and catches them all.
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace shop {
struct SoldOut : std::runtime_error {
    using std::runtime_error::runtime_error;
};
}

static void fail(long i) {
    switch (i % 4) {
    case 0:
        throw shop::SoldOut("none is left");
    case 1:
        throw std::out_of_range("too far");
    case 2:
        throw 42;
    default:
        throw std::string("text");
    }
}

int main(int argc, char **argv) {
    long n = argc > 1 ? std::atol(argv[1]) : 0;
    long caught = 0;

    for (long i = 0; i < n; i++) {
        try {
            fail(i);
        } catch (...) {
            caught++;
        }
    }
    return caught == n ? 0 : 1;
}
