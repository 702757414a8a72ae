// A static function of the same name as one of caller.c, and another one all the same.
long second_twin(long n);

__attribute__((noinline, noclone)) static long twin(long n) {
    __asm__ volatile("" : "+r"(n));
    return n + 2;
}

long second_twin(long n) {
    return twin(n) * 5;
}
