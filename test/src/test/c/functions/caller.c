// Calls the functions of answer.c, one command a line. Linked against one version of answer() by default, and against
// the old one by name.
#include <stdio.h>
#include <string.h>

__asm__(".symver answer_of_old, answer@ANSWER_1");

long answer(long n);
long answer_of_old(long n);
long inner(long n);
long chosen(long n);
long first_twin(long n);
long second_twin(long n);

__attribute__((noinline, noclone)) static long twin(long n) {
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}

long first_twin(long n) {
    return twin(n) * 3;
}

int main(void) {
    char line[256];

    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ready");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "new")) {
            printf("%ld\n", answer(1));
        } else if (!strcmp(line, "old")) {
            printf("%ld\n", answer_of_old(1));
        } else if (!strcmp(line, "inner")) {
            printf("%ld\n", inner(1));
        } else if (!strcmp(line, "chosen")) {
            printf("%ld\n", chosen(1));
        } else if (!strcmp(line, "twins")) {
            printf("%ld\n", first_twin(1) + second_twin(1));
        } else {
            puts("unknown command");
        }
    }
    return 0;
}
