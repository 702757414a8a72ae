package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.CGROUP2;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.PROMTOOL;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.test.support.AskedProgram;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.ControlGroup;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Refusal;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningAgent;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The agent, asked as Prometheus asks it, about programs whose events are known. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@Timeout(600) // for what hangs
class CliExportTest {
    private static final int FOR_ALL = 0666;
    private static final int NOBODY = 65_534;

    @TempDir
    private static Path folder;

    private static AskedProgram asked;

    @BeforeAll
    static void compile() throws IOException {
        asked = AskedProgram.in(folder);
    }

    @Test
    void theMetricsAreTheEventsOfTheProgram() throws IOException, InterruptedException {
        Path config = asked.config(
                "# three kinds of questions",
                "asked.values --help 'Values.' count FILE asked:value --by 'str(arg1)' --label 'colour=str(arg1)'",
                "sizes hist FILE asked:value --of arg0 --linear 0:300:100 --constant where=here",
                "pairs latency FILE asked:begin \\\n   asked:end --bounds 1ms,10s");
        try (RunningAgent agent = new RunningAgent(config)) {
            assertThat(agent.scrape())
                    .containsEntry("sizes_count{where=\"here\"}", 0.0)
                    .containsEntry("bpf4j_question_up{question=\"asked.values\"}", 1.0)
                    .containsEntry("bpf4j_config_last_reload_successful", 1.0)
                    .doesNotContainKey("asked_values_total{colour=\"red\"}");
            asked.run("values", "300");
            asked.run("pairs", "5", "2000");
            assertThat(agent.scrape())
                    .containsEntry("asked_values_total{colour=\"red\"}", 100.0)
                    .containsEntry("asked_values_total{colour=\"green\"}", 100.0)
                    .containsEntry("asked_values_total{colour=\"blue\"}", 100.0)
                    .containsEntry("asked_values_exact", 1.0)
                    .containsEntry("sizes_count{where=\"here\"}", 300.0)
                    .containsEntry("sizes_sum{where=\"here\"}", 299 * 300 / 2.0)
                    .containsEntry("sizes_bucket{where=\"here\",le=\"99.0\"}", 100.0)
                    .containsEntry("pairs_seconds_count", 5.0)
                    .containsEntry("pairs_gaps_total{gap=\"unpaired_ends\"}", 1.0);
            assertThat(agent.scrape().get("pairs_seconds_sum")).isGreaterThanOrEqualTo(0.01);
            assertThat(agent.get("/metrics").body()).contains("# HELP asked_values_total Values.");
            assertThat(agent.get("/healthz").body()).isEqualTo("ok\n");
            agent.process().signal("TERM");
            Commands.Result end = agent.process().await();
            assertThat(end.exitCode()).as(end.err()).isZero();
            assertThat(end.out()).isEmpty();
            assertThat(end.err().lines())
                    .allMatch(line -> line.startsWith("bpf4j: "))
                    .noneMatch(line -> line.contains("still attached"));
        }
    }

    @Test
    void aQuestionThatStaysGoesOnCounting() throws IOException, InterruptedException {
        String values = asked.about("values count FILE asked:value");
        Path config = asked.config(values, "begins count FILE asked:begin");
        try (RunningAgent agent = new RunningAgent(config)) {
            asked.run("values", "10");
            asked.run("pairs", "2", "0");
            assertThat(agent.scrape()).containsEntry("values_total", 10.0).containsEntry("begins_total", 3.0);
            Files.writeString(config, asked.about("ends count FILE asked:end\n\n") + values + "\n");
            agent.reload(config + ": serving 2 questions");
            asked.run("values", "10");
            asked.run("pairs", "2", "0");
            assertThat(agent.scrape())
                    .containsEntry("values_total", 20.0)
                    .containsEntry("ends_total", 3.0)
                    .doesNotContainKey("begins_total");
        }
    }

    /** As under nohup: SIGHUP is no end for an agent, and reads the file. */
    @Test
    void anIgnoredHangUpReadsTheFileToo() throws IOException, InterruptedException {
        Path config = asked.config("values count FILE asked:value");
        List<String> command = new ArrayList<>(List.of("env", "--ignore-signal=HUP"));
        command.addAll(Cli.command("export", "--config", config.toString(), "--listen", "0"));
        try (RunningAgent agent = new RunningAgent(new RunningTrace(command))) {
            Files.writeString(config, asked.about("ends count FILE asked:end\n"));
            agent.reload(config + ": serving 1 question");
            assertThat(agent.scrape()).containsKey("ends_total").doesNotContainKey("values_total");
        }
    }

    @Test
    void aWrongFileChangesNothing() throws IOException, InterruptedException {
        String values = asked.about("values count FILE asked:value");
        Path config = asked.config(values);
        try (RunningAgent agent = new RunningAgent(config)) {
            asked.run("values", "10");
            Files.writeString(config, asked.about("values count FILE\nothers count FILE asked:value --json\n"));
            agent.reload(config + " was not taken");
            agent.process().awaitMessage(config + ":1: name the probes to trace");
            agent.process().awaitMessage(config + ":2: --json can't be used here");
            // Well formed, but one question can't be asked.
            Files.writeString(config, asked.about("values count FILE asked:begin\nothers count FILE asked:none\n"));
            agent.reload(config + ":2: others: ");
            asked.run("values", "10");
            Map<String, Double> samples = Await.until(
                    "the end of the second attempt",
                    agent::scrape,
                    seen -> seen.getOrDefault("bpf4j_config_last_reload_successful", 1.0) == 0);
            assertThat(samples).containsEntry("values_total", 20.0).doesNotContainKey("others_total");
            assertThat(agent.get("/healthz").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void labelsThatExplodeAreLimited() throws IOException, InterruptedException {
        try (RunningAgent agent =
                new RunningAgent(asked.config("fast --max-series 10 count FILE asked:fast --by arg0"))) {
            asked.run("fast", "1", "500");
            Map<String, Double> samples = agent.scrape();
            assertThat(samples.keySet())
                    .filteredOn(name -> name.startsWith("fast_total"))
                    .hasSize(11);
            assertThat(samples)
                    .containsEntry("fast_total{arg0=\"other\"}", 490.0)
                    .containsEntry("fast_folded_series_total", 490.0)
                    .containsEntry("fast_exact", 1.0);
        }
    }

    @Test
    void aProcessThatEndsIsNotHealthy() throws IOException, InterruptedException {
        try (TargetProgram target = TargetProgram.start("-O2");
                RunningAgent agent = new RunningAgent(asked.config(
                        "ended count -p " + target.pid() + " target:sizes", "values count FILE asked:value"))) {
            String answer = target.command("sizes 3");
            assertThat(answer).isNotEmpty();
            assertThat(agent.scrape()).containsEntry("ended_total", 3.0);
            Commands.check(List.of("kill", "-KILL", String.valueOf(target.pid())));
            Processes.awaitEnd(target.pid());
            HttpResponse<String> health = Await.until(
                    "the agent has noticed it", () -> agent.get("/healthz"), response -> response.statusCode() == 503);
            assertThat(health.body()).isEqualTo("ended: the process of the question has ended\n");
            assertThat(agent.scrape())
                    .doesNotContainKey("ended_total")
                    .containsEntry("bpf4j_question_up{question=\"ended\"}", 0.0)
                    .containsEntry("bpf4j_question_up{question=\"values\"}", 1.0)
                    .containsEntry("values_total", 0.0);
        }
    }

    @Test
    void theKernelSaysWhatAQuestionCosts() throws IOException, InterruptedException {
        try (RunningAgent agent = new RunningAgent(asked.config("values count FILE asked:value"), "--statistics")) {
            asked.run("values", "10");
            Map<String, Double> samples = agent.scrape();
            assertThat(samples)
                    .containsEntry("bpf4j_question_program_runs_total{question=\"values\"}", 10.0)
                    .containsEntry("bpf4j_question_attached_probes{question=\"values\"}", 1.0)
                    .doesNotContainKey("bpf4j_question_processes{question=\"values\"}");
            assertThat(samples.get("bpf4j_question_program_run_seconds_total{question=\"values\"}"))
                    .isPositive();
            assertThat(samples.get("bpf4j_question_attached_sites{question=\"values\"}"))
                    .isPositive();
        }
    }

    @Test
    void aQuestionThatCostsTooMuchIsSuspendedAndItsCountsStay() throws IOException, InterruptedException {
        try (RunningAgent agent = new RunningAgent(
                asked.config("fast count FILE asked:fast --by comm", "values count FILE asked:value"),
                "--max-cpu",
                "0.000001")) {
            HttpResponse<String> health = Await.until(
                    "a suspension",
                    () -> {
                        asked.run("fast", "1", "500");
                        return agent.get("/healthz");
                    },
                    response -> response.statusCode() == 503);
            assertThat(health.body()).startsWith("fast: suspended: its BPF programs took ");
            agent.process().awaitMessage("bpf4j: fast: suspended: its BPF programs took ");
            double before = Await.until("the end of a detachment", agent::scrape, CliExportTest::isDetached)
                    .getOrDefault("fast_total{comm=\"asked\"}", 0.0);
            assertThat(before).isPositive();
            asked.run("fast", "1", "500");
            asked.run("values", "10");
            assertThat(agent.scrape())
                    .containsEntry("fast_total{comm=\"asked\"}", before)
                    .containsEntry("fast_exact", 0.0)
                    .containsEntry("bpf4j_question_up{question=\"fast\"}", 0.0)
                    .containsEntry("bpf4j_question_suspended{question=\"fast\"}", 1.0)
                    .containsEntry("values_exact", 1.0)
                    .containsEntry("values_total", 10.0);
            double after = Await.until(
                    "counts that go on",
                    () -> {
                        agent.process().signal("HUP");
                        asked.run("fast", "1", "500");
                        double now = agent.scrape().getOrDefault("fast_total{comm=\"asked\"}", 0.0);
                        assertThat(now).isGreaterThanOrEqualTo(before);
                        return now;
                    },
                    now -> now > before);
            assertThat(after).isGreaterThan(before);
            agent.process().awaitMessage("bpf4j: fast: resumed");
        }
    }

    /** What is detached has no site, and its answer can still be read. */
    private static boolean isDetached(Map<String, Double> samples) {
        return samples.getOrDefault("bpf4j_question_attached_sites{question=\"fast\"}", 1.0) == 0;
    }

    @Test
    void promtoolFindsNothingToSay() throws IOException, InterruptedException {
        Requirement.insistOn(List.of(PROMTOOL));
        try (RunningAgent agent = new RunningAgent(
                asked.config(
                        "values count FILE asked:value --by pid",
                        "pairs --help 'How long.' latency FILE asked:begin asked:end"),
                "--statistics")) {
            asked.run("values", "10");
            Path scraped = Files.writeString(
                    folder.resolve("scraped"), agent.get("/metrics").body());
            Commands.Result result =
                    Commands.run(new ProcessBuilder("promtool", "check", "metrics").redirectInput(scraped.toFile()));
            assertThat(result).isEqualTo(new Commands.Result(0, "", ""));
        }
    }

    private static Path copy(String name) throws IOException {
        return Files.copy(asked.file(), folder.resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
    }

    /** As a package manager does. */
    private static void replace(Path file) throws IOException {
        Files.move(copy("next"), file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Processes of the old file go on to be counted, those of the new one are, and no count becomes less. */
    @Test
    void aFileThatIsReplacedIsCountedWithTheOneInItsPlace() throws IOException, InterruptedException {
        Path replaced = copy("replaced");
        Process old = new ProcessBuilder(replaced.toString(), "later", "1", "100").start();
        try (Processes.Ended _ = Processes.endAfterwards(old);
                RunningAgent agent = new RunningAgent(asked.config(
                        "values count " + replaced + " asked:value",
                        "fast count " + replaced + " asked:fast",
                        "calls count u:" + replaced + ":main"))) {
            Commands.check(List.of(replaced.toString(), "values", "10"));
            Map<String, Double> before = agent.scrape();
            assertThat(before)
                    .containsEntry("values_total", 10.0)
                    .containsEntry("values_exact", 1.0)
                    .containsEntry("calls_total", 1.0);
            replace(replaced);
            for (String question : List.of("values", "fast", "calls")) {
                agent.process().awaitMessage("bpf4j: " + question + ": also tracing 1 probe of files that replaced");
            }
            Commands.check(List.of(replaced.toString(), "values", "5"));
            old.getOutputStream().write('\n');
            old.getOutputStream().close();
            assertThat(old.waitFor()).isZero();
            assertThat(agent.scrape())
                    .containsEntry("values_total", 15.0)
                    .containsEntry("fast_total", 100.0)
                    .containsEntry("calls_total", 2.0)
                    .containsEntry("values_exact", 0.0)
                    .containsEntry("bpf4j_question_up{question=\"values\"}", 1.0);
            assertThat(agent.get("/healthz").body())
                    .startsWith("ok\nvalues: not exact: " + replaced + " was replaced at about ")
                    .contains(", and the new file was attached to at about ");
        }
    }

    /** The owner of a directory may put a file there that the questions were not meant to be about. */
    @Test
    void aFileOfAnotherUserOrPlaceIsNotAttachedTo() throws IOException, InterruptedException {
        Path owned = copy("owned");
        Path linked = copy("linked");
        Path elsewhere = copy("elsewhere");
        try (RunningAgent agent = new RunningAgent(
                asked.config("owned count " + owned + " asked:value", "linked count u:" + linked + ":main"))) {
            Path other = Files.copy(owned, folder.resolve("of-another-user"));
            Files.setAttribute(other, "unix:uid", 65_534);
            Files.move(other, owned, StandardCopyOption.ATOMIC_MOVE);
            Path link = Files.createSymbolicLink(folder.resolve("link"), elsewhere);
            Files.move(link, linked, StandardCopyOption.ATOMIC_MOVE);
            for (Path replaced : List.of(owned, linked)) {
                agent.process()
                        .awaitMessage("the file that replaced " + replaced
                                + " belongs to another user, or is a link to another file of root");
            }
            Commands.check(List.of(elsewhere.toString(), "values", "10"));
            assertThat(agent.scrape())
                    .containsEntry("owned_total", 0.0)
                    .containsEntry("linked_total", 0.0)
                    .containsEntry("linked_exact", 0.0);
        }
    }

    /** Breakpoints belong to the inode: one that was written has them already. */
    @Test
    void aFileThatWasWrittenIsNotAttachedToTwice() throws IOException, InterruptedException {
        Path written = copy("written");
        Path replaced = copy("beside");
        try (RunningAgent agent =
                new RunningAgent(asked.config("values count " + written + " " + replaced + " asked:value"))) {
            Files.setLastModifiedTime(written, FileTime.fromMillis(0));
            replace(replaced);
            agent.process().awaitMessage("bpf4j: values: also tracing 1 probe of files that replaced");
            Commands.check(List.of(written.toString(), "values", "10"));
            Commands.check(List.of(replaced.toString(), "values", "5"));
            assertThat(agent.scrape()).containsEntry("values_total", 15.0).containsEntry("values_exact", 0.0);
        }
    }

    @Test
    void aFileWithoutTheProbeLeavesTheOldOneAttached() throws IOException, InterruptedException {
        Path replaced = copy("replaced-by-another");
        try (RunningAgent agent = new RunningAgent(asked.config("values count " + replaced + " asked:value"))) {
            Commands.check(List.of(replaced.toString(), "values", "10"));
            Path other = Files.copy(Path.of("/bin/true"), folder.resolve("other"));
            Files.move(other, replaced, StandardCopyOption.ATOMIC_MOVE);
            agent.process().awaitMessage("bpf4j: values: the file that replaced " + replaced);
            assertThat(agent.scrape()).containsEntry("values_total", 10.0).containsEntry("values_exact", 0.0);
            assertThat(agent.get("/healthz").body())
                    .startsWith("ok\n")
                    .contains("values: not exact: " + replaced + " was replaced at about ")
                    .contains("values: not exact: the file that replaced " + replaced + " is not attached to: ");
            // What is put right is taken at one of the next attempts.
            replace(replaced);
            agent.process().awaitMessage("bpf4j: values: also tracing 1 probe of files that replaced");
            Commands.check(List.of(replaced.toString(), "values", "10"));
            assertThat(agent.scrape()).containsEntry("values_total", 20.0);
        }
    }

    /** A group need not have a process when the agent starts. */
    @Test
    @Requires(CGROUP2)
    void processesMayComeLater() throws IOException, InterruptedException {
        try (ControlGroup group = ControlGroup.create("exported");
                RunningAgent agent =
                        new RunningAgent(asked.config("values count -p cgroup=" + group.path() + " asked:fast"))) {
            assertThat(agent.get("/healthz").statusCode()).isEqualTo(200);
            agent.process().awaitMessage("bpf4j: values: no process is in the control groups");
            Process later =
                    new ProcessBuilder("sh", "-c", group.enter() + "; exec " + asked.file() + " later 1 100").start();
            try (Processes.Ended _ = Processes.endAfterwards(later)) {
                agent.process().awaitMessage("bpf4j: values: tracing 1 probe");
                later.getOutputStream().write('\n');
                later.getOutputStream().close();
                assertThat(later.waitFor()).isZero();
                assertThat(agent.scrape())
                        .containsEntry("values_total", 100.0)
                        .containsEntry("values_exact", 0.0); // it may have fired before it was found
                assertThat(agent.get("/healthz").body()).startsWith("ok\nvalues: not exact: ");
            }
        }
    }

    /** The name is that of a container of a runtime that doesn't use systemd. */
    @Test
    @Requires(CGROUP2)
    void theSeriesOfAnEndedContainerEndsAndComesBack() throws IOException, InterruptedException {
        String id = "3f2a9c0d1e4b" + "5".repeat(52);
        try (ControlGroup runtime = ControlGroup.create("ended");
                RunningAgent agent =
                        new RunningAgent(asked.config("fast --stale-after 0 count FILE asked:fast --by container"))) {
            // The tests may run in a container, to which all groups that are made there belong. It does not end.
            Matcher around = Pattern.compile("[0-9a-f]{64}").matcher(runtime.path());
            boolean inContainer = around.find();
            String series = "fast_total{container=\"" + (inContainer ? around.group() : id) + "\"}";
            for (double round = 1; round <= 2; round++) {
                double events = 100 * round;
                try (ControlGroup container = runtime.below(id)) {
                    Commands.check(List.of("sh", "-c", container.enter() + "; exec " + asked.file() + " fast 1 100"));
                    // The name of a group is looked for a few times a second at most. Until then its events stand
                    // in another series, also where that of the container around is there already.
                    Await.until(
                            events + " events in " + series,
                            agent::scrape,
                            seen -> seen.getOrDefault(series, 0.0) == events);
                    assertThat(agent.scrape()).as("the container is there").containsEntry(series, events);
                }
                if (inContainer) {
                    assertThat(agent.scrape())
                            .as("the container around is there")
                            .containsEntry(series, events);
                } else {
                    Await.until("the end of the series", agent::scrape, samples -> !samples.containsKey(series));
                }
            }
            assertThat(agent.scrape()).containsEntry("fast_exact", 1.0);
        }
    }

    @Test
    void whatCanNotBeAskedEndsTheCommand() throws IOException, InterruptedException {
        Path config = asked.config(
                "values count FILE asked:value",
                "none count FILE asked:none",
                "labels count FILE asked:value --by arg9",
                "gone count -p 2147483647 asked:value");
        Commands.Result result = Cli.run("export", "--config", config.toString(), "--listen", "0");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err())
                .contains(config + ":2: none: ")
                .contains(config + ":3: labels: ")
                .contains(config + ":4: gone: no process 2147483647")
                .doesNotContain("serving");
    }

    /** It has no mistake that could be found without the kernel. */
    @Test
    void aQuestionThatTheKernelRefusesEndsTheCommand() throws IOException, InterruptedException {
        Path config = asked.config("# one question", "values count FILE asked:value");
        String[] arguments = {"export", "--config", config.toString(), "--listen", "0"};
        for (Refusal call : List.of(Refusal.MAP_CREATE, Refusal.PROG_LOAD, Refusal.LINK_CREATE)) {
            Commands.Result result = Commands.run(Cli.refusing(call, Errno.EPERM, arguments));
            assertThat(result.exitCode()).as(result.err()).isEqualTo(1);
            assertThat(result.err())
                    .contains(config + ":2: values: ")
                    .contains("EPERM")
                    .contains("seccomp")
                    .doesNotContain("serving")
                    .doesNotContain("Exception");
        }
    }

    @Test
    void aTakenAddressIsSaidBeforeAnythingIsAttached() throws IOException, InterruptedException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String address = "127.0.0.1:" + taken.getLocalPort();
            assertThat(Cli.fail(
                            "export",
                            "--config",
                            asked.config("values count FILE asked:value").toString(),
                            "--listen",
                            address))
                    .isEqualTo("bpf4j: can't listen at " + address + ": Address already in use");
        }
    }

    @Test
    void aFileThatAnotherUserCanChangeIsRefused() throws IOException, InterruptedException {
        Path config = asked.config("values count FILE asked:value");
        Files.setAttribute(config, "unix:mode", FOR_ALL);
        for (String option : List.of("--config", "--check")) {
            assertThat(Cli.fail("export", option, config.toString()))
                    .startsWith("bpf4j: " + config + ": another user can change this file")
                    .contains(config + " can be written by others");
        }
        Files.setAttribute(config, "unix:mode", 0600);
        Files.setAttribute(config, "unix:uid", NOBODY);
        assertThat(Cli.fail("export", "--config", config.toString()))
                .contains(config + " belongs to user " + NOBODY + "; bpf4j runs as user 0");
    }

    @Test
    void aPipeIsNotWaitedFor() throws IOException, InterruptedException {
        Path pipe = folder.resolve("pipe");
        Commands.check(List.of("mkfifo", pipe.toString()));
        assertThat(Cli.fail("export", "--config", pipe.toString()))
                .isEqualTo("bpf4j: " + pipe + ": is not a regular file");
    }

    private static String page() throws IOException {
        return Files.readString(TargetProgram.testModule().resolve("../docs/fleet.md"));
    }

    private static String after(String text, String start, String end) {
        int from = text.indexOf(start) + start.length();
        assertThat(from).isGreaterThanOrEqualTo(start.length());
        return text.substring(from, text.indexOf(end, from));
    }

    @Test
    void theExampleOfThePageHasNoMistake() throws IOException, InterruptedException {
        Path config = asked.config(after(page(), "$ cat /etc/bpf4j/agent.conf\n", "\n\n$ "));
        assertThat(Cli.check("export", "--check", config.toString())).isEqualTo(config + ": 4 questions, no mistake\n");
    }

    private static List<String> withRights(String capabilities, String... arguments) {
        List<String> command = new ArrayList<>(
                List.of("setpriv", "--inh-caps=-all", "--bounding-set=-all" + capabilities, "--no-new-privs"));
        command.addAll(Cli.command(arguments));
        return command;
    }

    /** Nobody needs rights to look for mistakes. */
    @Test
    void aFileIsCheckedWithoutRights() throws IOException, InterruptedException {
        Path config = asked.config("values count --all asked:value --by pid", "wrong count asked:value");
        Commands.Result result = Commands.run(withRights("", "export", "--check", config.toString()));
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).isEqualTo("bpf4j: " + config + ":2: name a FILE, or give -p PID or --all\n");
    }
}
