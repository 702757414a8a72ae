package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WhySilentTest {
    private static final OptionalInt SEVEN = OptionalInt.of(7);

    private static final Diagnostic LACKING = new Diagnostic(
            Kind.MAY_NOT_FIRE,
            "DTraceMethodProbes",
            "probes such as hotspot:method__entry won't fire: process 7 was started without -XX:+DTraceMethodProbes");

    private static final Diagnostic NEEDED = new Diagnostic(
            Kind.MAY_NOT_FIRE,
            "DTraceMethodProbes",
            "probes such as hotspot:method__entry fire only in a JVM that was started with -XX:+DTraceMethodProbes");

    private static final Diagnostic CHILDREN =
            new Diagnostic(Kind.LEFT_OUT, "process 7", "no event came from process 7, which has child processes");

    @TempDir
    Path proc;

    private WhySilent silence = new WhySilent(Host.running());

    @BeforeEach
    void makeProcess() throws IOException {
        Files.createDirectories(proc.resolve("7/task/7"));
        start("java\0Main\0");
        startedAt(1000);
        haveChildren("");
        silence = new WhySilent(Host.running().withProc(proc));
    }

    @Test
    void aFlagThatAProcessLacksIsSaidThoughOtherProbesFire() throws IOException {
        silence.attached(probes("gc__begin", "method__entry"), SEVEN);
        silence.attached(probes("method__return"), SEVEN);
        assertThat(silence.reasons(() -> false)).containsExactly(LACKING);
        end();
        assertThat(silence.reasons(() -> false)).as("it has ended").containsExactly(LACKING);
        assertThat(silence.reasons(() -> true)).containsExactly(LACKING);
    }

    @Test
    void nothingIsSaidOfAProcessThatHasEndedNorOfTheNextWithItsNumber() throws IOException {
        silence.attached(probes("method__entry"), SEVEN);
        end();
        assertThat(silence.reasons(() -> false)).isEmpty();
        assertThat(silence.reasons(() -> true)).containsExactly(NEEDED);

        silence = new WhySilent(Host.running().withProc(proc));
        start("java\0Main\0");
        startedAt(1000);
        silence.attached(probes("method__entry"), SEVEN);
        startedAt(2000);
        assertThat(silence.reasons(() -> false)).isEmpty();
        assertThat(silence.reasons(() -> true)).containsExactly(NEEDED);
    }

    @Test
    void aFlagThatSomeProcessMayHaveIsSaidOnlyWithoutEvents() {
        silence.attached(probes("gc__begin", "method__entry"), OptionalInt.empty());
        silence.attached(probes("method__return"), OptionalInt.empty());
        assertThat(silence.reasons(() -> false)).isEmpty();
        assertThat(silence.reasons(() -> true)).containsExactly(NEEDED);
    }

    @Test
    void optionsInAFileAreNotKnown() throws IOException {
        start("java\0@options\0Main\0");
        silence.attached(probes("method__entry"), SEVEN);
        assertThat(silence.reasons(() -> false)).isEmpty();
        assertThat(silence.reasons(() -> true)).containsExactly(NEEDED);
    }

    @Test
    void theFlagThatIsThere() throws IOException {
        start("java\0-XX:+DTraceMethodProbes\0Main\0");
        silence.attached(probes("method__entry"), SEVEN);
        assertThat(silence.reasons(() -> true)).isEmpty();
    }

    /** It may be a shell before its exec, or the fork of another one. */
    @Test
    void ofProcessesThatAppearOnlyTheFirstIsKnown() {
        silence.follows(Target.process(8).withChildren());
        silence.attached(probes("method__entry"), SEVEN);
        assertThat(silence.reasons(() -> false)).isEmpty();
        assertThat(silence.reasons(() -> true)).containsExactly(NEEDED);
        silence = new WhySilent(Host.running().withProc(proc));
        silence.follows(Target.process(7).withChildren());
        silence.attached(probes("method__entry"), SEVEN);
        assertThat(silence.reasons(() -> false)).containsExactly(LACKING);
    }

    @Test
    void childrenAreSaidOnlyWithoutEventsAndIfTheyAreNotFollowed() throws IOException {
        AtomicBoolean asked = new AtomicBoolean();
        silence.attached(List.of(), SEVEN);
        assertThat(silence.reasons(() -> asked.getAndSet(true))).isEmpty();
        assertThat(asked).as("an answer is read only if it matters").isFalse();
        haveChildren("8 9 ");
        assertThat(silence.reasons(() -> true)).containsExactly(CHILDREN);
        assertThat(silence.reasons(() -> false)).isEmpty();

        silence = new WhySilent(Host.running().withProc(proc));
        silence.follows(Target.process(7));
        silence.attached(List.of(), SEVEN);
        assertThat(silence.reasons(() -> true)).containsExactly(CHILDREN);

        silence = new WhySilent(Host.running().withProc(proc));
        silence.follows(Target.process(7).withChildren());
        silence.attached(List.of(), SEVEN);
        assertThat(silence.reasons(() -> true)).isEmpty();
    }

    @Test
    void aProcessThatHasEndedMayHaveHadChildren() throws IOException {
        silence.follows(Target.command("true"));
        silence.attached(List.of(), OptionalInt.of(8));
        assertThat(silence.reasons(() -> false)).isEmpty();
        assertThat(silence.reasons(() -> true))
                .containsExactly(new Diagnostic(
                        Kind.LEFT_OUT,
                        "process 8",
                        "no event came from process 8, and not from child processes that it may have had"));

        silence = new WhySilent(Host.running().withProc(proc));
        silence.follows(Target.command("true").withChildren());
        silence.attached(List.of(), OptionalInt.of(8));
        assertThat(silence.reasons(() -> true)).isEmpty();
    }

    private void start(String commandLine) throws IOException {
        Files.writeString(proc.resolve("7/cmdline"), commandLine);
        Files.writeString(proc.resolve("7/environ"), "");
    }

    /** The time at which the process has started, as {@code /proc/PID/stat} has it. */
    private void startedAt(long time) throws IOException {
        Files.writeString(proc.resolve("7/stat"), "7 (java) S" + " 0".repeat(18) + " " + time + " 0 0\n");
    }

    private void end() throws IOException {
        for (String file : List.of("cmdline", "environ", "stat")) {
            Files.delete(proc.resolve("7").resolve(file));
        }
    }

    private void haveChildren(String children) throws IOException {
        Files.writeString(proc.resolve("7/task/7/children"), children);
    }

    private static List<UsdtProbe> probes(String... names) {
        UsdtBinary binary = UsdtBinary.of(Path.of("/jdk/libjvm.so"), Machine.X86_64, new FileIdentity(1, 2, 3, 4));
        return Stream.of(names)
                .map(name -> UsdtProbe.of(binary, "hotspot", name, List.of(UsdtSite.at(1, 1))))
                .toList();
    }
}
