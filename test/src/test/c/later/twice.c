// Maps a library with a probe a second time, where a tracer that goes by addresses can't know of it. Each line of standard
// input fires the probe twice in the second mapping, with -1, and then once in the first, with 1.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

typedef void function(long);

static function *loaded(Lmid_t where, const char *path) {
    void *library = dlmopen(where, path, RTLD_NOW);

    if (!library) {
        printf("%s\n", dlerror());
    }
    return library ? (function *)dlsym(library, "fire_from_library") : NULL;
}

int main(int argc, char **argv) {
    function *first = argc > 1 ? loaded(LM_ID_BASE, argv[1]) : NULL, *second = NULL;
    char line[64];

    printf("ready %d\n", getpid());
    fflush(stdout);
    while (first && fgets(line, sizeof line, stdin)) {
        second = second ? second : loaded(LM_ID_NEWLM, argv[1]);
        if (!second) {
            return 1;
        }
        second(-1);
        second(-1);
        first(1);
        puts("fired");
        fflush(stdout);
    }
    return 0;
}
