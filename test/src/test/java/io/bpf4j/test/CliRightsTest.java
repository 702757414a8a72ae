package io.bpf4j.test;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What a process with few rights is told, and what it can do with those that it has. The process stays the same user, who
 * may read the class path, and has only the capabilities given.
 */
@Requires({BPF, GCC, SDT_H, X86_64})
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
                        line -> assertThat(line).contains("could not be asked").contains("CAP_BPF"))
                .hasSizeLessThan(4);
    }

    /** CAP_NET_ADMIN and CAP_SYS_ADMIN are not among what tracing needs, so no answer that tracing needs hangs on them. */
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
    void theRightsToTraceAreEnoughToTrace() throws IOException, InterruptedException {
        String program = TargetProgram.compile("-O2").toString();
        Commands.Result result =
                with(",+bpf,+perfmon", Cli.command("trace", program, "target:sizes", "--duration", "1"));
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out() + result.err()).contains("0 events");
    }
}
