// Fires begins whose memory is other memory at the end, and writes what it did to standard output, a line for each call
// of work: its name, size and result.
//   nested N D    N times work with the name "call-D", which calls itself with "call-(D-1)" and so on to "call-0"
//   crossed N     N times reused:begin("item-i", i), then the ends in reverse order in another thread
// work overwrites its name before it returns. reused:begin(const char *name, int size) and reused:end(int size) are in it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>

__attribute__((noipa)) long work(char *name, int size) {
    char inner[32], kept[32];
    long result = size % 2 ? -size : size;

    strcpy(kept, name);
    DTRACE_PROBE2(reused, begin, name, size);
    memset(name, '#', strlen(name));
    DTRACE_PROBE1(reused, end, size);
    if (size > 0) {
        snprintf(inner, sizeof(inner), "call-%d", size - 1);
        work(inner, size - 1);
    }
    printf("%s %d %ld\n", kept, size, result);
    return result;
}

static void *ends(void *count) {
    for (int i = *(int *)count; i-- > 0;) {
        DTRACE_PROBE1(reused, end, i);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 2 ? atoi(argv[2]) : 0;
    int depth = argc > 3 ? atoi(argv[3]) : 0;
    char name[32];
    pthread_t thread;

    if (argc > 1 && !strcmp(argv[1], "nested")) {
        for (int i = 0; i < n; i++) {
            snprintf(name, sizeof(name), "call-%d", depth);
            work(name, depth);
        }
        return 0;
    }
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "item-%d", i);
        DTRACE_PROBE2(reused, begin, name, i);
        printf("%s %d %d\n", name, i, i);
    }
    if (pthread_create(&thread, NULL, ends, &n) == 0) {
        pthread_join(thread, NULL);
    }
    return 0;
}
