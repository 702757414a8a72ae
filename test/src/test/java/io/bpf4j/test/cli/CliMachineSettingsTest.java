package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.OWN_MACHINE;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.YAMA;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Settings of a machine that take rights away from processes without capabilities. They hold for the whole machine, so
 * this runs in one of its own.
 */
@Requires({BPF, BPF_COOKIE, GCC, OWN_MACHINE, SDT_H})
@Timeout(1200) // for what hangs, in an emulated machine
class CliMachineSettingsTest {
    private static final Path PARANOID = Path.of("/proc/sys/kernel/perf_event_paranoid");
    private static final Path UNPRIVILEGED = Path.of("/proc/sys/kernel/unprivileged_bpf_disabled");
    private static final Path SCOPE = Path.of("/proc/sys/kernel/yama/ptrace_scope");

    /** A setting; closing sets it back. */
    private record Setting(Path file, String before) implements AutoCloseable {
        static Setting of(Path file, String value) throws IOException {
            Setting setting = new Setting(file, Files.readAllLines(file).getFirst());
            Files.writeString(file, value);
            assertThat(Files.readAllLines(file)).containsExactly(value);
            return setting;
        }

        @Override
        public void close() throws IOException {
            Files.writeString(file, before);
        }
    }

    private static Commands.Result with(String capabilities, String... arguments)
            throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of("setpriv", "--inh-caps=-all", "--bounding-set=-all" + capabilities, "--"));
        command.addAll(Cli.command(arguments));
        return Commands.run(command);
    }

    private static Commands.Result count(String capabilities, String... options)
            throws IOException, InterruptedException {
        List<String> arguments =
                new ArrayList<>(List.of("count", SteadyProgram.compile().toString(), "steady:beat", "--duration", "1"));
        arguments.addAll(List.of(options));
        return with(capabilities, arguments.toArray(String[]::new));
    }

    /** Of a process of the same user without capabilities: whoever has some more may read its files. */
    private static Commands.Result follow(String capabilities) throws IOException, InterruptedException {
        try (SteadyProgram target = SteadyProgram.start(
                SteadyProgram.compile(), "setpriv", "--inh-caps=-all", "--bounding-set=-all", "--")) {
            String pid = Integer.toString(target.pid());
            return with(capabilities, "count", "--follow", "-p", pid, "steady:beat", "--duration", "1");
        }
    }

    /** Capabilities are enough, whatever the setting. */
    @Test
    void theStrictestSettingOfPerfEvents() throws IOException, InterruptedException {
        try (Setting _ = Setting.of(PARANOID, "3")) {
            Commands.Result result = count(",+bpf,+perfmon,+sys_admin", "--strategy", "cookie");
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(Cli.oneLine(count(",+bpf", "--strategy", "cookie"), 1))
                    .contains("this process lacks CAP_PERFMON");
        }
    }

    /** 1 can't be taken back before the machine is started again; it means the same. */
    @ParameterizedTest
    @ValueSource(strings = {"0", "2"})
    void bpfForEverybodyOrNobody(String value) throws IOException, InterruptedException {
        try (Setting _ = Setting.of(UNPRIVILEGED, value)) {
            Commands.Result result = count(",+bpf,+perfmon,+sys_admin");
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(Cli.oneLine(count(",+perfmon"), 1)).contains("this process lacks CAP_BPF");
        }
    }

    /** 3 can't be taken back: no process holds another then, and it is polled. */
    @Test
    @Requires(YAMA)
    void whoeverHasTheCapabilityHoldsAnyProcess() throws IOException, InterruptedException {
        try (Setting _ = Setting.of(SCOPE, "2")) {
            Commands.Result result = follow(",+bpf,+perfmon,+sys_admin,+sys_ptrace");
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).contains("events").doesNotContain("not exact");
        }
    }

    @Test
    @Requires(YAMA)
    void whoeverHasNotIsToldSo() throws IOException, InterruptedException {
        try (Setting _ = Setting.of(SCOPE, "1")) {
            Commands.Result result = follow(",+bpf,+perfmon,+sys_admin");
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).contains("not exact", "EPERM", "this process lacks CAP_SYS_PTRACE");
        }
    }
}
