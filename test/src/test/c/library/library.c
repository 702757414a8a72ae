// A shared library with probes, for the target program's commands `load PATH` and `library N`. Compile with -shared -fPIC.
#define _SDT_HAS_SEMAPHORES 1
#include "../target.h"
#include <sys/sdt.h>

unsigned short library_called_semaphore __attribute__((section(".probes")));
unsigned short library_watched_semaphore __attribute__((section(".probes")));

static volatile unsigned short *const called = &library_called_semaphore;
static volatile unsigned short *const watched = &library_watched_semaphore;

// library:called has two sites; library:watched fires only while somebody listens. Gives the sum of both semaphores.
int fire_library(int number) {
    if (number & 1) {
        STAP_PROBE2(library, called, number, 1);
    } else {
        STAP_PROBE2(library, called, number, 2);
    }
    if (*watched) {
        STAP_PROBE1(library, watched, (int64_t)number * 1000000000000LL);
    }
    return *called + *watched;
}

#ifdef REFUSED
// A site that the kernel refuses, since it can't execute or simulate the instruction elsewhere (arch/.../probes).
#if defined __x86_64__
#define REFUSED_INSTRUCTION "lock; incl (%%rdi)"
#define ARGUMENT "8@%%rdi"
#elif defined __aarch64__
#define REFUSED_INSTRUCTION "svc 0"
#define ARGUMENT "8@x0"
#elif defined __riscv
#define REFUSED_INSTRUCTION "fence"
#define ARGUMENT "8@a0"
#elif defined __s390x__
#define REFUSED_INSTRUCTION "epsw 0,0"
#define ARGUMENT "8@%%r2"
#else
#error "no instruction that this machine's kernel refuses"
#endif

NOINLINE void never_called(int *counter) {
    __asm__ volatile(RAW_SITE_AT(REFUSED_INSTRUCTION, "library", "refused", ARGUMENT) : : "r"(counter) : "memory");
}
#endif
