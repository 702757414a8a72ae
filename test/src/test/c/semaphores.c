// Probes with semaphores: a 16-bit counter in section .probes that a tracer raises while it listens, so that the
// program prepares arguments only if somebody wants them.
#define _SDT_HAS_SEMAPHORES 1
#include "target.h"
#include <stdio.h>
#include <sys/sdt.h>

unsigned short target_guarded_semaphore __attribute__((section(".probes")));
unsigned short target_lonely_semaphore __attribute__((section(".probes")));

static volatile unsigned short *const guarded = &target_guarded_semaphore;
static volatile unsigned short *const lonely = &target_lonely_semaphore;

// Fires only if the semaphore is up; tells whether it was.
NOINLINE int fire_guarded(void) {
    if (*guarded) {
        STAP_PROBE2(target, guarded, 1234, *guarded);
        return 1;
    }
    return 0;
}

NOINLINE void fire_lonely(void) {
    if (*lonely) {
        STAP_PROBE(target, lonely);
    }
}

void print_semaphores(void) { printf("%u %u\n", *guarded, *lonely); }
