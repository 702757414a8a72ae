package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CGROUP2;
import static io.bpf4j.test.support.Requirement.CONTAINER_TABLE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static io.bpf4j.test.support.Requirement.MOUNT_NAMESPACES;
import static io.bpf4j.test.support.Requirement.PID_NAMESPACES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI_PROCESS;
import static io.bpf4j.test.support.Requirement.USER_NAMESPACES;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.ControlGroup;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.OwnCgroup;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.SteadyProgram;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The least that a container needs, found by taking one thing after another away: what then works and what is said. The
 * result is the table of docs/containers.md, and what is said is below it.
 */
@Requires({
    BPF,
    CGROUP2,
    CONTAINER_TABLE,
    GCC,
    KERNEL_BTF,
    MOUNT_NAMESPACES,
    PID_NAMESPACES,
    SDT_H,
    UPROBE_MULTI_PROCESS,
    USER_NAMESPACES,
    X86_64
})
@Timeout(600) // for what hangs
class CliContainersTest {
    private static final Path PAGE =
            TargetProgram.testModule().resolve("../docs/containers.md").normalize();
    private static final Pattern TABLE = Pattern.compile("(?s)(?<=<!-- begin -->\n).*(?=<!-- end -->)");
    private static final List<String> RIGHTS = List.of("bpf", "perfmon", "sys_ptrace", "dac_read_search");

    /** The commands, by what the head of the table calls them. */
    private static final Map<String, String> COMMANDS = new LinkedHashMap<>();

    static {
        COMMANDS.put("load", "load OBJECT");
        COMMANDS.put("trace -p", "trace -p PID steady:beat --count 1 --duration 1");
        COMMANDS.put("count FILE", "count FILE steady:beat --duration 0.1");
        COMMANDS.put("count --follow -p", "count --follow -p PID steady:beat --duration 0.1");
        COMMANDS.put("count -p cgroup=", "count -p cgroup=GROUP steady:beat --duration 0.1");
    }

    @TempDir
    static Path folder;

    /**
     * A thing that a container may lack.
     *
     * @param what the first column of the table
     * @param rights what it has of {@link #RIGHTS}
     * @param mounts shell commands in a mount namespace of its own, before the rights are dropped
     * @param namespaces more options of unshare(1)
     * @param refused a {@link io.bpf4j.test.support.Refusal} and an error, or empty
     */
    private record Lack(String what, List<String> rights, String mounts, List<String> namespaces, String refused) {
        static Lack nothing() {
            return new Lack("nothing", RIGHTS, "", List.of(), "");
        }

        static Lack right(String name) {
            return new Lack("CAP_" + name.toUpperCase(Locale.ROOT), without(name), "", List.of(), "");
        }

        static Lack mount(String what, String mounts) {
            return new Lack(what, RIGHTS, mounts, List.of(), "");
        }

        static Lack call(String what, String refused) {
            return new Lack(what, RIGHTS, "", List.of(), refused);
        }

        private static List<String> without(String name) {
            return RIGHTS.stream().filter(right -> !right.equals(name)).toList();
        }

        private List<String> command(List<String> jvm) {
            List<String> command = new ArrayList<>(List.of("unshare", "-m"));
            command.addAll(namespaces);
            command.addAll(List.of(
                    "sh",
                    "-ec",
                    mounts + "\nexec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all"
                            + rights.stream().map(right -> ",+" + right).collect(Collectors.joining()) + " -- \"$@\"",
                    "sh"));
            command.addAll(jvm);
            return command;
        }
    }

    /** An empty file system over a folder, if it is there. */
    private static String hide(Object... folders) {
        StringBuilder script = new StringBuilder();
        for (Object each : folders) {
            script.append("[ ! -d ")
                    .append(each)
                    .append(" ] || mount -t tmpfs none ")
                    .append(each)
                    .append('\n');
        }
        return script.toString();
    }

    private static List<Lack> lacks() {
        String hidden = "mount -t proc -o hidepid=2 proc /proc";
        return List.of(
                Lack.nothing(),
                Lack.right("bpf"),
                Lack.right("perfmon"),
                Lack.right("sys_ptrace"),
                Lack.right("dac_read_search"),
                Lack.mount("tracefs", hide("/sys/kernel/tracing", "/sys/kernel/debug")),
                Lack.mount("a BPF file system, `/sys/fs/bpf`", hide("/sys/fs/bpf")),
                Lack.mount("`/sys/kernel/btf`", hide("/sys/kernel/btf")),
                Lack.mount(
                        "writable `/proc/sys`", "mount --bind /proc/sys /proc/sys; mount -o remount,bind,ro /proc/sys"),
                Lack.mount("a writable root file system", "mount -o remount,bind,ro /"),
                Lack.mount("a `/proc` that shows all processes", hidden),
                new Lack(
                        "a `/proc` that shows all processes, and CAP_SYS_PTRACE",
                        Lack.without("sys_ptrace"),
                        hidden,
                        List.of(),
                        ""),
                new Lack(
                        "the pid namespace of the process", RIGHTS, "", List.of("--pid", "--fork", "--mount-proc"), ""),
                new Lack("the first user namespace (rootless)", RIGHTS, "", List.of("--user", "--map-root-user"), ""),
                Lack.call("bpf(2), EPERM by seccomp", "BPF EPERM"),
                Lack.call("perf_event_open(2), EPERM by seccomp", "PERF_EVENT_OPEN EPERM"),
                Lack.call("ptrace(2), EPERM by seccomp", "SEIZE EPERM"),
                Lack.call("pidfd_open(2), EPERM by seccomp", "PIDFD_OPEN EPERM"),
                Lack.call("epoll_create1(2), EPERM by seccomp", "EPOLL_CREATE EPERM"),
                Lack.call("eventfd2(2), EPERM by seccomp", "EVENTFD EPERM"));
    }

    @Test
    void thePageHasTheTable() throws Exception {
        Path object = Files.write(folder.resolve("gc.bpf.o"), TestObjects.bytes("gc.bpf.o"));
        try (ExecutorService several = Executors.newFixedThreadPool(2)) {
            List<Lack> lacks = lacks();
            List<Future<List<Seen>>> running = new ArrayList<>();
            for (Lack lack : lacks) {
                running.add(several.submit(() -> tried(lack, object)));
            }
            List<List<Seen>> all = new ArrayList<>();
            for (Future<List<Seen>> each : running) {
                all.add(each.get());
            }
            assertThat(all.getFirst()).as("with all of it everything works").allMatch(Seen::works);
            compare(table(lacks, all));
        }
    }

    /** A process in mount and pid namespaces of its own, whose program is in a file system that only it has. */
    @ParameterizedTest
    @ValueSource(strings = {"host", "inside", "sibling with the same pid namespace"})
    void aProcessInAContainerIsSeenFrom(String place) throws IOException, InterruptedException {
        String script =
                "mount -t tmpfs none " + folder + " && cp \"$0\" " + folder + "/steady && exec " + folder + "/steady";
        try (SteadyProgram container = SteadyProgram.start(
                SteadyProgram.compile(), "unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script)) {
            String host = Long.toString(first(container));
            List<String> enter = new ArrayList<>(List.of("nsenter", "--target", host, "--pid"));
            String pid = place.equals("host") ? host : "1";
            List<String> command = new ArrayList<>();
            switch (place) {
                case "inside" -> {
                    command.addAll(enter);
                    command.addAll(List.of("--mount", "--"));
                }
                case "host" -> {}
                default -> {
                    command.addAll(enter);
                    command.addAll(
                            List.of("--", "unshare", "-m", "sh", "-ec", "mount -t proc proc /proc; exec \"$@\"", "sh"));
                }
            }
            command.addAll(Cli.command("trace", "-p", pid, "steady:beat", "--count", "1", "--json"));
            Commands.Result result = Commands.run(command);
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.err()).startsWith(Cli.TRACING_ONE);
            if (!place.equals("host")) {
                // Where this is a container itself, the kernel gives no number of a namespace below (bpf-helpers(7)).
                assertThat(Json.lines(result.out()).getFirst()).containsEntry("pid", Long.valueOf(pid));
            }
            assertThat(container.listeners()).isZero();
        }
    }

    /** The files of an image are the same in each of its containers, so a file is counted in all of them. */
    @Test
    void aSiblingCountsByFileAndFindsNoProcess() throws Exception {
        Path program = SteadyProgram.compile();
        List<String> apart = List.of("unshare", "--mount", "--pid", "--fork", "--mount-proc");
        try (SteadyProgram container = SteadyProgram.start(program, apart.toArray(String[]::new))) {
            String pid = Long.toString(first(container));
            List<String> command = new ArrayList<>(apart);
            command.addAll(Cli.contained(
                    "",
                    List.of("count " + program + " steady:beat --duration 0.1", "count -p " + pid + " steady:beat")));
            Commands.Result result = Commands.run(command);
            List<String> lines = result.out().lines().toList();
            assertThat(lines).as(result.err()).hasSize(2);
            assertThat(lines.getFirst()).startsWith("0\t").contains("events\t" + Cli.TRACING_ONE.strip());
            assertThat(lines.getLast()).startsWith("1\t").contains("no process " + pid);
        }
    }

    /** The number on the host of the first process in a container. */
    private static long first(SteadyProgram container) {
        return ProcessHandle.of(container.pid())
                .flatMap(unshare -> unshare.children().findFirst())
                .orElseThrow()
                .pid();
    }

    /** Each has a process of its own to look at: a process can be held by one other at a time. */
    private static List<Seen> tried(Lack lack, Path object) throws IOException, InterruptedException {
        try (ControlGroup group = ControlGroup.create("contained");
                SteadyProgram other = SteadyProgram.start(
                        SteadyProgram.compile(), "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")) {
            group.add(other.pid());
            Map<String, String> places = new LinkedHashMap<>();
            places.put("OBJECT", object.toString());
            places.put("FILE", SteadyProgram.compile().toString());
            places.put("GROUP", group.path());
            places.put("CGROUPFS", OwnCgroup.mount().orElseThrow().toString());
            places.put("PID", Integer.toString(other.pid()));
            List<String> commands = COMMANDS.values().stream()
                    .map(command -> replaced(command, places))
                    .toList();
            Commands.Result result = Commands.run(lack.command(Cli.contained(lack.refused(), commands)));
            List<String> lines = result.out().lines().toList();
            assertThat(lines).as(lack.what() + ": " + result.err()).hasSameSizeAs(COMMANDS.keySet());
            Await.until("nobody listens", () -> other.listeners() == 0);
            return lines.stream().map(line -> Seen.of(line, places)).toList();
        }
    }

    private static String replaced(String text, Map<String, String> places) {
        String replaced = text;
        for (Map.Entry<String, String> place : places.entrySet()) {
            replaced = replaced.replace(place.getKey(), place.getValue());
        }
        return replaced;
    }

    /**
     * What came of a command.
     *
     * @param said what is to be read about it: of a failure or a warning the text, of an answer why it is not exact
     */
    private record Seen(int exitCode, String said) {
        private static final Pattern DETACHING = Pattern.compile("(\\\\n)?bpf4j: detaching [^\\\\]*");
        private static final Pattern NOT_EXACT = Pattern.compile("not exact: [^\\\\]*");

        static Seen of(String line, Map<String, String> places) {
            String[] parts = line.split("\t", -1);
            Matcher inexact = NOT_EXACT.matcher(parts[1]);
            String said = parts[2].replaceFirst(Pattern.quote(Cli.TRACING_ONE.strip()) + "(\\\\n)?", "");
            // A busy machine takes its time, and is told so.
            said = DETACHING.matcher(said).replaceAll("");
            said = said.isEmpty() && inexact.find() ? inexact.group() : said;
            for (Map.Entry<String, String> place : places.entrySet()) {
                said = said.replaceAll("(?<!\\d)" + Pattern.quote(place.getValue()) + "(?!\\d)", place.getKey());
            }
            // The sysctls of this machine.
            return new Seen(
                    Integer.parseInt(parts[0]),
                    said.replaceAll(" is -?\\d+\\)", " is N)").replace("\\n", " / "));
        }

        boolean works() {
            return exitCode == 0 && said.isEmpty();
        }

        String word() {
            return exitCode != 0 ? "**no**" : said.isEmpty() ? "yes" : "less";
        }
    }

    private static String table(List<Lack> lacks, List<List<Seen>> all) {
        StringBuilder text = new StringBuilder("| without | `")
                .append(String.join("` | `", COMMANDS.keySet()))
                .append("` |\n|---|")
                .append("---|".repeat(COMMANDS.size()))
                .append('\n');
        for (int i = 0; i < lacks.size(); i++) {
            text.append("| ").append(lacks.get(i).what());
            all.get(i).forEach(seen -> text.append(" | ").append(seen.word()));
            text.append(" |\n");
        }
        text.append("\nWhat the command says where the table has no \"yes\":\n");
        for (int i = 0; i < lacks.size(); i++) {
            Map<String, List<String>> commands = new LinkedHashMap<>();
            List<String> names = List.copyOf(COMMANDS.keySet());
            for (int j = 0; j < names.size(); j++) {
                String said = all.get(i).get(j).said();
                if (!said.isEmpty()) {
                    commands.computeIfAbsent(said, _ -> new ArrayList<>()).add("`" + names.get(j) + "`");
                }
            }
            if (!commands.isEmpty()) {
                text.append("\nWithout ").append(lacks.get(i).what()).append(":\n\n");
                commands.forEach((said, by) -> text.append("- ")
                        .append(String.join(", ", by))
                        .append(": ")
                        .append(said)
                        .append('\n'));
            }
        }
        return text.toString();
    }

    private static void compare(String table) throws IOException {
        String page = Files.readString(PAGE);
        Matcher place = TABLE.matcher(page);
        assertThat(place.find()).as("the marks around the table of " + PAGE).isTrue();
        String present = place.group();
        Path made = Files.writeString(
                Objects.requireNonNull(TargetProgram.testModule().resolve("target/containers.md")),
                place.replaceAll(Matcher.quoteReplacement(table)));
        assertThat(present)
                .as("if the change is intended: cp %s %s", made, PAGE)
                .isEqualTo(table);
    }
}
