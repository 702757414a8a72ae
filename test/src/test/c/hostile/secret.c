// A program that only root may read, and that nobody runs.
#include <sys/sdt.h>

int main(void) {
    DTRACE_PROBE(secret, probe);
    return 0;
}
