// Looks like a JVM: has mapped a file as code, whose name is the first argument, and handles SIGQUIT. With a second
// argument it listens at /tmp/.java_pidPID as a JVM does, and never answers. Prints "ready", "read" for each line of its
// input, and how many SIGQUITs it got at the end of it.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static volatile sig_atomic_t quits;

static void on_quit(int signal) { quits += signal == SIGQUIT; }

static void die(const char *what) {
    perror(what);
    exit(1);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_quit, .sa_flags = SA_RESTART};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int library, listener;
    char line[16];

    if (argc < 2)
        return 2;
    library = open(argv[1], O_RDONLY);
    if (library < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, library, 0) == MAP_FAILED)
        die(argv[1]);
    sigaction(SIGQUIT, &action, NULL);
    if (argc > 2) {
        snprintf(address.sun_path, sizeof address.sun_path, "/tmp/.java_pid%d", getpid());
        listener = socket(AF_UNIX, SOCK_STREAM, 0);
        unlink(address.sun_path);
        if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 5))
            die(address.sun_path);
    }
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        puts("read");
        fflush(stdout);
    }
    printf("%d\n", (int)quits);
    if (argc > 2)
        unlink(address.sun_path);
    return 0;
}
