// The program that integration tests probe. It does nothing by itself: each line on standard input is a command, and
// each command answers with one line, so a test knows exactly what has fired.
#define _GNU_SOURCE
#include "target.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void fire_halves(void);
void fire_unsupported(void);
void fire_lonely(void);
void fire_nops(long number);

static int (*fire_library)(int number);

static void *poke_in_thread(void *argument) {
    poke((long)argument);
    return NULL;
}

static void *text_in_thread(void *argument) {
    fire_text(argument);
    return NULL;
}

// A library of src/test/c/library, loaded for good.
static void load(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    *(void **)&fire_library = library ? dlsym(library, "fire_library") : NULL;
    puts(fire_library ? "ok" : dlerror());
}

int main(void) {
    char line[4096];

    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready %d\n", getpid());
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *argument = strchr(line, ' ');
        if (argument) {
            *argument++ = 0;
        }
        long number = argument ? strtol(argument, NULL, 10) : 1;

        if (!strcmp(line, "sizes")) {
            for (long i = 0; i < number; i++) {
                fire_sizes();
            }
            puts("ok");
        } else if (!strcmp(line, "forms")) {
            fire_forms();
            puts("ok");
        } else if (!strcmp(line, "halves")) {
            fire_halves();
            puts("ok");
        } else if (!strcmp(line, "unsupported")) {
            fire_unsupported();
            puts("ok");
        } else if (!strcmp(line, "many")) {
            fire_many((uint64_t)number);
            puts("ok");
        } else if (!strcmp(line, "nops")) {
            for (long i = 1; i <= number; i++) {
                fire_nops(i);
            }
            puts("ok");
        } else if (!strcmp(line, "text")) {
            fire_text(argument ? argument : "");
            puts("ok");
        } else if (!strcmp(line, "text_thread")) {
            pthread_t thread;
            pthread_create(&thread, NULL, text_in_thread, argument ? argument : "");
            pthread_join(thread, NULL);
            puts("ok");
        } else if (!strcmp(line, "load")) {
            load(argument);
        } else if (!strcmp(line, "library")) {
            printf("%d\n", fire_library((int)number));
        } else if (!strcmp(line, "guarded")) {
            printf("%d\n", fire_guarded());
            fire_lonely();
        } else if (!strcmp(line, "semaphores")) {
            print_semaphores();
        } else if (!strcmp(line, "poke")) {
            printf("%ld\n", poke(number));
        } else if (!strcmp(line, "poke_other")) {
            printf("%ld\n", poke_other(number));
        } else if (!strcmp(line, "poke_thread")) {
            pthread_t thread;
            pthread_create(&thread, NULL, poke_in_thread, (void *)number);
            pthread_join(thread, NULL);
            puts("ok");
        } else if (!strcmp(line, "fork")) {
            for (long i = 0; i < number; i++) {
                pid_t child = fork();
                if (child == 0) {
                    _exit(0);
                }
                waitpid(child, NULL, 0);
            }
            puts("ok");
        } else if (!strcmp(line, "syscall")) {
            for (long i = 0; i < number; i++) {
                syscall(SYS_getppid);
            }
            puts("ok");
        } else if (!strcmp(line, "exit")) {
            puts("ok");
            return 0;
        } else {
            printf("unknown command %s\n", line);
        }
    }
    return 0;
}
