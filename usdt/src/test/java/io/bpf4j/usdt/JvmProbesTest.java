package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JvmProbesTest {
    private static final List<UsdtProbe> PROBES =
            List.of(probe("gc__begin"), probe("method__entry"), probe("method__return"), probe("monitor__wait"));

    @TempDir
    Path proc;

    private Path process;

    @BeforeEach
    void makeProcess() throws IOException {
        process = Files.createDirectories(proc.resolve("7"));
    }

    @Test
    void mostProbesNeedNoFlag() {
        assertThat(JvmProbes.flagFor(probe("gc__begin"))).isEmpty();
        assertThat(JvmProbes.flagFor(probe("method__compile__begin"))).isEmpty();
        assertThat(JvmProbes.flagFor(probe("object__alloc"))).hasValue("DTraceAllocProbes");
        assertThat(JvmProbes.hints(List.of(probe("gc__begin")))).isEmpty();
    }

    @Test
    void aFileSaysWhatItsProcessesWouldNeed() {
        assertThat(JvmProbes.hints(PROBES))
                .extracting(Diagnostic::message)
                .containsExactly(
                        "probes such as hotspot:method__entry fire only in a JVM that was started with"
                                + " -XX:+DTraceMethodProbes",
                        "probes such as hotspot:monitor__wait fire only in a JVM that was started with"
                                + " -XX:+DTraceMonitorProbes");
    }

    @Test
    void aProcessSaysWhatItLacks() throws IOException {
        start("java\0-XX:+DTraceMethodProbes\0Main\0", "HOME=/\0");
        assertThat(JvmProbes.hints(PROBES, Host.running().withProc(proc), 7))
                .containsExactly(new Diagnostic(
                        Diagnostic.Kind.MAY_NOT_FIRE,
                        "DTraceMonitorProbes",
                        "probes such as hotspot:monitor__wait won't fire: process 7 was started without"
                                + " -XX:+DTraceMonitorProbes"));
        start("java\0-XX:+DTraceMethodProbes\0Main\0", "HOME=/\0JAVA_TOOL_OPTIONS=-Xmx1g -XX:+DTraceMonitorProbes\0");
        assertThat(JvmProbes.hints(PROBES, Host.running().withProc(proc), 7)).isEmpty();
    }

    @Test
    void theOldFlagIsAllOfThem() throws IOException {
        start("java\0-XX:+ExtendedDTraceProbes\0Main\0", "");
        assertThat(JvmProbes.hints(PROBES, Host.running().withProc(proc), 7)).isEmpty();
    }

    @Test
    void aProcessWhoseOptionsAreNotAllKnownLacksNothingForSure() throws IOException {
        List<Diagnostic> any = JvmProbes.hints(PROBES);
        assertThat(JvmProbes.hints(PROBES, Host.running().withProc(proc), 7)).isEqualTo(any);
        Files.writeString(process.resolve("cmdline"), "java\0Main\0");
        assertThat(JvmProbes.hints(PROBES, Host.running().withProc(proc), 7))
                .as("an environment that can't be read")
                .isEqualTo(any);
        start("", "");
        assertThat(JvmProbes.hints(PROBES, Host.running().withProc(proc), 7))
                .as("a process that has ended")
                .isEqualTo(any);
        for (String option : List.of("@options", "-XX:Flags=flags", "-XX:VMOptionsFile=options")) {
            start("java\0" + option + "\0Main\0", "");
            assertThat(JvmProbes.hints(PROBES, Host.running().withProc(proc), 7))
                    .as(option)
                    .isEqualTo(any);
            start("java\0Main\0", "JDK_JAVA_OPTIONS=" + option + "\0");
            assertThat(JvmProbes.hints(PROBES, Host.running().withProc(proc), 7))
                    .as(option + " in the environment")
                    .isEqualTo(any);
        }
    }

    private void start(String commandLine, String environment) throws IOException {
        Files.writeString(process.resolve("cmdline"), commandLine);
        Files.writeString(process.resolve("environ"), environment);
    }

    private static UsdtProbe probe(String name) {
        Path path = Path.of("/jdk/libjvm.so");
        UsdtBinary binary = UsdtBinary.of(path, Machine.X86_64, new FileIdentity(1, 2, 3, 4));
        return UsdtProbe.of(binary, "hotspot", name, List.of(UsdtSite.at(1, 1)));
    }
}
