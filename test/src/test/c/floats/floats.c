// Fires asked:floats(double d, float f, int i) 9 times: d is 1.5 * i, f is 0.1 * i, i counts from 0.
#include <sys/sdt.h>

int main(void) {
    for (int i = 0; i < 9; i++) {
        double d = 1.5 * i;
        float f = 0.1f * (float)i;
        DTRACE_PROBE3(asked, floats, d, f, i);
    }
    return 0;
}
