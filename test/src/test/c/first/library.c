// A library whose probe fires in its constructor, as often as the environment says.
#include <stdlib.h>
#include <sys/sdt.h>

__attribute__((constructor)) static void fire(void) {
    const char *count = getenv("FIRST_EVENTS");
    long n = count ? atol(count) : 1000;
    for (long i = 0; i < n; i++) {
        DTRACE_PROBE1(first, library, i);
    }
}
