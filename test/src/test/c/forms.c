// Probes in assembler: argument forms that a compiler emits rarely, each with a known value, and 1,000 sites with 20
// argument strings. x86-64.
#include "target.h"
#include <sys/sdt.h>

#if !defined __x86_64__
#error "the argument forms here are those of x86-64"
#endif

#ifndef ROUNDS
#define ROUNDS 50 // times 20 sites
#endif

uint32_t target_words[8] = {10, 11, 12, 13, 14, 0xfffffff0U, 16, 17};
int64_t target_longs[4] = {-100, -101, -102, -103};
uint64_t target_global = 0xabcdef0123456789ULL;
int16_t target_shorts[4] = {-1, -2, -3, -4};

// What is at the site (the values of arguments 1 to 12 in this order, see UsdtArgumentsTest):
//   rbx = 0x89abcdef8765c3f0, rcx = target_words, r9 = 2, rdi = target_longs + 2, rdx = 8
NOINLINE void fire_forms(void) {
    __asm__ volatile("movabsq $0x89abcdef8765c3f0, %%rbx\n"
                     "leaq target_words(%%rip), %%rcx\n"
                     "movq $2, %%r9\n"
                     "leaq 16+target_longs(%%rip), %%rdi\n"
                     "movq $8, %%rdx\n" RAW_SITE("target", "forms",
                                                 "-1@%%bl 1@%%bl -2@%%bx 2@%%bx -4@%%ebx 4@%%ebx 8@%%rbx -4@$-9 "
                                                 "4@4(%%rcx,%%r9,8) -8@-8(%%rdi,%%rdx) 8@target_global(%%rip) "
                                                 "-2@6+target_shorts(%%rip)")
                     :
                     :
                     : "rbx", "rcx", "rdx", "rdi", "r9", "memory");
}

// One argument that no BPF program can read (a vector register) between two that it can.
NOINLINE void fire_unsupported(void) {
    __asm__ volatile("movq $77, %%rsi\n" RAW_SITE("target", "unsupported", "8@%%rsi 8f@%%xmm0 -4@$-3")
                     :
                     :
                     : "rsi", "memory");
}

// Site k of each round has the arguments: the constant k, and the number that the caller gave.
NOINLINE void fire_many(uint64_t number) {
#define STRINGIZE(x) #x
#define TEXT(x) STRINGIZE(x)
    __asm__ volatile("movq %0, %%rdi\n"
                     ".rept " TEXT(ROUNDS) "\n"
                     ".irp k, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n"
                     RAW_SITE("target", "many", "-4@$\\k 8@%%rdi")
                     ".endr\n"
                     ".endr\n"
                     :
                     : "r"(number)
                     : "rdi", "memory");
}

// Makes the assembler define _.stapsdt.base, which RAW_SITE refers to.
NOINLINE void unused_probe(void) { STAP_PROBE(target, never); }
