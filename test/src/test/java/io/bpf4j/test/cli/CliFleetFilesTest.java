package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.CGROUP2;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.PROMTOOL;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.SYSTEMD_ANALYZE;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI_PROCESS;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.ControlGroup;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningAgent;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The files of docs/fleet, by which people run the agent. */
@Timeout(600) // for what hangs
class CliFleetFilesTest {
    private static final Path FILES =
            TargetProgram.testModule().resolve("../docs/fleet").normalize();
    private static final int NOBODY = 65_534;

    /** All that {@link #theseRightsAreEnough} gives the agent. */
    private static final Set<String> RIGHTS = Set.of("BPF", "PERFMON", "SYS_PTRACE");

    /** What a word of PromQL may be besides the name of a metric. */
    private static final Set<String> PROMQL = Set.of("rate", "time");

    @TempDir
    private static Path folder;

    private static String text(String file) throws IOException {
        return Files.readString(FILES.resolve(file));
    }

    private static String setting(String name) throws IOException {
        return text("bpf4j-export.service")
                .lines()
                .filter(line -> line.startsWith(name + "="))
                .map(line -> line.substring(name.length() + 1))
                .collect(Collectors.joining(" "));
    }

    /** A part of a document of maps and lists, by keys and numbers. */
    private static @Nullable Object at(@Nullable Object document, Object... path) {
        Object part = document;
        for (Object step : path) {
            part = part instanceof List<?> list
                    ? list.get((Integer) step)
                    : ((Map<?, ?>) Objects.requireNonNull(part, String.valueOf(step))).get(step);
        }
        return part;
    }

    /** The object of a kind in the manifest. */
    private static Object manifest(String kind) throws IOException {
        return StreamSupport.stream(yaml().loadAll(text("daemonset.yaml")).spliterator(), false)
                .filter(document -> kind.equals(at(document, "kind")))
                .findFirst()
                .orElseThrow();
    }

    private static Yaml yaml() {
        return new Yaml(new SafeConstructor(new LoaderOptions()));
    }

    private static Object pod() throws IOException {
        return Objects.requireNonNull(at(manifest("DaemonSet"), "spec", "template", "spec"));
    }

    private static Object container() throws IOException {
        return Objects.requireNonNull(at(pod(), "containers", 0));
    }

    private static List<String> texts(@Nullable Object list) {
        return ((List<?>) Objects.requireNonNull(list))
                .stream().map(String::valueOf).toList();
    }

    private static Path config(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    @Test
    void bothGiveTheRightsThatAreTested() throws IOException {
        Set<String> service = Stream.of(setting("CapabilityBoundingSet").split(" ", -1))
                .map(name -> name.replace("CAP_", ""))
                .collect(Collectors.toSet());
        assertThat(service).isEqualTo(RIGHTS);
        assertThat(setting("AmbientCapabilities")).isEqualTo(setting("CapabilityBoundingSet"));
        Object security = at(container(), "securityContext");
        assertThat(at(security, "capabilities", "drop")).isEqualTo(List.of("ALL"));
        assertThat(texts(at(security, "capabilities", "add"))).containsExactlyInAnyOrderElementsOf(RIGHTS);
        assertThat(at(security, "privileged")).isEqualTo(false);
        assertThat(at(security, "allowPrivilegeEscalation")).isEqualTo(false);
    }

    @Test
    void thePodSeesTheMachineAndIsLimited() throws IOException {
        assertThat(at(pod(), "hostPID")).isEqualTo(true);
        assertThat(at(container(), "resources", "limits", "memory")).isEqualTo("512Mi");
        assertThat(at(container(), "livenessProbe", "httpGet", "path")).isEqualTo("/");
        assertThat(at(container(), "readinessProbe", "httpGet", "path")).isEqualTo("/healthz");
        assertThat(texts(at(container(), "args"))).contains("--listen", "0.0.0.0:10273");
        assertThat(at(container(), "ports", 0, "containerPort")).isEqualTo(10273);
    }

    private static List<String> withRights(String... arguments) {
        String rights = RIGHTS.stream()
                .map(right -> ",+" + right.toLowerCase(Locale.ROOT))
                .collect(Collectors.joining());
        List<String> command = new ArrayList<>(
                List.of("setpriv", "--inh-caps=-all", "--bounding-set=-all" + rights, "--no-new-privs"));
        command.addAll(Cli.command(arguments));
        return command;
    }

    /** About a file, a process of another user, and a group whose processes are another user's. */
    @Test
    @Requires({BPF, BPF_COOKIE, CGROUP2, GCC, SDT_H, UPROBE_MULTI_PROCESS})
    void theseRightsAreEnough() throws IOException, InterruptedException {
        Path asked = Files.copy(CPrograms.asked(), folder.resolve("asked"));
        assertThat(asked.toFile().setExecutable(true)).isTrue();
        Process other = new ProcessBuilder("setpriv", "--reuid=" + NOBODY, "--clear-groups", "sleep", "1000").start();
        try (ControlGroup group = ControlGroup.create("fleet");
                Processes.Ended _ = Processes.endAfterwards(other)) {
            group.add(other.pid());
            try (RunningAgent agent = new RunningAgent(new RunningTrace(withRights(
                    "export",
                    "--listen",
                    "0",
                    "--config",
                    config(
                                    "rights.conf",
                                    "values count " + asked + " asked:value\nsleeps count -p " + other.pid()
                                            + " u:nanosleep\npods count -p cgroup=" + group.path()
                                            + " asked:value --by pod\n")
                            .toString())))) {
                Commands.check(List.of(asked.toString(), "values", "10"));
                assertThat(agent.scrape())
                        .containsEntry("values_total", 10.0)
                        .containsEntry("values_exact", 1.0)
                        .containsEntry("bpf4j_question_processes{question=\"pods\"}", 1.0);
                assertThat(agent.get("/").statusCode()).isEqualTo(200);
                assertThat(agent.get("/healthz").statusCode()).isEqualTo(200);
            }
        }
    }

    @Test
    void theQuestionsOfTheManifestHaveNoMistake() throws IOException, InterruptedException {
        Path file = config(
                "configmap.conf", (String) Objects.requireNonNull(at(manifest("ConfigMap"), "data", "agent.conf")));
        assertThat(Cli.check("export", "--check", file.toString())).isEqualTo(file + ": 2 questions, no mistake\n");
    }

    /** As the kubelet mounts it: a file by subPath is one mount, and the whole folder is one that all may write to. */
    @Test
    @Requires(BPF)
    void theAgentTakesTheFileAsTheKubeletMountsIt() throws IOException, InterruptedException {
        Map<?, ?> mount = (Map<?, ?>) Objects.requireNonNull(at(container(), "volumeMounts", 0));
        List<String> arguments = texts(at(container(), "args"));
        assertThat(arguments.get(arguments.indexOf("--config") + 1)).isEqualTo(mount.get("mountPath"));
        assertThat(mount.get("subPath")).isEqualTo("agent.conf");
        assertThat(at(pod(), "volumes", 0, "configMap", "defaultMode")).isEqualTo(0444);
        Path volume = Files.createDirectory(folder.resolve("volume"));
        Path data = Files.createDirectory(volume.resolve("..data-1"));
        Files.createSymbolicLink(volume.resolve("..data"), data.getFileName());
        Path file = Files.writeString(data.resolve("agent.conf"), "values count --all asked:value\n");
        Files.createSymbolicLink(volume.resolve("agent.conf"), Path.of("..data/agent.conf"));
        Files.setAttribute(file, "unix:mode", 0444);
        Files.setAttribute(volume, "unix:mode", 0777);
        Path target =
                Files.createFile(Files.createDirectory(folder.resolve("image")).resolve("agent.conf"));
        String check = String.join(" ", Cli.command("export", "--check"));
        Commands.Result result = Commands.run(List.of(
                "unshare",
                "-m",
                "sh",
                "-ec",
                "mount --bind " + file + " " + target + "; exec " + check + " " + target));
        assertThat(result).isEqualTo(new Commands.Result(0, target + ": 1 question, no mistake\n", ""));
        assertThat(Cli.fail("export", "--check", volume.resolve("agent.conf").toString()))
                .contains("another user can change this file")
                .contains(volume + " can be written by others");
    }

    /** All names but that of the program, which need not be installed here. */
    @Test
    @Requires(SYSTEMD_ANALYZE)
    void systemdFindsNothingToSay() throws IOException, InterruptedException {
        String unit = text("bpf4j-export.service");
        assertThat(unit).contains("=/usr/bin/bpf4j export --check /etc", "=/usr/bin/bpf4j export --config /etc");
        Path file = config(
                "bpf4j-export.service",
                unit.replace("/usr/bin/bpf4j", "/bin/true").replaceAll("(?m)^Documentation=man:.*$", ""));
        assertThat(Commands.run(List.of("systemd-analyze", "verify", file.toString())))
                .isEqualTo(new Commands.Result(0, "", ""));
    }

    @Test
    @Requires(PROMTOOL)
    void prometheusTakesItsConfiguration() throws IOException, InterruptedException {
        Commands.Result result = Commands.run(List.of(
                "promtool", "check", "config", FILES.resolve("prometheus.yml").toString()));
        assertThat(result.exitCode()).as(result.err() + result.out()).isZero();
        assertThat(result.err()).isEmpty();
    }

    /** Debian's promtool is built without Kubernetes, and refuses what it does not know. */
    @Test
    void prometheusFindsThePodsOfTheManifest() throws IOException {
        Object job = at(yaml().load(text("prometheus-kubernetes.yml")), "scrape_configs", 0);
        assertThat(at(job, "kubernetes_sd_configs", 0, "namespaces", "names"))
                .isEqualTo(List.of(String.valueOf(at(manifest("DaemonSet"), "metadata", "namespace"))));
        assertThat(at(job, "relabel_configs", 0, "regex"))
                .isEqualTo(at(manifest("DaemonSet"), "spec", "template", "metadata", "labels", "app") + ";"
                        + at(container(), "ports", 0, "name"));
    }

    private static List<String> expressions(@Nullable Object part) {
        return switch (part) {
            case Map<?, ?> map ->
                map.entrySet().stream()
                        .flatMap(entry -> entry.getKey().equals("expr")
                                ? Stream.of((String) Objects.requireNonNull(entry.getValue()))
                                : entry.getKey().equals("query")
                                                && entry.getValue() instanceof String query
                                                && query.startsWith("label_values(")
                                        ? Stream.of(query.substring("label_values(".length(), query.lastIndexOf(',')))
                                        : expressions(entry.getValue()).stream())
                        .toList();
            case List<?> list ->
                list.stream().flatMap(each -> expressions(each).stream()).toList();
            case null, default -> List.of();
        };
    }

    @Test
    @Requires({BPF, BPF_COOKIE, CGROUP2, GCC, SDT_H})
    void theDashboardShowsMetricsThatThereAre() throws IOException, InterruptedException {
        List<String> expressions = expressions(Json.object(text("dashboard.json")));
        assertThat(expressions).hasSizeGreaterThan(12);
        Set<String> exposed;
        try (ControlGroup group = ControlGroup.create("dashboard");
                RunningAgent agent = new RunningAgent(
                        config("dashboard.conf", "values count -p cgroup=" + group.path() + " asked:value\n"),
                        "--statistics")) {
            exposed = agent.scrape().keySet().stream()
                    .map(sample -> sample.replaceAll("\\{.*", ""))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
        for (String expression : expressions) {
            Matcher byPattern = Pattern.compile("__name__=~\"([^\"]+)\"").matcher(expression);
            if (byPattern.find()) {
                assertThat(exposed).as(expression).anyMatch(name -> name.matches(byPattern.group(1)));
                continue;
            }
            List<String> names = Pattern.compile("[a-zA-Z_:][a-zA-Z0-9_:]*")
                    .matcher(expression.replaceAll("\\{[^}]*}|\\[[^]]*]", " "))
                    .results()
                    .map(match -> match.group())
                    .filter(name -> !PROMQL.contains(name))
                    .toList();
            assertThat(names).as(expression).isNotEmpty().allMatch(exposed::contains);
        }
    }

    /** The page names each file, and no other has what is in them. */
    @Test
    void thePageNamesEachFile() throws IOException {
        String page = Files.readString(FILES.resolve("../fleet.md"));
        try (Stream<Path> files = Files.list(FILES)) {
            assertThat(files.map(file -> "](fleet/" + file.getFileName() + ")")).allMatch(page::contains);
        }
        assertThat(page).doesNotContain("CapabilityBoundingSet=", "[Service]");
    }
}
