// A library in which one name stands for several functions: two versions of answer(), of which answer.map makes the
// second the default; a static function that only .symtab knows; and one that is chosen when a process starts.
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
