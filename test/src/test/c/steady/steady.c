// Fires steady:beat every millisecond until its standard input ends, and answers each line there with the value of the
// probe's semaphore. With a number as argument it fires as often, at once, and ends. Plain C, so that it can be
// compiled against any libc, as a program that is static or is not.
#define _SDT_HAS_SEMAPHORES 1
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

unsigned short steady_beat_semaphore __attribute__((section(".probes")));

static volatile unsigned short *const semaphore = &steady_beat_semaphore;

__attribute__((noinline)) static void beat(long number) { STAP_PROBE1(steady, beat, number); }

int main(int argc, char **argv) {
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    char line[16];

    if (argc == 2) {
        long last = strtol(argv[1], NULL, 10);
        for (long number = 1; number <= last; number++)
            beat(number);
        return 0;
    }
    printf("ready %d\n", getpid());
    fflush(stdout);
    for (long number = 1;; number++) {
        if (poll(&input, 1, 1) == 0) {
            beat(number);
            continue;
        }
        if (!fgets(line, sizeof line, stdin))
            return 0;
        printf("%u\n", *semaphore);
        fflush(stdout);
    }
}
