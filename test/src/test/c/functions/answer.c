// A library in which one name stands for several functions: two versions of answer(), of which answer.map makes the
// second the default; a static function that only .symtab knows; one that is chosen when a process starts; and one that
// starts with an instruction that can't be probed.
#define NOINLINE __attribute__((noinline, noclone))

__asm__(".symver old_answer, answer@ANSWER_1");
__asm__(".symver new_answer, answer@@ANSWER_2");

long old_answer(long n);
long new_answer(long n);
long inner(long n);
long chosen(long n);

static NOINLINE long step(long n) {
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}

NOINLINE long old_answer(long n) {
    __asm__ volatile("" : "+r"(n));
    return n + 40;
}

NOINLINE long new_answer(long n) {
    __asm__ volatile("" : "+r"(n));
    return n + 41;
}

NOINLINE long inner(long n) {
    return step(n) * 2;
}

static NOINLINE long chosen_one(long n) {
    __asm__ volatile("" : "+r"(n));
    return n;
}

static long (*choose(void))(long) {
    return chosen_one;
}

long chosen(long n) __attribute__((ifunc("choose")));

// The kernel executes probed instructions elsewhere, and refuses those with a lock prefix.
__asm__(".text\n"
        ".type unprobeable, @function\n"
        "unprobeable:\n"
        "  lock addl $0, -8(%rsp)\n"
        "  ret\n"
        ".size unprobeable, . - unprobeable\n");
