// Processes that make it hard to look at them. Each says "ready" when it is as it will be, and goes on until it is killed.
// Until then it calls tick again and again, so that a question about this function has to name its stacks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sdt.h>
#include <sys/stat.h>
#include <unistd.h>

static void check(int failed, const char *what) {
    if (failed) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static void ready(void) {
    puts("ready");
    fflush(stdout);
}

__attribute__((noipa)) void tick(unsigned microseconds) {
    if (microseconds) usleep(microseconds);
}

static void go_on(void) {
    for (;;) tick(1000);
}

static void map(int fd, off_t offset) {
    check(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset) == MAP_FAILED, "mmap");
}

// This program, with its probe, under another name.
static void copy_to(int to) {
    char buffer[4096];
    ssize_t got;
    int from = open("/proc/self/exe", O_RDONLY);
    check(from < 0, "open of /proc/self/exe");
    while ((got = read(from, buffer, sizeof buffer)) > 0) {
        check(write(to, buffer, got) != got, "write");
    }
    close(from);
}

static int create(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);
    check(fd < 0, path);
    return fd;
}

// A file whose name is not a text, and a process whose name isn't either.
static void memfd(void) {
    int fd = memfd_create("\xff\xfe\r\033[2J", 0);
    check(fd < 0, "memfd_create");
    prctl(PR_SET_NAME, "\xff) R 1\n");
    copy_to(fd);
    map(fd, 0);
    ready();
    go_on();
}

// A file that is cut off and written again, all the time.
static void restless(const char *path) {
    int fd = create(path);
    copy_to(fd);
    map(fd, 0);
    ready();
    for (off_t size = 1;; size = (size + 977) % 16384) {
        check(ftruncate(fd, size), "ftruncate");
        check(lseek(fd, 0, SEEK_SET), "lseek");
        copy_to(fd);
        tick(0);
    }
}

static void exchange(const char *other) {
    check(renameat2(AT_FDCWD, "name", AT_FDCWD, other, RENAME_EXCHANGE), "renameat2");
}

// A name that leads to the mapped file, to a file of somebody else and to a FIFO, one after the other.
static void swap(const char *folder, const char *secret) {
    check(chdir(folder), folder);
    int fd = create("name");
    copy_to(fd);
    map(fd, 0);
    check(symlink(secret, "link") || mkfifo("fifo", 0644), "symlink");
    ready();
    for (unsigned i = 0;; i++) {
        const char *other = i % 8 == 0 ? "fifo" : "link";
        exchange(other);
        exchange(other);
        tick(0);
    }
}

// More than fits into memory: mappings, each with as long a name as there is.
static void many(const char *folder) {
    char name[201];
    check(chdir(folder), folder);
    memset(name, 'x', 200);
    name[200] = 0;
    for (int depth = 0; depth < 19; depth++) {
        check(mkdir(name, 0755) && errno != EEXIST, "mkdir");
        check(chdir(name), "chdir");
    }
    int fd = create(name);
    check(ftruncate(fd, 1 << 20), "ftruncate");
    for (int i = 0; i < 60000; i++) {
        // Never the page that follows in the file, or the kernel would make one mapping of two.
        map(fd, (i * 2 % 256) * 4096);
    }
    ready();
    go_on();
}

// More files than anybody loads.
static void files(const char *folder) {
    char name[32];
    check(chdir(folder), folder);
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "%d", i);
        int fd = create(name);
        check(ftruncate(fd, 4096), "ftruncate");
        map(fd, 0);
        close(fd);
    }
    ready();
    go_on();
}

// Thirty processes in the code of a library with very many symbols, which is touched all the time.
static void symbols(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    void (*through)(void (*)(unsigned), unsigned);
    check(!library, path);
    through = (void (*)(void (*)(unsigned), unsigned))dlsym(library, "through");
    check(!through, "through");
    for (int i = 0; i < 30; i++) {
        if (!fork()) {
            prctl(PR_SET_PDEATHSIG, 9);
            for (;;) through(tick, 5000);
        }
    }
    ready();
    for (;;) {
        check(utimensat(AT_FDCWD, path, NULL, 0), "utimensat");
        through(tick, 1000);
    }
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    DTRACE_PROBE1(hostile, alive, argc);
    prctl(PR_SET_PDEATHSIG, 9);
    if (!strcmp(mode, "memfd")) {
        memfd();
    } else if (!strcmp(mode, "restless")) {
        restless(argv[2]);
    } else if (!strcmp(mode, "swap")) {
        swap(argv[2], argv[3]);
    } else if (!strcmp(mode, "many")) {
        many(argv[2]);
    } else if (!strcmp(mode, "files")) {
        files(argv[2]);
    } else if (!strcmp(mode, "symbols")) {
        symbols(argv[2]);
    }
    ready(); // just there, under whatever name it was started
    go_on();
}
