// Fires a probe and calls a function a known number of times, in processes that share their memory with others.
//   fire N   N times in this process
//   all      83 times: in this process, and in a child by each of fork, vfork, posix_spawn, and clone with CLONE_VM
//   outlive  24 times: 14 of them in a child with the memory of this process, half of them after this process has ended
//   outlive MARK   the same; the child ends when the file MARK is gone
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *const fire_11[] = {"shared", "fire", "11", NULL};
static _Alignas(16) char stack[1 << 16];
static volatile int fired, done;
static const char *mark;

__attribute__((noipa)) void called(void) {
    volatile int here = 1;
    (void)here;
}

static void fire(long n) {
    for (long i = 0; i < n; i++) {
        DTRACE_PROBE1(shared, program, i);
        called();
    }
}

static void await(volatile int *what) {
    while (!*what) {
        usleep(1000);
    }
}

static int becomes(void *unused) {
    (void)unused;
    fire(7);
    execv("/proc/self/exe", fire_11);
    _exit(1);
}

static int remains(void *unused) {
    (void)unused;
    fire(7);
    fired = 1;
    await(&done);
    fire(7);
    _exit(0);
}

static int outlives(void *parent) {
    fire(7);
    fired = 1;
    while (getppid() == *(pid_t *)parent) {
        usleep(1000);
    }
    fire(7);
    while (mark && !access(mark, F_OK)) {
        usleep(1000);
    }
    _exit(0);
}

static void all(void) {
    pid_t child = fork();

    if (!child) {
        fire(7);
        _exit(0);
    }
    waitpid(child, NULL, 0);

    child = vfork();
    if (!child) {
        becomes(NULL);
    }
    waitpid(child, NULL, 0);

    child = clone(becomes, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    waitpid(child, NULL, 0);

    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, fire_11, environ)) {
        exit(1);
    }
    waitpid(child, NULL, 0);

    child = clone(remains, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
    await(&fired);
    fire(5);
    done = 1;
    waitpid(child, NULL, 0);
    fire(5);
}

int main(int argc, char **argv) {
    static pid_t self;

    if (argc == 3 && !strcmp(argv[1], "fire")) {
        fire(atol(argv[2]));
    } else if (argc == 2 && !strcmp(argv[1], "all")) {
        fire(5);
        all();
    } else if (argc > 1 && !strcmp(argv[1], "outlive")) {
        mark = argv[2];
        self = getpid();
        fire(5);
        clone(outlives, stack + sizeof stack, CLONE_VM | SIGCHLD, &self);
        await(&fired);
        fire(5);
    }
    return 0;
}
