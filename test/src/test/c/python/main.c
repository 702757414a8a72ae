// Fires the probes of functions as CPython does (Python/ceval.c): as version 3.11, or with -DVERSION=0x030a00f0 as those
// before it. Makes as many calls as it is told, of which the last tenth is made with a profile function (sys.setprofile), and waits for the
// end of its input if there is a second argument.
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>

#ifndef VERSION
#define VERSION 0x030b02f0
#endif

#if VERSION >= 0x030b0000
__attribute__((used)) const unsigned long Py_Version = VERSION;
#endif

unsigned short python_function__entry_semaphore __attribute__((section(".probes")));
unsigned short python_function__return_semaphore __attribute__((section(".probes")));
unsigned short python_line_semaphore __attribute__((section(".probes")));

static volatile unsigned short *const entry = &python_function__entry_semaphore;
static volatile unsigned short *const returned = &python_function__return_semaphore;
static volatile unsigned short *const line = &python_line_semaphore;

static void call(int profiled) {
    int traced = VERSION < 0x030b0000 || profiled || *line;

    if (traced && *entry) {
        STAP_PROBE3(python, function__entry, "app.py", "work", 1);
    }
    if (*line) {
        STAP_PROBE3(python, line, "app.py", "work", 2);
    }
    if (*returned) {
        STAP_PROBE3(python, function__return, "app.py", "work", 2);
    }
}

int main(int argc, char **argv) {
    long calls = argc > 1 ? atol(argv[1]) : 0;

    for (long i = 0; i < calls; i++) {
        call(i >= calls - calls / 10);
    }
    while (argc > 2 && getchar() != EOF) {
    }
    return 0;
}
