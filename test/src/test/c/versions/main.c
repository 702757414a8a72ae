// Fires late:probe(TYPE value, int i) once, and then executes the program of its arguments: versions of a probe.
#include <sys/sdt.h>
#include <unistd.h>

int main(int argc, char **argv) {
    volatile TYPE value = (TYPE)-7;

    DTRACE_PROBE2(late, probe, value, 1);
    return argc > 1 ? execv(argv[1], argv + 1) : 0;
}
