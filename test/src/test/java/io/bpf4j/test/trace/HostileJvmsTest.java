package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.MOUNT_NAMESPACES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.Host;
import io.bpf4j.test.support.CallsJvm;
import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.CtrlC;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.trace.stack.PerfMap;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Root asks for the compiled methods of processes of another user, who wants root to write, to signal or to wait where
 * this user alone could not make it so; and of JVMs beside whose files this user has put links.
 */
@Requires({GCC, MOUNT_NAMESPACES})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs: on a busy machine each JVM takes half a minute to start
class HostileJvmsTest {
    private static final String NOBODY = "65534";
    private static final Duration LONG = Duration.ofSeconds(100);
    private static final Duration SHORT = Duration.ofMillis(200);

    /** Not below /tmp, which these processes mount anew. */
    private Path folder;

    private Path program;
    private Path library;
    private final List<Process> processes = new ArrayList<>();

    @BeforeEach
    void compile() throws IOException, InterruptedException {
        folder = Files.createTempDirectory(Path.of("/var/tmp"), "bpf4j-test");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        program = folder.resolve("jvm");
        Path source = TargetProgram.testModule().resolve("src/test/c/hostile/jvm.c");
        Commands.check(
                List.of("gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-o", program.toString(), source.toString()));
        library = Files.copy(program, folder.resolve("libjvm.so"));
    }

    @AfterEach
    void end() throws IOException {
        processes.forEach(Processes::end);
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private Process started(String... command) throws IOException {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        processes.add(process);
        assertThat(process.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("ready");
        return process;
    }

    /** The other user's process, with another /tmp, which nobody but the process sees: a script that mounts it. */
    private Process ofNobody(String mount, String... options) throws IOException {
        return started(Stream.concat(
                        Stream.of(
                                "unshare",
                                "-m",
                                "sh",
                                "-c",
                                mount + " && exec setpriv --reuid=" + NOBODY + " --regid=" + NOBODY
                                        + " --clear-groups -- \"$@\"",
                                "sh",
                                program.toString(),
                                library.toString()),
                        Stream.of(options))
                .toArray(String[]::new));
    }

    private static int pid(Process process) {
        return Math.toIntExact(process.pid());
    }

    /** How many SIGQUITs it got. */
    private static String quits(Process process) throws IOException {
        process.getOutputStream().close();
        return process.inputReader(StandardCharsets.UTF_8).readLine();
    }

    private static void refused(int pid, String reason) {
        assertThatThrownBy(() -> PerfMap.request(Host.running(), pid, SHORT))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(reason)
                .hasMessageContaining("process " + pid);
    }

    private static List<String> namesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> String.valueOf(file.getFileName())).toList();
        }
    }

    @Test
    void aDirectoryOfRootMountedAsTmpGetsNoFile() throws IOException {
        Path roots = Files.createDirectory(folder.resolve("roots"));
        Process process = ofNobody("mount --bind " + roots + " /tmp");
        refused(pid(process), "is not safe for files of its user");
        assertThat(namesIn(roots)).isEmpty();
        assertThat(namesIn(folder)).containsExactlyInAnyOrder("jvm", "libjvm.so", "roots");
        assertThat(quits(process)).isEqualTo("0");
    }

    /** Where all may exchange the files of all, as where fs.protected_symlinks is 0. */
    @Test
    void aTmpWithoutStickyBitIsRefused() throws IOException {
        Process process = ofNobody("mount -t tmpfs -o mode=0777 none /tmp");
        refused(pid(process), "is not safe for files of its user");
        assertThat(quits(process)).isEqualTo("0");
    }

    @Test
    void aProcessThatNeverListensCostsThePatience() throws IOException {
        Process process = ofNobody("mount -t tmpfs -o mode=1777 none /tmp");
        refused(pid(process), "does not listen for commands");
        Path temporary = Path.of("/proc/" + process.pid() + "/root/tmp");
        assertThat(namesIn(temporary)).as("files left behind").isEmpty();
        assertThat(namesIn(folder)).as("its working directory").containsExactlyInAnyOrder("jvm", "libjvm.so");
        assertThat(quits(process)).isEqualTo("1");
    }

    @Test
    void aProcessThatNeverAnswersCostsThePatience() throws IOException {
        Process process = ofNobody("mount -t tmpfs -o mode=1777 none /tmp", "listen");
        refused(pid(process), "did not answer in time");
        assertThat(namesIn(Path.of("/proc/" + process.pid() + "/root/tmp")))
                .containsExactly(".java_pid" + process.pid());
        assertThat(quits(process)).as("it listens already").isEqualTo("0");
    }

    /** At the start of the trace it does not answer, so at its end nobody waits for it again. */
    @Test
    void aProcessThatDoesNotAnswerIsAskedOnce() throws IOException, InterruptedException {
        Process process = ofNobody("mount -t tmpfs -o mode=1777 none /tmp");
        try (RunningTrace stacks =
                new RunningTrace("stack", "-p", Integer.toString(pid(process)), "u:libc.so.6:puts")) {
            stacks.awaitMessage("tracing 1 function");
            process.getOutputStream().write("a line\n".getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
            assertThat(process.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("read");
            stacks.interrupt();
            Commands.Result result = stacks.await();
            assertThat(result.out()).contains("puts");
            assertThat(result.err()).contains("does not listen for commands");
        }
        assertThat(quits(process)).isEqualTo("1");
    }

    @Test
    void whoWantsNoNamesAsksNobody() throws IOException, InterruptedException {
        Process process = ofNobody("mount -t tmpfs -o mode=1777 none /tmp");
        try (RunningTrace stacks = new RunningTrace(
                "stack", "-v", "--jvm-names", "0", "-p", Integer.toString(pid(process)), "u:libc.so.6:puts")) {
            stacks.awaitMessage("tracing 1 function");
            process.getOutputStream().write("a line\n".getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
            assertThat(process.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("read");
            stacks.interrupt();
            Commands.Result result = stacks.await();
            assertThat(result.out()).contains("puts");
            assertThat(result.err()).doesNotContain("asking the JVM", "does not listen");
        }
        assertThat(quits(process)).isEqualTo("0");
    }

    /** The answer waits for names that do not come; nobody wants it any more. */
    @Test
    void aSecondCtrlCEndsTheWaitForNames() throws IOException, InterruptedException {
        Process process = ofNobody("mount -t tmpfs -o mode=1777 none /tmp", "listen");
        String only = "pid == " + pid(process);
        try (RunningTrace stacks =
                new RunningTrace("stack", "-v", "--jvm-names", "100", "--where", only, "u:libc.so.6:puts")) {
            stacks.awaitMessage("tracing 1 function");
            process.getOutputStream().write("a line\n".getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
            assertThat(process.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("read");
            stacks.interrupt();
            stacks.awaitMessage("asking the JVM " + pid(process));
            // The command may ask within 50 ms of the first signal, and takes signals within that time for one.
            CtrlC.untilEnd(stacks.pid());
            Commands.Result result = stacks.await();
            assertThat(result.exitCode()).as(result.err()).isEqualTo(128 + 2);
            assertThat(result.out()).isEmpty();
        }
    }

    /** Neither a symbolic nor a hard link makes another JVM carry out a command. */
    @Test
    void theSocketOfAnotherProcessIsRefused() throws IOException {
        Path shared = Files.createDirectory(folder.resolve("shared"));
        Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
        Process other = started(
                "unshare",
                "-m",
                "sh",
                "-c",
                "mount --bind " + shared + " /tmp && exec " + program + " " + library + " listen");
        Path socket = shared.resolve(".java_pid" + other.pid());
        for (String link : List.of("ln -s", "ln")) {
            Process process = ofNobody("chmod 1777 " + shared + " && " + link + " " + socket + " " + shared
                    + "/.java_pid$$ && mount --bind " + shared + " /tmp");
            refused(pid(process), "is not a socket of its user");
            assertThat(quits(process)).isEqualTo("0");
        }
        assertThat(quits(other)).isEqualTo("0");
        // Of the same user: the owner is right, but another process listens.
        String mount = "mount --bind " + shared + " /tmp";
        Process own = ofNobody(mount, "listen");
        String names = shared + "/.java_pid" + own.pid() + " " + shared + "/.java_pid$$";
        Process process = ofNobody("ln " + names + " && " + mount);
        refused(pid(process), "process " + own.pid() + " of user " + NOBODY + " listens on");
    }

    @Test
    void aListThatIsALinkIsNotWritten(@TempDir Path besideTheList) throws IOException {
        try (CallsJvm jvm = new CallsJvm()) {
            // A hard link stays within a file system, and /tmp may be one of its own.
            Path secret = Files.writeString(besideTheList.resolve("secret"), "secret");
            Path map = Path.of("/tmp/perf-" + jvm.pid() + ".map");
            for (boolean symbolic : new boolean[] {true, false}) {
                if (symbolic) {
                    Files.createSymbolicLink(map, secret);
                } else {
                    Files.createLink(map, secret);
                }
                refused(jvm.pid(), "is a link, or belongs to another user");
                assertThat(secret).hasContent("secret");
                Files.delete(map);
            }
        }
    }

    @Test
    void aJvmLeavesNothingBehind() throws IOException {
        try (CallsJvm jvm = new CallsJvm()) {
            jvm.command("compile both calls");
            Path map = Path.of("/tmp/perf-" + jvm.pid() + ".map");
            for (int i = 0; i < 2; i++) {
                try (PerfMap _ = PerfMap.request(Host.running(), jvm.pid(), LONG)) {
                    assertThat(map).content().contains("CallsMain.outerCall");
                }
                assertThat(map).doesNotExist();
            }
            assertThat(Path.of("/tmp/.attach_pid" + jvm.pid())).doesNotExist();
            assertThat(Path.of("/proc/" + jvm.pid() + "/cwd/.attach_pid" + jvm.pid()))
                    .doesNotExist();
            Files.writeString(map, "");
            PerfMap.request(Host.running(), jvm.pid(), LONG).close();
            assertThat(map).as("a list that existed before").isNotEmptyFile();
        }
    }

    @Test
    void aJvmWithoutTheMechanismIsLeftAlone() throws IOException, InterruptedException {
        try (CallsJvm jvm = new CallsJvm("-XX:+DisableAttachMechanism")) {
            refused(jvm.pid(), "was started with -XX:+DisableAttachMechanism");
            Commands.Result stacks = Cli.run(
                    "stack",
                    "-p",
                    Integer.toString(jvm.pid()),
                    "--duration",
                    "0.1",
                    "u:" + ChildJvm.libjvm() + ":_ZN2os13javaTimeNanosEv");
            assertThat(stacks.exitCode()).as(stacks.err()).isZero();
            assertThat(stacks.err().lines().filter(line -> line.contains("DisableAttachMechanism")))
                    .as(stacks.err())
                    .hasSize(1);
            assertThat(stacks.err()).doesNotContain("\tat ");
            assertThat(jvm.command("again")).isNotNull();
        }
    }
}
