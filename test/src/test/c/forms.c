// Probes in assembler: argument forms that a compiler emits rarely, each with a known value, and 1,000 sites with 20
// argument strings. Each machine has forms of its own for the same values.
#include "target.h"
#include <sys/sdt.h>

#ifndef ROUNDS
#define ROUNDS 50 // times 20 sites
#endif

uint32_t target_words[8] = {10, 11, 12, 13, 14, 0xfffffff0U, 16, 17};
int64_t target_longs[4] = {-100, -101, -102, -103};
uint64_t target_global = 0xabcdef0123456789ULL;
int16_t target_shorts[4] = {-1, -2, -3, -4};

// The registers that are set at the sites, and the strings that refer to them.
#if defined __x86_64__
#define BITS "rbx"
#define WORDS "rcx"
#define TWO "r9"
#define LONGS "rdi"
#define EIGHT "rdx"
#define GLOBAL "r10"
#define SHORTS "r11"
#define FORMS                                                                                                          \
    "-1@%%bl 1@%%bl -2@%%bx 2@%%bx -4@%%ebx 4@%%ebx 8@%%rbx -4@$-9 4@8(%%rcx,%%rdx) -8@-8(%%rdi,%%r9,8) "              \
    "8@target_global(%%rip) -2@6+target_shorts(%%rip)"
#define HALVES "-8@(%%rdi,%%r9,8) -8@(%%rdi,%%r10,8)"
#define UNSUPPORTED "8@%%rbx 8f@%%xmm0 -4@$-3"
#define MANY "-4@$\\k 8@%%rbx"
#elif defined __aarch64__
#define BITS "x19"
#define WORDS "x20"
#define TWO "x21"
#define LONGS "x22"
#define EIGHT "x23"
#define GLOBAL "x24"
#define SHORTS "x25"
#define FORMS                                                                                                          \
    "-1@w19 1@w19 -2@w19 2@w19 -4@w19 4@w19 8@x19 -4@-9 4@[x20, x21, lsl 3] -8@[x22, x23] "                            \
    "8@[x24, #:lo12:target_global] -2@[x25, 6]"
#define HALVES "-8@[x22, w21, uxtw 3] -8@[x22, w24, sxtw 3]"
#define UNSUPPORTED "8@x19 8f@d0 -4@-3"
#define MANY "-4@\\k 8@x19"
#elif defined __riscv
// No operand has an index.
#define BITS "s1"
#define WORDS "s2"
#define TWO "s3"
#define LONGS "s4"
#define EIGHT "s5"
#define GLOBAL "s6"
#define SHORTS "s7"
#define FORMS                                                                                                          \
    "-1@s1 1@s1 -2@s1 2@s1 -4@s1 4@s1 8@s1 -4@-9 4@16(s2) -8@8(s4) 8@%%lo(target_global)(s6) -2@6(s7)"
#define UNSUPPORTED "8@s1 8f@fa0 -4@-3"
#define MANY "-4@\\k 8@s1"
#elif defined __s390x__
#define BITS "r6"
#define WORDS "r7"
#define TWO "r8"
#define LONGS "r9"
#define EIGHT "r10"
#define GLOBAL "r4"
#define SHORTS "r5"
#define FORMS                                                                                                          \
    "-1@%%r6 1@%%r6 -2@%%r6 2@%%r6 -4@%%r6 4@%%r6 8@%%r6 -4@-9 4@8(%%r10,%%r7) -8@0(%%r10,%%r9) 8@0(%%r4) -2@6(%%r5)"
#define UNSUPPORTED "8@%%r6 8f@%%f0 -4@-3"
#define MANY "-4@\\k 8@%%r6"
#else
#error "no argument forms for this machine"
#endif

#define IN(name, where, value) register uint64_t name __asm__(where) = (uint64_t)(value)

// The values of arguments 1 to 12 in this order: see UsdtStrategiesTest.
NOINLINE void fire_forms(void) {
    IN(bits, BITS, 0x89abcdef8765c3f0ULL);
    IN(words, WORDS, target_words + 1);
    IN(two, TWO, 2);
    IN(longs, LONGS, target_longs + 1);
    IN(eight, EIGHT, 8);
    IN(global, GLOBAL, &target_global);
    IN(shorts, SHORTS, target_shorts);
    __asm__ volatile(RAW_SITE("target", "forms", FORMS)
                     :
                     : "r"(bits), "r"(words), "r"(two), "r"(longs), "r"(eight), "r"(global), "r"(shorts)
                     : "memory");
}

// Elements 2 and -1 by index registers whose upper halves hold something else. arm64 has operands with half of a
// register; on x86-64 the note names all of it, and a test makes the spec take half.
NOINLINE void fire_halves(void) {
#ifdef HALVES
    IN(longs, LONGS, target_longs + 1);
    IN(two, TWO, 0xdeadbeef00000002ULL);
    IN(minus_one, GLOBAL, 0xdeadbeefffffffffULL);
    __asm__ volatile(RAW_SITE("target", "halves", HALVES) : : "r"(longs), "r"(two), "r"(minus_one) : "memory");
#endif
}

// One argument that no BPF program can read (a floating-point register) between two that it can.
NOINLINE void fire_unsupported(void) {
    IN(bits, BITS, 77);
    __asm__ volatile(RAW_SITE("target", "unsupported", UNSUPPORTED) : : "r"(bits) : "memory");
}

// Site k of each round has the arguments: the constant k, and the number that the caller gave.
NOINLINE void fire_many(uint64_t number) {
#define STRINGIZE(x) #x
#define TEXT(x) STRINGIZE(x)
    IN(bits, BITS, number);
    __asm__ volatile(".rept " TEXT(ROUNDS) "\n"
                     ".irp k, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n"
                     RAW_SITE("target", "many", MANY)
                     ".endr\n"
                     ".endr\n"
                     :
                     : "r"(bits)
                     : "memory");
}

// Makes the assembler define _.stapsdt.base, which RAW_SITE refers to.
NOINLINE void unused_probe(void) { STAP_PROBE(target, never); }
