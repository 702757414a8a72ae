package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CLANG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.insn.Assembler;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ProgramLog;
import io.bpf4j.loader.ProgramLog.Line;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.lang.System.Logger;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.ResourceBundle;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Lines that programs write by bpf4j/log.h. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class ProgramLogOnKernelTest {
    private static final TestRun PACKET = TestRun.onData(new byte[64]);

    private static List<Line> run(BpfObject object, ProgramLog log, String... programs) {
        for (String program : programs) {
            assertThat(object.program(program).test(PACKET).returned()).isEqualTo(2);
        }
        List<Line> lines = new ArrayList<>();
        while (log.poll(Duration.ZERO, lines::add) > 0) {}
        return lines;
    }

    @Test
    void linesWithLevelFunctionAndCpu() {
        try (BpfObject object = Bpf.load("log.bpf.o");
                ProgramLog log = ProgramLog.open(object)) {
            object.global("small").setInt(-5);
            object.global("large").setLong(65);
            long before = System.nanoTime();
            List<Line> lines = run(object, log, "say");
            assertThat(lines)
                    .extracting(Line::text)
                    .containsExactly("no argument, 100%", "   -5|-5   |-0005|-5|fffffffb|0XFFFFFFFB|37777777773|A");
            assertThat(lines).extracting(Line::level).containsExactly(Logger.Level.INFO, Logger.Level.WARNING);
            assertThat(lines).allSatisfy(line -> {
                assertThat(line.function()).isEqualTo("say");
                assertThat(line.cpu()).isBetween(0, Runtime.getRuntime().availableProcessors() * 64);
                assertThat(line.nanos()).isBetween(before, System.nanoTime());
            });
            object.global("large").setLong(-2);
            assertThat(run(object, log, "say_numbers"))
                    .extracting(Line::text)
                    .containsExactly("-5 4294967291 -2 18446744073709551614 fffffffffffffffe 0xfffffffffffffffe -2"
                            + " 18446744073709551614");
            assertThat(log.malformed()).isZero();
            log.wakeup(); // ends the next wait
            assertThat(log.poll(Duration.ofHours(1), _ -> {})).isZero();
        }
    }

    @Test
    void textsOfMapsConstantsAndTheProcess() {
        try (BpfObject object = Bpf.load("log.bpf.o");
                ProgramLog log = ProgramLog.open(object);
                Arena arena = Arena.ofConfined()) {
            object.global("name").set("a\nname\0\0\0\0\0\0\0\0\0\0".getBytes(StandardCharsets.US_ASCII));
            object.global("address").set(new byte[] {(byte) 192, 0, 2, 7});
            MemorySegment text = arena.allocateFrom("x".repeat(100));
            object.global("user_text").setLong(text.address());
            List<Line> lines = run(object, log, "say_texts");
            assertThat(lines).hasSize(1);
            assertThat(lines.getFirst().text())
                    .isEqualTo("[a\\x0aname] [a\\x0an] [  constant] [" + "x".repeat(63) + "] from 192.0.2.7");
            object.global("user_text").setLong(1);
            assertThat(run(object, log, "say_texts").getFirst().text()).contains("[(unreadable: EFAULT");
        }
    }

    @Test
    void levelsAreFilteredInTheKernel() {
        try (BpfObject object = Bpf.load("log.bpf.o");
                ProgramLog log = ProgramLog.open(object)) {
            assertThat(run(object, log, "say_details")).isEmpty();
            log.setLevel(Logger.Level.DEBUG);
            assertThat(run(object, log, "say_details"))
                    .extracting(Line::function, Line::text)
                    .containsExactly(tuple("helper", "helper 0"));
            log.setLevel(Logger.Level.ALL);
            assertThat(run(object, log, "say_details"))
                    .extracting(Line::level)
                    .containsExactly(Logger.Level.TRACE, Logger.Level.DEBUG);
            log.setLevel(Logger.Level.WARNING);
            assertThat(run(object, log, "say")).extracting(Line::level).containsExactly(Logger.Level.WARNING);
            log.setLevel(Logger.Level.OFF);
            assertThat(run(object, log, "say", "say_texts")).isEmpty();
            assertThat(log.lost()).isZero();
        }
    }

    @Test
    void whatDoesNotFitIsCounted() {
        try (BpfObject object = Bpf.load("log.bpf.o");
                ProgramLog log = ProgramLog.open(object)) {
            int runs = 200;
            IntStream.range(0, runs).forEach(_ -> object.program("say_numbers").test(PACKET));
            List<Line> lines = run(object, log);
            assertThat(lines).hasSizeBetween(10, runs - 1);
            assertThat(log.lost()).isEqualTo(runs - lines.size());
        }
    }

    @Test
    void linesGoToALogger() {
        List<String> logged = new ArrayList<>();
        Logger logger = new Logger() {
            @Override
            public String getName() {
                return "test";
            }

            @Override
            public boolean isLoggable(Level level) {
                return true;
            }

            @Override
            public void log(
                    Level level, @Nullable ResourceBundle bundle, @Nullable String text, @Nullable Throwable e) {
                logged.add(level + ": " + text);
            }

            @Override
            public void log(
                    Level level, @Nullable ResourceBundle bundle, @Nullable String format, @Nullable Object... values) {
                logged.add(level + ": " + format);
            }
        };
        try (BpfObject object = Bpf.load("log.bpf.o");
                ProgramLog log = ProgramLog.open(object)) {
            object.program("say").test(PACKET);
            assertThat(log.poll(Duration.ofSeconds(10), logger)).isEqualTo(2);
            assertThat(logged.getFirst()).matches("INFO: say, CPU \\d+: no argument, 100%");
        }
    }

    @Test
    void objectsWithoutALogAreRefused() {
        ObjectSpec empty = ObjectSpec.of("empty")
                .withProgram(ProgramSpec.of(
                        "xdp",
                        FunctionSpec.of(
                                "pass", Assembler.create().mov(Assembler.R0, 2).exit())));
        assertThatThrownBy(() -> ProgramLog.check(empty))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("no program calls bpf4j_log");
        ProgramLog.check(Bpf.spec("log.bpf.o"));
    }

    /** What the compiler can see it refuses; what is left is refused before a load, by the format. */
    @Test
    @Requires(CLANG)
    void wrongCallsAreRefusedWithOneMessage(@TempDir Path folder) throws Exception {
        assertThat(compile(folder, "\"%d\", 1, 2, 3, 4, 5, 6, 7, 8, 9").err())
                .contains("bpf4j_log takes at most 8 arguments")
                .containsOnlyOnce("error:");
        assertThat(compile(folder, "\"" + "x".repeat(112) + "\"").err())
                .contains("more than 111 bytes")
                .containsOnlyOnce("error:");
        assertThat(compile(folder, "\"%d %d\", 1").exitCode()).isZero();
        ObjectSpec object = ObjectSpec.read(folder.resolve("call.bpf.o"));
        assertThatThrownBy(() -> ProgramLog.check(object))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("\"%d %d\": it has more conversions than the 1 arguments");
    }

    private static Commands.Result compile(Path folder, String arguments) throws Exception {
        Path source = folder.resolve("call.bpf.c");
        Files.writeString(source, String.format(Locale.ROOT, """
                #include <bpf4j/log.h>
                char LICENSE[] SEC("license") = "GPL";
                SEC("xdp") int call(void *ctx) { bpf4j_log(BPF4J_LOG_INFO, %s); return 2; }
                """, arguments));
        return Commands.run(
                Commands.clang(source, folder.resolve("call.bpf.o"), "-I../bpf-objects/src/main/bpf/include"));
    }
}
