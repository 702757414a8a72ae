// Runs a function right out of an archive, as Android's linker does with libraries that are stored uncompressed: maps the
// page that holds it and jumps there. Arguments: the archive, the function's offset in it. The function may use nothing
// but registers, which is all that the test's library does.
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
    (void)argc;
    uint64_t offset = strtoull(argv[2], NULL, 0);
    uint64_t page = offset & ~4095ull;
    int archive = open(argv[1], O_RDONLY);
    char *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, archive, (off_t)page);

    if (archive < 0 || code == MAP_FAILED) {
        return 1;
    }
    printf("ready %d\n", getpid());
    fflush(stdout);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    for (long n = 0; poll(&input, 1, 5) == 0; n++) {
        ((void (*)(long))(code + (offset - page)))(n);
    }
    return 0;
}
