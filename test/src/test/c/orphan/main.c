/*
 * A process that ends before its child has first run, as it happens on a busy machine. After a byte on standard input it
 * forks and ends at once. Its child calls called() twice, half a second apart.
 *
 * Another process, which is not in this tree, keeps the CPU from the child for 300 ms. All three run on one CPU, by their
 * priorities: the parent before the other process, and the child, which has no real-time priority, after it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noipa)) void called(void) {
    volatile int here = 1;
    (void)here;
}

static void run_by(int policy, int priority) {
    struct sched_param parameter = {.sched_priority = priority};
    cpu_set_t allowed, first;
    int cpu = 0;
    CPU_ZERO(&allowed);
    CPU_ZERO(&first);
    int failed = sched_getaffinity(0, sizeof allowed, &allowed);
    while (!failed && cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &allowed)) {
        cpu++;
    }
    CPU_SET(cpu, &first);
    if (failed || sched_setaffinity(0, sizeof first, &first) || sched_setscheduler(0, policy, &parameter)) {
        perror("real-time priority");
        exit(1);
    }
}

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void keep_cpu(int from) {
    char byte;
    run_by(SCHED_FIFO, 10);
    if (read(from, &byte, 1) == 1) {
        for (long end = milliseconds() + 300; milliseconds() < end;) {}
    }
    exit(0);
}

int main(void) {
    int ends[2];
    if (pipe(ends))
        return 1;
    if (!fork()) {
        if (!fork()) {
            close(ends[1]);
            keep_cpu(ends[0]);
        }
        exit(0);
    }
    wait(0);
    if (getchar() != '\n')
        return 1;
    run_by(SCHED_FIFO | SCHED_RESET_ON_FORK, 20);
    if (write(ends[1], "\n", 1) != 1 || fork())
        return 0;
    called();
    usleep(500000);
    called();
    return 0;
}
