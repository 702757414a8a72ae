// Calls probed() with three stacks of its own making: 3 times with the first, 5 times with a second one that has the same
// hash in question.bpf.c, and 7 times with a third one whose hash is 0. Prints a line for each stack: how often it was
// there, and its addresses from the innermost on.
#include <stdint.h>
#include <stdio.h>

struct frame {
    const struct frame *caller;
    uint64_t address;
};

extern const char probed[], returned[];
void with_frames(const struct frame *innermost);

// probed has no frame of its own, so the caller that the return address names comes before the frames that %rbp leads to.
asm(".text\n"
    ".globl probed\n"
    ".type probed, @function\n"
    "probed:\n"
    "    nop\n"
    "    ret\n"
    ".size probed, . - probed\n"
    ".globl with_frames\n"
    ".type with_frames, @function\n"
    "with_frames:\n"
    "    push %rbp\n"
    "    mov %rdi, %rbp\n"
    "    call probed\n"
    "returned:\n"
    "    pop %rbp\n"
    "    ret\n"
    ".size with_frames, . - with_frames\n"
    ".globl returned\n");

static uint64_t step(uint64_t hash, uint64_t address) {
    hash = (hash ^ address) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 32;
}

static void call(int times, uint64_t inner, uint64_t outer) {
    struct frame second = {.caller = NULL, .address = outer};
    struct frame first = {.caller = &second, .address = inner};

    for (int i = 0; i < times; i++) {
        with_frames(&first);
    }
    printf("%d %lx %lx %lx %lx\n", times, (uint64_t)probed, (uint64_t)returned, inner, outer);
}

int main(void) {
    uint64_t hash = step(step(0, (uint64_t)probed), (uint64_t)returned);
    uint64_t inner = 0x100000, outer = 0x200000, other = 0x300000;

    call(3, inner, outer);
    call(5, other, outer ^ step(hash, inner) ^ step(hash, other));
    call(7, inner, step(hash, inner));
    return 0;
}
