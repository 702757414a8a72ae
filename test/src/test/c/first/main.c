// Fires a probe a known number of times at once, at moments when a tracer may come late: the first instructions after
// fork, exec and dlopen. Every way but "stops" and "blocked" ends as soon as it has fired.
//   fire N            N events
//   fork C N          C children, N events in each; they are forked without waiting
//   vfork N           a child by vfork, which becomes "fire N"
//   exec D N          becomes itself D times, then fires
//   thread-exec D N   the same, each time from another thread than the first
//   dlopen FILE       loads a library, whose constructor fires
//   late FILE         waits for a line of standard input, then loads the library
//   blocked FILE MARK loads it in a thread that blocks all signals, and ends when the file MARK is gone
//   stops N           stops itself by SIGSTOP, and fires when somebody continues it
//   parent CMD...     runs a command as a shell with job control does, and says if it is told of a stop: exits with 99
//   restarts CMD...   runs a command that stops itself: continues it once it is told of its stop
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>

static char **arguments;

static void fire(long n) {
    for (long i = 0; i < n; i++) {
        DTRACE_PROBE1(first, program, i);
    }
}

static void load(const char *path) {
    if (!dlopen(path, RTLD_NOW)) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
}

static void forks(int children, long n) {
    for (int i = 0; i < children; i++) {
        if (fork() == 0) {
            fire(n);
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
}

static void become(const char *how, int depth, const char *n) {
    char left[16];
    snprintf(left, sizeof left, "%d", depth - 1);
    if (depth == 0) {
        execl("/proc/self/exe", "first", "fire", n, NULL);
    } else {
        execl("/proc/self/exe", "first", how, left, n, NULL);
    }
    perror("exec");
    exit(1);
}

static void *become_in_thread(void *unused) {
    (void)unused;
    become("thread-exec", atoi(arguments[2]), arguments[3]);
    return NULL;
}

static void *load_in_thread(void *unused) {
    sigset_t all;
    (void)unused;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    load(arguments[2]);
    return NULL;
}

static void in_thread(void *(*work)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
}

// Waits as a shell does that has to know when its job was stopped.
static int run(char **command, int restarts) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
        fprintf(stderr, "stopped by %d\n", WSTOPSIG(status));
        if (!restarts--) {
            kill(child, SIGKILL);
            return 99;
        }
        kill(child, SIGCONT);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

int main(int argc, char **argv) {
    const char *how = argc > 2 ? argv[1] : "";
    arguments = argv;
    if (!strcmp(how, "fire")) {
        fire(atol(argv[2]));
    } else if (!strcmp(how, "fork")) {
        forks(atoi(argv[2]), atol(argv[3]));
    } else if (!strcmp(how, "vfork")) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/proc/self/exe", "first", "fire", argv[2], NULL);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    } else if (!strcmp(how, "exec")) {
        become(how, atoi(argv[2]), argv[3]);
    } else if (!strcmp(how, "thread-exec")) {
        in_thread(become_in_thread);
    } else if (!strcmp(how, "dlopen")) {
        load(argv[2]);
    } else if (!strcmp(how, "late")) {
        getchar();
        load(argv[2]);
    } else if (!strcmp(how, "blocked")) {
        in_thread(load_in_thread);
        while (!access(argv[3], F_OK)) {
            usleep(1000); // a tracer that was not told of the library looks for it now and then
        }
    } else if (!strcmp(how, "stops")) {
        raise(SIGSTOP);
        fire(atol(argv[2]));
    } else if (!strcmp(how, "parent")) {
        return run(argv + 2, 0);
    } else if (!strcmp(how, "restarts")) {
        return run(argv + 2, 1);
    } else {
        return 2;
    }
    return 0;
}
