package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.MOUNT_NAMESPACES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.USER_NAMESPACES;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a process with few rights is told, and what it can do with those that it has. The process stays the same user,
 * who may read the class path, and has only the capabilities given.
 */
@Requires({BPF, GCC, SDT_H, ASSEMBLER})
class CliRightsTest {
    private static Commands.Result with(String capabilities, List<String> command)
            throws IOException, InterruptedException {
        List<String> all =
                new ArrayList<>(List.of("setpriv", "--bounding-set=-all" + capabilities, "--inh-caps=-all", "--"));
        all.addAll(command);
        return Commands.run(all);
    }

    private static @Nullable Object support(List<Map<String, @Nullable Object>> lines, String feature) {
        return lines.stream()
                .filter(line -> feature.equals(line.get("feature")))
                .findFirst()
                .orElseThrow()
                .get("supported");
    }

    @Test
    void withoutRightsNothingIsSaidToBeMissing() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> root = Json.lines(Cli.check("features", "--json"));
        Commands.Result result = with("", Cli.command("features", "--json"));
        assertThat(result.exitCode()).as(result.err()).isZero();
        List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
        assertThat(lines).hasSameSizeAs(root).allSatisfy(line -> {
            String feature = String.valueOf(line.get("feature"));
            // An answer is the right one, or none.
            assertThat(line.get("supported")).as(line.toString()).isIn(support(root, feature), null);
        });
        assertThat(support(lines, "uprobe_multi_link")).isNull();
        assertThat(lines)
                .filteredOn(line -> line.get("supported") == null)
                .allSatisfy(line -> assertThat(String.valueOf(line.get("reason")))
                        .contains("EPERM")
                        .contains("CAP_"));
    }

    @Test
    void theTableSaysUnknownAndWhatWouldHelp() throws IOException, InterruptedException {
        Commands.Result result = with("", Cli.command("features"));
        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).containsPattern("uprobe_multi_link +unknown +6\\.6 .*EPERM");
        assertThat(result.err().lines())
                .anySatisfy(
                        line -> assertThat(line).contains("could not be tested").contains("CAP_BPF"))
                .hasSizeLessThan(4);
    }

    /**
     * CAP_NET_ADMIN and CAP_SYS_ADMIN are not among what tracing needs, so no answer that tracing needs hangs on them.
     */
    @Test
    void theRightsToTraceAreEnoughToAskForWhatTracingNeeds() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> root = Json.lines(Cli.check("features", "--json"));
        Commands.Result result = with(",+bpf,+perfmon", Cli.command("features", "--json"));
        assertThat(Json.lines(result.out())).allSatisfy(line -> {
            String feature = String.valueOf(line.get("feature"));
            if (feature.equals("run_statistics")) {
                assertThat(String.valueOf(line.get("reason"))).contains("CAP_SYS_ADMIN");
            } else {
                assertThat(line.get("supported")).as(line.toString()).isEqualTo(support(root, feature));
            }
        });
    }

    @Test
    void whatIsLoadedIsListedOnlyWithTheRight() throws IOException, InterruptedException {
        for (String command : List.of("prog", "map", "link", "btf")) {
            assertThat(Cli.oneLine(with("", Cli.command(command)), 1)).contains("this process lacks CAP_SYS_ADMIN;");
        }
        Commands.Result types = with("", Cli.command("btf", "dump", "vmlinux"));
        assertThat(types.exitCode()).as(types.err()).isZero();
        assertThat(types.out()).startsWith("[1] ");
    }

    @Test
    void theRightsToTraceAreEnoughToTrace() throws IOException, InterruptedException {
        String program = TargetProgram.compile("-O2").toString();
        Commands.Result result =
                with(",+bpf,+perfmon", Cli.command("trace", program, "target:sizes", "--duration", "1"));
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out() + result.err()).contains("0 events");
    }

    @ParameterizedTest
    @CsvSource({
        "'',              auto,   CAP_BPF,       CAP_SYS_ADMIN",
        "',+bpf',         auto,   CAP_PERFMON,   CAP_BPF",
        "',+perfmon',     multi,  CAP_BPF,       CAP_PERFMON",
        "',+bpf',         cookie, CAP_PERFMON,   CAP_BPF",
    })
    void theCapabilityThatIsMissingIsNamedAndNoOther(String has, String strategy, String lacks, String other)
            throws IOException, InterruptedException {
        String program = TargetProgram.compile("-O2").toString();
        String message = Cli.oneLine(
                with(has, Cli.command("trace", program, "target:sizes", "--strategy", strategy, "--duration", "1")), 1);
        assertThat(message).contains("this process lacks " + lacks + ";").doesNotContain(other);
    }

    /** Kernels since 6.16, and updates of older ones, ask for more at a single uprobe than at many (ba677dbe77af). */
    @Test
    void singleUprobesNeedMoreThanTheRightsToTraceOrWork() throws IOException, InterruptedException {
        String program = TargetProgram.compile("-O2").toString();
        Commands.Result result = with(
                ",+bpf,+perfmon",
                Cli.command("trace", program, "target:sizes", "--strategy", "cookie", "--duration", "1"));
        if (result.exitCode() != 0) {
            assertThat(Cli.oneLine(result, 1))
                    .contains("this process lacks CAP_SYS_ADMIN;", "CAP_PERFMON is enough for a uprobe_multi link")
                    .doesNotContain("policy");
        }
    }

    @Test
    @Requires(USER_NAMESPACES)
    void capabilitiesOfAUserNamespaceOfItsOwnAreNotTakenForTheMachines() throws IOException, InterruptedException {
        String program = TargetProgram.compile("-O2").toString();
        for (String strategy : List.of("auto", "cookie")) {
            List<String> command = new ArrayList<>(List.of("unshare", "-Ur", "--"));
            command.addAll(Cli.command("trace", program, "target:sizes", "--strategy", strategy, "--duration", "1"));
            assertThat(Cli.oneLine(Commands.run(command), 1))
                    .contains("in the initial user namespace, but this process is in another one")
                    .doesNotContain("policy");
        }
    }

    /** A policy may refuse even root to look into process 1; where none does, its files are listed. */
    @Test
    void whoMayNotLookIntoAProcessIsToldWhy() throws IOException, InterruptedException {
        assertThat(Cli.oneLine(with("", Cli.command("list", "-p", "1")), 1))
                .contains("/proc/1/maps", "this process lacks CAP_SYS_PTRACE;");
        Commands.Result root = Cli.run("list", "-p", "1");
        assertThat(root.err()).doesNotContain("this process lacks", "needs");
        if (root.err().contains("no permission")) {
            assertThat(root.err()).contains("/proc/1/maps", "so a policy of the kernel refuses");
        }
    }

    @Test
    @Requires(MOUNT_NAMESPACES)
    void aHiddenProcessIsNotSaidToBeGone() throws IOException, InterruptedException {
        Process other = new ProcessBuilder(
                        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "1000")
                .start();
        try (Processes.Ended _ = Processes.endAfterwards(other)) {
            // Until then it may be root's.
            ProcessState.awaitAsleep(other.pid(), "sleep");
            String pid = Long.toString(other.pid());
            List<String> command = new ArrayList<>(List.of(
                    "unshare",
                    "-m",
                    "sh",
                    "-ec",
                    "mount -t proc -o hidepid=2,gid=65534 proc /proc;"
                            + " exec setpriv --bounding-set=-all --inh-caps=-all -- \"$@\"",
                    "sh"));
            command.addAll(Cli.command("list", "-p", pid));
            assertThat(Cli.oneLine(Commands.run(command), 1))
                    .contains("no process " + pid + " that this user may see", "hidepid");
        }
    }

    @Test
    void aThreadIsNotTakenForAProcess() throws IOException, InterruptedException {
        long pid = ProcessHandle.current().pid();
        // The one that asks, so it is there: PID/task/TID. The launcher starts main in a second thread.
        String thread = String.valueOf(
                Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName());
        assertThat(thread).isNotEqualTo(Long.toString(pid));
        String expected = thread + " is a thread of process " + pid + ": give -p " + pid;
        assertThat(Cli.fail("list", "-p", thread)).contains(expected);
        assertThat(Cli.fail("trace", "-p", thread, "hotspot:gc__begin")).contains(expected);
    }
}
