// A command of which one descendant is another user's and forks all the time, while the command itself does its work.
//   storm CALLS FORKS FILE
// It starts CALLS children, one after the other; each executes this program anew, and fires storm:call once. Meanwhile
// four chains of processes run as user 65534: each process fires storm:link, forks the next one and ends, so that none
// of them is there for long. The chains end with the work, and after FORKS forks at the latest, also if nobody is left
// to end them. The file gets the number of times that storm:link fired, when all of them have ended.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER 65534
#define CHAINS 4

struct shared {
    atomic_long forks;
    atomic_long links;
    atomic_int ended;
};

static void die(const char *what) {
    perror(what);
    _exit(1);
}

static void chain(struct shared *shared, long most) {
    if (setresgid(USER, USER, USER) || setresuid(USER, USER, USER)) die("setresuid");
    while (!shared->ended && shared->forks++ < most) {
        shared->links++;
        DTRACE_PROBE(storm, link);
        int next = fork();
        if (next < 0) die("fork");
        if (next > 0) _exit(0);
    }
    _exit(0);
}

int main(int count, char **args) {
    if (count == 2) {
        DTRACE_PROBE(storm, call);
        return 0;
    }
    if (count != 4) return 2;
    long calls = atol(args[1]);
    long most = atol(args[2]);
    struct shared *shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) die("mmap");
    // So that all of them can be waited for.
    if (prctl(PR_SET_CHILD_SUBREAPER, 1)) die("prctl");
    for (int i = 0; i < CHAINS; i++) {
        int first = fork();
        if (first < 0) die("fork");
        if (!first) chain(shared, most);
        if (waitpid(first, 0, 0) != first) die("waitpid");
    }
    for (long i = 0; i < calls; i++) {
        int status;
        int child = fork();
        if (child < 0) die("fork");
        if (!child) {
            execl("/proc/self/exe", "call", "once", NULL);
            die("execl");
        }
        if (waitpid(child, &status, 0) != child || status) die("call");
    }
    shared->ended = 1;
    while (wait(0) > 0) continue;
    FILE *file = fopen(args[3], "w");
    if (!file || fprintf(file, "%ld\n", shared->links) < 0 || fclose(file)) die(args[3]);
    return 0;
}
