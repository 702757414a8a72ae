package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.process.hold.HeldCommand;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.UsdtWatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A descendant that is dear to look at, beside one that forks and executes. */
@Requires({BPF, GCC})
@Timeout(600) // for what hangs
class UsdtWatchTurnsTest {
    private static final int EXECS = 30;

    /**
     * A child with 60,000 mappings loads and unloads a library without end. Then another child executes a command again
     * and again, and the program ends.
     */
    private static final String CROWD = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <signal.h>
            #include <stdlib.h>
            #include <sys/mman.h>
            #include <sys/prctl.h>
            #include <sys/wait.h>
            #include <unistd.h>
            int main(int count, char **args) {
                (void)count;
                int ready[2];
                if (pipe(ready)) return 1;
                int dear = fork();
                if (!dear) {
                    prctl(PR_SET_PDEATHSIG, SIGKILL);
                    long page = sysconf(_SC_PAGESIZE);
                    long pages = atol(args[2]);
                    char *all = mmap(0, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                    for (long i = 0; i < pages; i += 2) mprotect(all + i * page, page, PROT_READ);
                    for (long i = 0;; i++) {
                        void *library = dlopen(args[1], RTLD_NOW);
                        if (!library || dlclose(library)) return 1;
                        if (i == 1 && write(ready[1], "", 1) != 1) return 1;
                    }
                }
                char byte;
                if (read(ready[0], &byte, 1) != 1) return 1;
                for (int i = atoi(args[3]); i > 0; i--) {
                    if (!fork()) {
                        execl(args[4], args[4], NULL);
                        _exit(1);
                    }
                    wait(0);
                }
                kill(dear, SIGKILL);
                return 0;
            }
            """;

    /**
     * All processes in one queue would let the dear child load its library about as often as the other one executes,
     * because each waits for a look at the other.
     */
    @Test
    void aProcessWithManyMappingsDelaysItselfOnly(@TempDir Path folder) throws Exception {
        String program = compile(folder, "crowd", CROWD);
        String library = compile(folder, "library.so", "int nothing;", "-shared", "-fPIC");
        String command = compile(folder, "command", "int main(void) { return 0; }");
        List<String> events = new ArrayList<>(); // by the thread of the watch
        try (HeldCommand held =
                HeldCommand.start(List.of(program, library, "60000", Integer.toString(EXECS), command), true)) {
            try (UsdtWatch watch = UsdtWatch.of(held.pid())
                    .withChildren()
                    .fromExec()
                    .start(new UsdtWatch.Listener() {
                        @Override
                        public void appeared(int pid, UsdtScan scan) {
                            scan.files().forEach(file -> events.add(file.name()));
                        }

                        @Override
                        public void exec(int pid) {
                            events.add("exec"); // what appeared may appear once more
                        }
                    })) {
                held.release();
                Await.until("all processes have ended", () -> !watch.isAlive());
                assertThat(watch.gaps()).isEmpty();
            }
        }
        // The first is that of the program itself.
        assertThat(events).filteredOn("exec"::equals).hasSize(1 + EXECS);
        List<String> meanwhile = events.subList(events.indexOf(command), events.lastIndexOf("exec"));
        assertThat(meanwhile).filteredOn(library::equals).hasSizeLessThan(EXECS / 2);
    }

    private static String compile(Path folder, String name, String text, String... options) throws Exception {
        Path source = Files.writeString(folder.resolve(name + ".c"), text);
        Path file = folder.resolve(name);
        List<String> compiler = new ArrayList<>(List.of("gcc", "-o", file.toString(), source.toString()));
        compiler.addAll(List.of(options));
        Commands.check(compiler);
        return file.toString();
    }
}
