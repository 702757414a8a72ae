// Probes whose operands the compiler chooses: at -O0 they are in memory at %rbp, at -O2 in registers, constants and
// on the stack. The values must come out the same.
#include "target.h"
#include <string.h>
#include <sys/sdt.h>

// 12 arguments of every size and sign. Not static and not inlined, so the values can't become constants.
NOINLINE void sizes(int8_t s1, uint8_t u1, int16_t s2, uint16_t u2, int32_t s4, uint32_t u4, int64_t s8, uint64_t u8,
                    const char *text, uint8_t zero) {
    STAP_PROBE12(target, sizes, s1, u1, s2, u2, s4, u4, s8, u8, 42, -7LL, text, zero);
}

// Locals that live in memory whatever the optimisation: a volatile struct on the stack.
NOINLINE void memory(int32_t base) {
    volatile struct {
        int8_t s1;
        uint16_t u2;
        int32_t s4;
        uint64_t u8;
        int32_t table[8];
    } local;
    local.s1 = (int8_t)(base - 3);
    local.u2 = (uint16_t)(base + 65000);
    local.s4 = base - 100000;
    local.u8 = (uint64_t)base + 0x1122334455667788ULL;
    for (int i = 0; i < 8; i++) {
        local.table[i] = base * i;
    }
    STAP_PROBE5(target, memory, local.s1, local.u2, local.s4, local.u8, local.table[base & 7]);
}

void fire_sizes(void) {
    sizes(-5, 250, -30000, 60000, -2000000000, 4000000000U, -9000000000000000000LL, 18000000000000000000ULL, "hello",
          0);
    memory(3);
}

// A string twice: as pointer and length, and ended by NUL.
NOINLINE void fire_text(const char *text) {
    STAP_PROBE3(target, text, text, (int)strlen(text) / 2, text);
}

// Functions for uprobes and uretprobes.
NOINLINE long poke(long value) {
    __asm__ volatile("" : "+r"(value));
    return value * 2 + 1;
}

NOINLINE long poke_other(long value) {
    __asm__ volatile("" : "+r"(value));
    return value - 1;
}
