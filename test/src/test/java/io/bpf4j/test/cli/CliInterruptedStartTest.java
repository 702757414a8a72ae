package io.bpf4j.test.cli;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R6;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Ctrl-C while the command starts. A BPF program sends the signal when the JVM has loaded so many classes, so each moment
 * of a start can be met again, whatever else the machine does.
 *
 * <p>Before the JVM is initialized it ends with lines of its own, which neither the launcher nor an option prevents:
 * JDKs before 26 say that "Runtime.exit logging failed" (JDK-8367597), and the thread that initializes the JVM may notice
 * that it is being shut down. From then on nothing is printed.
 */
@Requires({BPF, UPROBE_MULTI, HOTSPOT_PROBES, GCC, SDT_H})
@Timeout(1800) // for what hangs
class CliInterruptedStartTest {
    private static final int INTERRUPT = 2;
    private static final int MOMENTS = 60;

    /** How the JVM begins when it ends because the thread that initializes it can't go on. */
    private static final String DURING_INITIALIZATION = "Error occurred during initialization of VM";

    @TempDir
    static Path folder;

    /**
     * Interrupts its process at the last of so many calls of one program; another one keeps how many were left when it
     * was called.
     */
    private static ObjectSpec interruptsAfter() {
        Assembler interrupt = value(Assembler.create(), "left")
                .ldx(8, R1, R0, 0)
                .jump(Opcodes.JEQ, R1, 0, "out")
                .alu(Opcodes.SUB, R1, 1)
                .stx(8, R0, 0, R1)
                .jump(Opcodes.JNE, R1, 0, "out")
                .mov(R1, INTERRUPT)
                .call("bpf_send_signal")
                .label("out")
                .mov(R0, 0)
                .exit();
        Assembler keep = value(Assembler.create(), "left").ldx(8, R6, R0, 0);
        value(keep, "left_when_initialized")
                .stx(8, R0, 0, R6)
                .label("out")
                .mov(R0, 0)
                .exit();
        return ObjectSpec.of("interrupt")
                .withLicense("GPL")
                .withMap(MapSpec.of("left", MapType.ARRAY, 4, 8, 1))
                .withMap(MapSpec.of("left_when_initialized", MapType.ARRAY, 4, 8, 1))
                .withProgram(ProgramSpec.of("usdt", FunctionSpec.of("interrupt", interrupt)))
                .withProgram(ProgramSpec.of("usdt", FunctionSpec.of("keep", keep)));
    }

    /** Takes the address of the only value of a map. */
    private static Assembler value(Assembler code, String map) {
        return code.st(4, R10, -4, 0)
                .movReg(R2, R10)
                .alu(Opcodes.ADD, R2, -4)
                .loadMap(R1, map)
                .call("bpf_map_lookup_elem")
                .jump(Opcodes.JEQ, R0, 0, "out");
    }

    /** A start of the command, which has not begun: a shell waits for a line, and becomes the JVM. */
    private static final class Start implements AutoCloseable {
        private final BpfObject object = BpfLoader.of(interruptsAfter()).load();
        private final Process process;
        private final List<UsdtLink> links = new ArrayList<>();
        private final TypedMap<Integer, Long> left = number("left");
        private final Path out = Files.createTempFile(folder, "start", ".out");
        private final Path err = Files.createTempFile(folder, "start", ".err");

        Start(long moment) throws IOException {
            // The tests may run as a background job of a script, whose interrupts are ignored. What a shell has found
            // ignored it can't change, and until the command has a handler of its own, the signal would be lost.
            List<String> line = new ArrayList<>(
                    List.of("env", "--default-signal=INT", "sh", "-c", "read -r _ && exec \"$@\"", "sh"));
            line.addAll(Cli.command("count", CPrograms.asked().toString(), "asked:value"));
            process = new ProcessBuilder(line)
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            left.put(0, moment);
            attach("interrupt", "hotspot:class__loaded");
            attach("keep", "hotspot:vm__init__end");
        }

        private TypedMap<Integer, Long> number(String map) {
            return TypedMap.of(object.map(map), Codec.ofInt(), Codec.ofLong());
        }

        private void attach(String program, String probe) throws IOException {
            links.add(Usdt.of(object)
                    .attach(
                            object.program(program),
                            UsdtScan.ofFile(ChildJvm.libjvm()).matching(probe).probes(),
                            AttachOptions.defaults().withPid(Math.toIntExact(process.pid()))));
        }

        /** Lets it begin, and waits until it traces or has ended. */
        void begin() throws IOException, InterruptedException {
            process.outputWriter().write("\n");
            process.outputWriter().flush();
            Await.until("the command traces or has ended", () -> !process.isAlive() || traces());
        }

        private boolean traces() throws IOException {
            return Files.readString(err).contains("tracing 1 probe");
        }

        long left() {
            return left.get(0).orElseThrow();
        }

        /** Whether the JVM was initialized before the signal came. */
        boolean initialized() {
            return number("left_when_initialized").get(0).orElseThrow() > 0;
        }

        Commands.Result end() throws IOException, InterruptedException {
            if (left() > 0) {
                left.put(0, 0L); // one signal is enough
                Commands.check(List.of("kill", "-INT", Long.toString(process.pid())));
            }
            int code = process.waitFor();
            return new Commands.Result(
                    code, Files.readString(out, StandardCharsets.UTF_8), Files.readString(err, StandardCharsets.UTF_8));
        }

        @Override
        public void close() {
            Processes.end(process);
            links.forEach(UsdtLink::close);
            object.close();
        }
    }

    @Test
    void nothingIsPrintedButWhatTheCommandSays() throws IOException, InterruptedException {
        long all;
        try (Start start = new Start(Long.MAX_VALUE)) {
            start.begin();
            all = Long.MAX_VALUE - start.left();
            assertThat(start.initialized()).isTrue();
            requirePlain(start.end(), "after " + all + " classes");
        }
        int initialized = 0;
        for (int i = 0; i < MOMENTS; i++) {
            long moment = 1 + all * i / MOMENTS;
            try (Start start = new Start(moment)) {
                start.begin();
                Commands.Result result = start.end();
                String when = "at class " + moment + " of " + all;
                // The probe comes before the last phases of the initialization, in which the JVM has no other sign.
                if (start.initialized() && !result.err().startsWith(DURING_INITIALIZATION)) {
                    initialized++;
                    requirePlain(result, when);
                } else {
                    assertThat(result.exitCode()).as(when + ": " + result).isIn(128 + INTERRUPT, 1);
                    assertThat(result.out()).as(when).isEmpty();
                    assertThat(result.err()).as(when).doesNotContain("bpf4j");
                }
            }
        }
        assertThat(initialized).as("interrupted after the JVM was initialized").isGreaterThan(MOMENTS / 4);
    }

    /** Ended by the signal without a word, or an orderly end after the message that it traces. */
    private static void requirePlain(Commands.Result result, String when) {
        String what = "interrupted " + when + ": " + result;
        if (result.exitCode() == 0) {
            assertThat(result.err()).as(what).matches("bpf4j: tracing 1 probe.*\n");
            assertThat(result.out()).as(what).isEqualTo("0 events\n");
        } else {
            assertThat(result.exitCode()).as(what).isEqualTo(128 + INTERRUPT);
            assertThat(result.err() + result.out()).as(what).isEmpty();
        }
    }
}
