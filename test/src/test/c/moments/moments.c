// Probes that have one address. leaf() begins with the site of shop:leaf and is also called other(); shop:first and
// shop:second have one site. Both functions end at once, so that a begin and an end at one address are the same call.
//
//   moments CALLS           calls both functions, and prints how often
//   moments wait            does so for each number that it reads
//   moments load LIBRARY    loads this program as a library, calls its functions ten times, and prints how often
//   moments load LIBRARY thread    does so while another thread waits
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <unistd.h>

#define NOTE(provider, name)                                                                                           \
    ".pushsection .note.stapsdt,\"\",\"note\"\n"                                                                       \
    ".balign 4\n"                                                                                                      \
    ".4byte 992f-991f, 994f-993f, 3\n"                                                                                 \
    "991: .asciz \"stapsdt\"\n"                                                                                        \
    "992: .balign 4\n"                                                                                                 \
    "993: .8byte 990b, _.stapsdt.base, 0\n"                                                                            \
    ".asciz \"" provider "\"\n"                                                                                        \
    ".asciz \"" name "\"\n"                                                                                            \
    ".asciz \"\"\n"                                                                                                    \
    "994: .balign 4\n"                                                                                                 \
    ".popsection\n"

void leaf(long number);
void other(long number) __attribute__((alias("leaf")));
void twice(void);

__attribute__((noinline)) void leaf(long number) {
    DTRACE_PROBE1(shop, leaf, number);
}

__attribute__((noinline)) void twice(void) {
    asm volatile("990: nop\n" NOTE("shop", "first") NOTE("shop", "second"));
}

static void call(long calls) {
    for (long i = 0; i < calls; i++) {
        leaf(i);
        twice();
    }
    printf("%ld\n", calls);
    fflush(stdout);
}

static int load(const char *library) {
    void *loaded = dlopen(library, RTLD_NOW);
    void (*leaf_of)(long) = loaded ? (void (*)(long))dlsym(loaded, "leaf") : NULL;
    void (*twice_of)(void) = loaded ? (void (*)(void))dlsym(loaded, "twice") : NULL;

    if (!leaf_of || !twice_of) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    for (long i = 0; i < 10; i++) {
        leaf_of(i);
        twice_of();
    }
    printf("10\n");
    return 0;
}

static void *waits(void *unused) {
    pause();
    return unused;
}

int main(int argc, char **argv) {
    char line[64];
    pthread_t thread;

    if (argc == 4 && pthread_create(&thread, NULL, waits, NULL))
        return 1;
    if (argc >= 3 && !strcmp(argv[1], "load"))
        return load(argv[2]);
    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "wait")) {
        call(atol(argv[1]));
        return 0;
    }
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin))
        call(atol(line));
    return 0;
}
