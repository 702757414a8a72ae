// What the files of the target program share.
#ifndef TARGET_H
#define TARGET_H

#include <stdint.h>

// A USDT site with an argument string of our choice, to be used inside an asm block that has put the registers in
// place: a nop, and the note about it. <sys/sdt.h> lets the compiler choose the operands, so it can't make every
// form at will. The note: sizes and type 3, owner "stapsdt", three addresses (site, base, semaphore; 0: none), then
// provider, name and arguments, each ended by NUL. Double the % of registers where the asm block has operands.
#define RAW_SITE(provider, name, arguments) RAW_SITE_AT(NOP, provider, name, arguments)

#ifdef __s390x__
#define NOP "nop 0"
#else
#define NOP "nop"
#endif

// The same at another instruction than a nop.
#define RAW_SITE_AT(instruction, provider, name, arguments)                                                            \
    "990: " instruction "\n"                                                                                           \
    ".pushsection .note.stapsdt, \"\", \"note\"\n"                                                                     \
    ".balign 4\n"                                                                                                      \
    ".4byte 992f - 991f, 994f - 993f, 3\n"                                                                             \
    "991: .asciz \"stapsdt\"\n"                                                                                        \
    "992: .balign 4\n"                                                                                                 \
    "993: .8byte 990b\n"                                                                                               \
    ".8byte _.stapsdt.base\n"                                                                                          \
    ".8byte 0\n"                                                                                                       \
    ".asciz \"" provider "\"\n"                                                                                        \
    ".asciz \"" name "\"\n"                                                                                            \
    ".asciz \"" arguments "\"\n"                                                                                       \
    "994: .balign 4\n"                                                                                                 \
    ".popsection\n"

#define NOINLINE __attribute__((noinline, noclone))

void fire_sizes(void);
void fire_text(const char *text);
void fire_forms(void);
void fire_many(uint64_t number);
int fire_guarded(void);
void print_semaphores(void);
long poke(long value);
long poke_other(long value);

#endif
