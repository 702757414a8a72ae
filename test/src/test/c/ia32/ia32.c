// A 32-bit program without a library: gcc -m32 needs no package for it. It calls price 1,000 times; the sum of what the
// calls return, modulo 256, is the exit code. The calling convention passes all arguments on the stack, a long long in
// two words.
__attribute__((noipa)) long long price(int item, short count, unsigned long long cents, const char *shop) {
    return item + count + (long long)cents + shop[0];
}

static const char *const shops[] = {"market", "bakery"};

void _start(void) {
    long long sum = 0;
    for (int i = 0; i < 1000; i++) {
        sum += price(-i, (short)(i % 7), 0x100000000ULL + (unsigned)i, shops[i % 2]);
    }
    __asm__ volatile("int $0x80" : : "a"(1), "b"((int)(sum & 0xff)));
    __builtin_unreachable();
}
