// Sites as newer headers make them on x86-64: the nop of the note, and after it a long one that a kernel may replace by a
// call. No other machine has such.
#include "target.h"

#ifdef __x86_64__
#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#define NOP10 ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n"

uint32_t target_nops = 0x600df00d;

// The stack pointer goes down by 256 bytes around the sites: nothing is in the red zone when one of them is called.
NOINLINE void fire_nops(long number) {
    __asm__ volatile("subq $256, %%rsp\n"
                     "movq %0, %%rdi\n" RAW_SITE("nops", "one", "8@%%rdi 4@target_nops(%%rip)") "xchgw %%dx, %%dx\n"
                     RAW_SITE("nops", "five", "8@%%rdi 4@target_nops(%%rip)") NOP5
                     RAW_SITE("nops", "ten", "8@%%rdi 4@target_nops(%%rip)") NOP10
                     "addq $256, %%rsp\n"
                     :
                     : "r"(number)
                     : "rdi", "cc", "memory");
}
#else
void fire_nops(long number) { (void)number; }
#endif
