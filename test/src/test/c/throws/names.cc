// Throws as many exceptions as it is told, of types whose encoded names begin alike, and catches them all.
#include <cstdlib>
#include <cstring>
#include <typeinfo>

namespace shop {
template <typename... Parts> struct Failed {};
struct TheOrderOfACustomerWhoWaits {};
struct Paid {};
struct Sent {};

using Order = Failed<TheOrderOfACustomerWhoWaits, Failed<TheOrderOfACustomerWhoWaits, Failed<int, long, char, short>>>;

// Two that differ after 80 bytes or so, and two after 170.
template <typename Last> using Near = Failed<Order, Last>;
template <typename Last>
using Far = Failed<Order, Failed<int[1], int[2], int[3], int[4], int[5], int[6], int[7], int[8], int[9]>,
                   Failed<long[1], long[2], long[3], long[4], long[5], long[6], long[7], long[8], long[9]>, Last>;
}

static void fail(long i) {
    switch (i % 4) {
    case 0:
        throw shop::Near<shop::Paid>();
    case 1:
        throw shop::Near<shop::Sent>();
    case 2:
        throw shop::Far<shop::Paid>();
    default:
        throw shop::Far<shop::Sent>();
    }
}

int main(int argc, char **argv) {
    long n = argc > 1 ? std::atol(argv[1]) : 0;
    long caught = 0;

    // A name that nobody has read may not be in memory. The compiler knows the names, but not these pointers.
    const std::type_info *volatile types[] = {&typeid(shop::Near<shop::Paid>), &typeid(shop::Near<shop::Sent>),
                                              &typeid(shop::Far<shop::Paid>), &typeid(shop::Far<shop::Sent>)};
    for (const std::type_info *type : types)
        if (std::strlen(type->name()) == 0)
            return 2;
    for (long i = 0; i < n; i++) {
        try {
            fail(i);
        } catch (...) {
            caught++;
        }
    }
    return caught == n ? 0 : 1;
}
