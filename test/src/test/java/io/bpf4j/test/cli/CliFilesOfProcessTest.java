package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LineProcess;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files by the names that they have for the process of {@code -p}. */
@Requires({BPF, BPF_COOKIE, GCC})
@Timeout(600) // for what hangs
class CliFilesOfProcessTest {
    /** glibc has a library of this name, too, which is found by it on every machine. */
    private static final String NAME = "libresolv.so.2";

    @TempDir
    Path folder;

    private Path program;

    /** Calls a function of its own and one of a library for each line that it reads. */
    private static final class Caller extends LineProcess {
        Caller(Path program, Path library) throws IOException {
            super(new ProcessBuilder(program.toString(), library.toString()));
        }
    }

    @BeforeEach
    void compile() throws IOException, InterruptedException {
        Path library = Files.writeString(folder.resolve("library.c"), "void called(void) { __asm__ volatile(\"\"); }");
        Commands.check(List.of(
                "gcc", "-O1", "-shared", "-fPIC", "-o", folder.resolve(NAME).toString(), library.toString()));
        Path main = Files.writeString(folder.resolve("main.c"), """
            #include <dlfcn.h>
            #include <stdio.h>
            __attribute__((noipa)) void own(void) { __asm__ volatile(""); }
            int main(int argc, char **argv) {
                void *library = dlopen(argv[argc - 1], RTLD_NOW);
                void (*called)(void) = (void (*)(void))dlsym(library, "called");
                char line[100];
                setvbuf(stdout, 0, _IOLBF, 0);
                puts("ready");
                while (fgets(line, sizeof(line), stdin)) {
                    own();
                    called();
                    puts("called");
                }
                return 0;
            }
            """);
        program = folder.resolve("program");
        Commands.check(List.of("gcc", "-O1", "-o", program.toString(), main.toString(), "-ldl"));
    }

    /** The answer about three lines that the process reads while it is traced. */
    private static String answer(Caller caller, String... probes) throws IOException, InterruptedException {
        String pid = Long.toString(caller.pid());
        List<String> question = new ArrayList<>(List.of("count", "--json", "-p", pid));
        question.addAll(List.of(probes));
        try (RunningTrace count = new RunningTrace(question.toArray(String[]::new))) {
            count.awaitMessage("tracing 1 function");
            for (int line = 0; line < 3; line++) {
                assertThat(caller.command("call")).isEqualTo("called");
            }
            count.interrupt();
            return count.await().out();
        }
    }

    @Test
    void aLibraryIsThatOfTheProcess() throws IOException, InterruptedException {
        try (Caller caller = new Caller(program, folder.resolve(NAME))) {
            String three = """
                {"type":"row","key":{},"count":3}
                {"type":"end","events":3,"lost":0,"exact":true,"question":{"probes":["u:called"]}}
                """;
            assertThat(answer(caller, "u:" + NAME + ":called")).isEqualTo(three);
            assertThat(answer(caller, NAME, "u:called")).isEqualTo(three);
        }
    }

    @Test
    void aFileThatWasReplacedIsThatWhichTheProcessRuns() throws IOException, InterruptedException {
        try (Caller caller = new Caller(program, folder.resolve(NAME))) {
            Path other = Files.copy(folder.resolve(NAME), folder.resolve("other"));
            Files.move(other, program, StandardCopyOption.REPLACE_EXISTING);
            assertThat(answer(caller, "u:" + program + ":own")).contains("\"count\":3");
        }
    }

    @Test
    void aFileThatTheProcessDoesNotUseIsNamed() throws IOException, InterruptedException {
        Path other = Files.copy(folder.resolve(NAME), folder.resolve("other.so"));
        try (Caller caller = new Caller(program, folder.resolve(NAME))) {
            String pid = Long.toString(caller.pid());
            Commands.Result none = Cli.run("count", "-p", pid, "u:" + other + ":called", "--duration", "100ms");
            assertThat(none.err())
                    .contains("process " + pid + " has not mapped " + other
                            + ": probes in this file fire only if the process maps it later");
            assertThat(Cli.run("count", "-p", pid, "u:libnone-such.so.7:called").err())
                    .contains("libnone-such.so.7: no such file, program or library");
        }
    }
}
