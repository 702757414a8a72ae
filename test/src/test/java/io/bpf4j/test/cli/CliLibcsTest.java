package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.MUSL;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.SteadyProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs without a dynamic loader, and those of musl: containers of small images have no others. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@Timeout(600) // for what hangs
class CliLibcsTest {
    private static final Path HEADERS = Path.of("/usr/include/x86_64-linux-gnu/sys");

    @TempDir
    static Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"-static", "-static-pie"})
    void aStaticProgramIsTraced(String flag) throws IOException, InterruptedException {
        isTraced(SteadyProgram.compile(flag));
    }

    /** What musl-gcc does, with gcc: it has no headers but musl's, and two of SystemTap's that need none. */
    @ParameterizedTest
    @ValueSource(strings = {"-no-pie", "-pie -fPIE", "-static"})
    @Requires({MUSL, X86_64})
    void aProgramOfMuslIsTraced(String flags) throws IOException, InterruptedException {
        Path headers = Files.createDirectories(folder.resolve("headers/sys"));
        for (String header : List.of("sdt.h", "sdt-config.h")) {
            if (!Files.exists(headers.resolve(header))) {
                Files.copy(HEADERS.resolve(header), headers.resolve(header));
            }
        }
        List<String> all = new ArrayList<>(List.of("-specs=/usr/lib/x86_64-linux-musl/musl-gcc.specs", "-I"));
        all.add(String.valueOf(headers.getParent()));
        Stream.of(flags.split(" ", -1)).forEach(all::add);
        isTraced(SteadyProgram.compile(all.toArray(String[]::new)));
    }

    private static void isTraced(Path program) throws IOException, InterruptedException {
        try (SteadyProgram running = SteadyProgram.start(program)) {
            String pid = Integer.toString(running.pid());
            Commands.Result traced = Cli.run("trace", "-p", pid, "steady:beat", "--count", "3");
            assertThat(traced.exitCode()).as(traced.err()).isZero();
            assertThat(traced.out()).containsPattern("(?s)beat.*beat.*beat.*3 events, 0 lost");
            assertThat(traced.err()).startsWith(Cli.TRACING_ONE);
            assertThat(running.listeners()).isZero();
        }
        // From the first event on: it is held until the probe is attached.
        Commands.Result counted = Cli.run("count", "--follow", "-c", program + " 1000", "steady:beat");
        assertThat(counted.exitCode()).as(counted.err()).isZero();
        assertThat(counted.out()).contains("1000 events").doesNotContain("not exact");
        assertThat(counted.err()).doesNotContain("warning", "Exception");
    }
}
