// A program with STRINGS times ROUNDS sites of the probe sites:many and as many argument strings as STRINGS says. Each
// line on standard input is a number; it fires all sites, and answers "ok". Site k of each round has the arguments: the
// constant k, and the number. The probe sites:one has one site; it fires first.
#include "../target.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>

#if defined __x86_64__
#define REGISTER "rdi"
#define ARGUMENTS "-4@$\\k 8@%%rdi"
#elif defined __aarch64__
#define REGISTER "x19"
#define ARGUMENTS "-4@\\k 8@x19"
#elif defined __riscv
#define REGISTER "s1"
#define ARGUMENTS "-4@\\k 8@s1"
#elif defined __s390x__
#define REGISTER "r6"
#define ARGUMENTS "-4@\\k 8@%%r6"
#else
#error "no argument strings for this machine"
#endif

#define STRINGIZE(x) #x
#define TEXT(x) STRINGIZE(x)

static NOINLINE void fire_all(uint64_t number) {
    register uint64_t given __asm__(REGISTER) = number;
    // .altmacro: an argument that starts with % is an expression, and its value in decimal is what the macro gets.
    __asm__ volatile(".altmacro\n"
                     ".macro many_site k\n"
                     "990: " NOP "\n"
                     ".pushsection .note.stapsdt, \"\", \"note\"\n"
                     ".balign 4\n"
                     ".4byte 992f - 991f, 994f - 993f, 3\n"
                     "991: .asciz \"stapsdt\"\n"
                     "992: .balign 4\n"
                     "993: .8byte 990b, _.stapsdt.base, 0\n"
                     ".asciz \"sites\"\n"
                     ".asciz \"many\"\n"
                     ".asciz \"" ARGUMENTS "\"\n"
                     "994: .balign 4\n"
                     ".popsection\n"
                     ".endm\n"
                     ".rept " TEXT(ROUNDS) "\n"
                     ".set number, 0\n"
                     ".rept " TEXT(STRINGS) "\n"
                     "many_site %%number\n"
                     ".set number, number + 1\n"
                     ".endr\n"
                     ".endr\n"
                     ".noaltmacro\n"
                     :
                     : "r"(given)
                     : "memory");
}

int main(void) {
    char line[64];

    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ready");
    while (fgets(line, sizeof line, stdin)) {
        uint64_t number = strtoull(line, NULL, 10);
        STAP_PROBE1(sites, one, number);
        fire_all(number);
        puts("ok");
    }
    return 0;
}
