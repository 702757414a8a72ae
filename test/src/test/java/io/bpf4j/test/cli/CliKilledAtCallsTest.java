package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFFS;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.STRACE;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.Program;
import io.bpf4j.loader.Programs;
import io.bpf4j.sys.BpfException;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.SteadyProgram;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The command is killed when it enters a system call: nothing of it is left in the kernel, in other processes and in
 * files. strace(1) records the calls of a whole run, and kills other runs at one of them each. {@code
 * -Dbpf4j.call.kills=100000} is the long form, with all of them.
 *
 * <p>The command runs as a user of its own, with capabilities. So what it has loaded is told from what others load on
 * this machine: the kernel keeps for each program who loaded it, and a link keeps its program.
 */
@Requires({BPF, BPF_COOKIE, BPFFS, GCC, SDT_H, STRACE})
@Timeout(7200) // for what hangs
class CliKilledAtCallsTest {
    private static final int KILLS = Integer.getInteger("bpf4j.call.kills", 3);
    private static final long SEED = Long.getLong("bpf4j.test.seed", 1);
    private static final String MARK = "BPF4J_TEST_OF_KILLED_CALL";
    private static final String CAPABILITIES = "+bpf,+perfmon,+sys_admin,+sys_ptrace,+dac_override,+dac_read_search";

    /** {@code 4711  bpf(BPF_PROG_LOAD, …}: the thread, and the call. */
    private static final Pattern CALL = Pattern.compile("(?<thread>\\d+) +(?<call>[a-z]\\w*)\\(.*");

    /** A JVM's own, between its threads: some thousand, and all that they do is wait. */
    private static final Set<String> OF_THREADS =
            Set.of("futex", "sched_yield", "madvise", "mprotect", "rt_sigprocmask");

    @TempDir
    static Path folder;

    /** No user of this machine has this number, and no other run of this test at the same time. */
    private final int user =
            1_000_000_000 + Math.floorMod(ProcessHandle.current().pid(), 10_000_000);

    /** The {@code number}-th such call of a thread, whichever thread makes that many first. */
    private record Moment(String call, int number) {}

    /** Checks what is left of a run. */
    private interface Left {
        void check() throws IOException, InterruptedException;
    }

    @Test
    void aTrace() throws IOException, InterruptedException {
        try (SteadyProgram target = SteadyProgram.start(SteadyProgram.compile())) {
            String pid = Integer.toString(target.pid());
            killed(Cli.command("trace", "-p", pid, "steady:beat", "--duration", "0.1"), () -> nobodyListens(target));
        }
    }

    /** The command that it started runs to its end, or was never let go and ends with it. */
    @Test
    void aCountOfACommandThatIsFollowed() throws IOException, InterruptedException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path program =
                Files.copy(SteadyProgram.compile(), folder.resolve("steady"), StandardCopyOption.COPY_ATTRIBUTES);
        killed(Cli.command("count", "--follow", "-c", program + " 1000", "steady:beat"), () -> {});
    }

    /** What was pinned by then is there, since pins outlive whoever made them; and nothing else is. */
    @Test
    void aLoadWithPins() throws IOException, InterruptedException {
        try (BpfFsMount files = BpfFsMount.mount("mode=0777")) {
            Set<String> asked = Set.of("shared", "programs");
            killed(Cli.journey(files.directory()), () -> {
                for (String name : names(files.directory())) {
                    if (!name.endsWith(".debug")) {
                        assertThat(name).isIn(asked);
                        Commands.check(List.of("rm", "-r", files.path(name).toString()));
                    }
                }
            });
        }
    }

    /** The picture is complete or not there; what was written of it by then may be, under a name that says so. */
    @Test
    void aPictureOfStacks() throws IOException, InterruptedException {
        Path pictures = Files.createDirectory(folder.resolve("pictures"));
        Files.setAttribute(pictures, "unix:uid", user);
        Path picture = pictures.resolve("stacks.svg");
        try (SteadyProgram target = SteadyProgram.start(SteadyProgram.compile())) {
            String pid = Integer.toString(target.pid());
            killed(
                    Cli.command("stack", "-p", pid, "steady:beat", "--duration", "0.1", "--svg", picture.toString()),
                    () -> {
                        nobodyListens(target);
                        for (String name : names(pictures)) {
                            Path file = pictures.resolve(name);
                            if (name.equals("stacks.svg")) {
                                assertThat(Files.readString(file)).endsWith("</svg>\n");
                            } else {
                                assertThat(name).startsWith(".bpf4j-");
                            }
                            Files.delete(file);
                        }
                    });
        }
    }

    /** It answers, so it is not stopped either. */
    private static void nobodyListens(SteadyProgram target) throws IOException, InterruptedException {
        Await.until("nobody listens", () -> target.listeners() == 0);
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> String.valueOf(file.getFileName())).toList();
        }
    }

    /** Kills the command at each of the chosen moments, and checks each time what is left. */
    private void killed(List<String> command, Left left) throws IOException, InterruptedException {
        Path calls = folder.resolve("calls-" + UUID.randomUUID());
        Commands.Result whole = run(command, UUID.randomUUID().toString(), "-o", calls.toString());
        assertThat(whole.exitCode()).as(whole.out() + whole.err()).isZero();
        left.check();
        List<Moment> moments = moments(calls);
        assertThat(moments).hasSizeGreaterThan(50);
        Collections.shuffle(moments, new Random(SEED));
        int deaths = 0;
        int tries = 0;
        for (Moment moment : moments) {
            // A run that makes fewer calls than the first one is not killed.
            if (deaths == KILLS || tries++ == 5 * KILLS) {
                break;
            }
            String mark = UUID.randomUUID().toString();
            Commands.Result result = run(
                    command,
                    mark,
                    "-o",
                    "/dev/null",
                    "-e",
                    "inject=" + moment.call() + ":signal=KILL:when=" + moment.number());
            // strace ends as the traced process did; one whose threads made fewer calls this time has come to its end.
            // Or the call was that of a child that had not yet executed its program: then this child has ended.
            assertThat(result.exitCode()).as(moment + ": " + result.err()).isIn(0, 1, 137);
            if (result.exitCode() == 1) {
                assertThat(result.err()).as(moment.toString()).contains("Cannot run program");
            }
            deaths += result.exitCode() == 137 ? 1 : 0;
            try {
                Await.until("no process of the run that was killed at " + moment, () -> marked(mark), List::isEmpty);
                left.check();
                Await.until("no program of the run that was killed at " + moment, this::programs, List::isEmpty);
            } catch (AssertionError e) {
                for (String process : marked(mark)) {
                    Commands.check(List.of("kill", "-KILL", process.split("[/ ]", 4)[2]));
                }
                throw new AssertionError("killed at " + moment, e);
            }
        }
        System.out.println(
                "killed at system calls: " + command.get(command.size() - 1) + ": " + deaths + " of " + moments.size());
        assertThat(deaths).isPositive();
    }

    private Commands.Result run(List<String> command, String mark, String... options)
            throws IOException, InterruptedException {
        String id = Integer.toString(user);
        Path temporary = Files.createDirectories(folder.resolve("tmp"));
        Files.setAttribute(temporary, "unix:uid", user);
        List<String> all = new ArrayList<>(List.of("setpriv", "--reuid", id, "--regid", id, "--clear-groups"));
        all.addAll(List.of("--inh-caps", CAPABILITIES, "--ambient-caps", CAPABILITIES, "--"));
        // Not into the programs that it starts: a process has one tracer, and that is to be bpf4j.
        all.addAll(List.of("strace", "-f", "--detach-on=execve", "-qq"));
        all.addAll(List.of(options));
        all.add("--");
        all.addAll(command);
        all.add(all.size() - command.size() + 1, "-Djava.io.tmpdir=" + temporary);
        ProcessBuilder builder = new ProcessBuilder(all);
        builder.environment().put(MARK, mark);
        Commands.Result result = Commands.run(builder);
        assertThat(names(temporary)).isEmpty();
        return result;
    }

    /** From the first call for BPF on: before it the JVM has only started. */
    private static List<Moment> moments(Path calls) throws IOException {
        Map<String, Integer> numbers = new HashMap<>();
        Set<Moment> moments = new LinkedHashSet<>();
        boolean begun = false;
        for (String line : Files.readAllLines(calls, StandardCharsets.ISO_8859_1)) {
            Matcher call = CALL.matcher(line);
            if (!call.matches()) {
                continue;
            }
            String name = call.group("call");
            int number = numbers.merge(call.group("thread") + name, 1, Integer::sum);
            begun |= name.equals("bpf");
            if (begun && !OF_THREADS.contains(name)) {
                moments.add(new Moment(name, number));
            }
        }
        return new ArrayList<>(moments);
    }

    /** What that user has in the kernel. */
    private List<String> programs() {
        List<String> found = new ArrayList<>();
        for (int id : Programs.ids()) {
            try (Program program = Programs.byId(id)) {
                if (program.info().uid() == user) {
                    found.add(program.info().toString());
                }
            } catch (BpfException e) {
                // It has gone meanwhile.
            }
        }
        return found;
    }

    /** The processes that have this in their environment. */
    private static List<String> marked(String mark) throws IOException {
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            return processes
                    .filter(process -> text(process.resolve("environ")).contains(MARK + "=" + mark + "\0"))
                    .map(process -> process + " " + text(process.resolve("stat")))
                    .toList();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return ""; // it has ended, or is no process
        }
    }
}
