// Brings code into being that was not there when a tracer looked first. Each command fires the probe of that code every
// few milliseconds, until standard input has another line: a tracer that looks now and then will meet it.
//   dlopen   the library of the first argument
//   memfd    the same from memory, as libstapsdt makes its probes
//   fork     a child that goes on in the same code
//   exec     a child that becomes this program anew, under the name of the second argument
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sdt.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void fire_from_program(long n) {
    DTRACE_PROBE1(later, program, n);
}

static int has_input(void) {
    struct pollfd input = {.fd = 0, .events = POLLIN};
    return poll(&input, 1, 5) != 0;
}

static void fire_until_input(void (*fire)(long)) {
    for (long n = 0; !has_input(); n++) {
        fire(n);
    }
}

static void load_and_fire(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        exit(1);
    }
    fire_until_input((void (*)(long))dlsym(library, "fire_from_library"));
}

static void load_from_memory(const char *path) {
    char name[64];
    struct stat file;
    int from = open(path, O_RDONLY);
    int memory = memfd_create("later", 0);

    if (from < 0 || memory < 0 || fstat(from, &file) || sendfile(memory, from, NULL, file.st_size) != file.st_size) {
        puts("no memfd");
        exit(1);
    }
    close(from);
    snprintf(name, sizeof name, "/proc/self/fd/%d", memory);
    load_and_fire(name);
}

int main(int argc, char **argv) {
    char line[64];

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && !strcmp(argv[1], "fire")) {
        fire_until_input(fire_from_program);
        return 0;
    }
    printf("ready %d\n", getpid());
    // Read without a buffer of stdio, which a child would inherit and poll would not see.
    for (;;) {
        ssize_t got = read(0, line, sizeof line - 1);
        if (got <= 0) {
            return 0;
        }
        line[got] = 0;
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "dlopen")) {
            load_and_fire(argv[1]);
        } else if (!strcmp(line, "memfd")) {
            load_from_memory(argv[1]);
        } else if (!strcmp(line, "fork") || !strcmp(line, "exec")) {
            pid_t child = fork();
            if (child == 0) {
                if (*line == 'e') {
                    execl(argv[2], argv[2], "fire", NULL);
                    _exit(1);
                }
                fire_until_input(fire_from_program);
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
    }
}
