// A library with a probe, loaded while the program runs.
#include <sys/sdt.h>

void fire_from_library(long n) {
    DTRACE_PROBE1(later, library, n);
}
