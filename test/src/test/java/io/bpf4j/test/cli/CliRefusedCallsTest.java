package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFFS;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Refusal;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The running kernel refuses one system call of the command, by a filter of seccomp(2): the command says so in one line,
 * ends with 1, and leaves nothing behind; the process that it looked at goes on as before.
 */
@Requires({BPF, X86_64, GCC, SDT_H, ASSEMBLER, UPROBE_MULTI, BPFFS})
@Timeout(600) // for what hangs
class CliRefusedCallsTest {
    private static @Nullable TargetProgram target;

    @BeforeAll
    static void start() throws IOException {
        target = TargetProgram.start("-O2");
    }

    @AfterAll
    static void end() {
        target().close();
    }

    private static TargetProgram target() {
        return Objects.requireNonNull(target);
    }

    /** Runs the command; afterwards the target has nobody that listens, and runs. */
    private static Commands.Result refused(Refusal call, Errno errno, String... arguments)
            throws IOException, InterruptedException {
        Commands.Result result = Commands.run(Cli.refusing(call, errno, arguments));
        assertThat(target().command("semaphores")).isEqualTo("0 0");
        assertThat(target().command("sizes")).isEqualTo("ok");
        assertThat(Files.readString(Path.of("/proc/" + target().pid() + "/status")))
                .containsPattern("TracerPid:\\s+0\\n");
        return result;
    }

    private static Commands.Result trace(Refusal call, Errno errno, String strategy)
            throws IOException, InterruptedException {
        return refused(
                call,
                errno,
                "trace",
                "-p",
                Integer.toString(target().pid()),
                "target:sizes",
                "target:guarded",
                "--strategy",
                strategy,
                "--duration",
                "1");
    }

    @ParameterizedTest
    @CsvSource({
        "BPF,             ENOSYS, auto,   a seccomp filter hides bpf(2)",
        "BPF,             EPERM,  auto,   seccomp",
        "MAP_CREATE,      ENOMEM, auto,   cgroup of this process has reached its memory limit",
        "MAP_CREATE,      EMFILE, auto,   RLIMIT_NOFILE",
        "MAP_CREATE,      EPERM,  auto,   seccomp",
        "MAP_UPDATE,      ENOMEM, auto,   cgroup of this process has reached its memory limit",
        "MAP_UPDATE,      EPERM,  auto,   a policy of the kernel (LSM or seccomp)",
        "MAP_FREEZE,      EPERM,  auto,   seccomp",
        "PROG_LOAD,       EPERM,  auto,   seccomp",
        "PROG_LOAD,       ENOMEM, auto,   cgroup of this process has reached its memory limit",
        "PROG_LOAD,       ENFILE, auto,   fs.file-max",
        "BTF_LOAD,        EPERM,  auto,   seccomp",
        "LINK_CREATE,     EPERM,  multi,  seccomp",
        "LINK_CREATE,     EMFILE, multi,  RLIMIT_NOFILE",
        "LINK_CREATE,     ENOMEM, multi,  cgroup of this process has reached its memory limit",
        "LINK_CREATE,     EBUSY,  multi,  LINK_CREATE",
        "LINK_CREATE,     EOPNOTSUPP, auto, bpf(BPF_LINK_CREATE) returned EOPNOTSUPP",
        "PERF_EVENT_OPEN, EMFILE, cookie, a uprobe_multi link needs one file descriptor",
        "PERF_EVENT_OPEN, EPERM,  cookie, seccomp",
        "PERF_EVENT_OPEN, ENOSYS, cookie, CONFIG_PERF_EVENTS",
        "PERF_EVENT_OPEN, ENOSPC, ipmap,  target:",
        "ENABLE_EVENT,    EINVAL, ipmap,  target:",
        "MMAP,            ENOMEM, auto,   cgroup of this process has reached its memory limit",
        "MMAP,            EPERM,  auto,   mmap of",
        "EPOLL_CREATE,    EMFILE, auto,   RLIMIT_NOFILE",
        "EVENTFD,         ENFILE, auto,   fs.file-max",
        "OPEN_TO_LOOK,    EMFILE, auto,   RLIMIT_NOFILE",
        "OPEN_TO_READ,    EIO,    auto,   target",
    })
    void oneLineSaysWhatFailedAndWhy(Refusal call, Errno errno, String strategy, String why)
            throws IOException, InterruptedException {
        assertThat(Cli.oneLine(trace(call, errno, strategy), 1))
                .contains(errno.name())
                .contains(why);
    }

    /** What a trace can do without. */
    @ParameterizedTest
    @CsvSource({
        "PROG_BIND_MAP, EPERM",
        "LOOKUP_BATCH,  EINVAL",
        "PIDFD_OPEN,    ENOSYS",
    })
    void whatATraceCanDoWithoutDoesNotEndIt(Refusal call, Errno errno) throws IOException, InterruptedException {
        Commands.Result result = trace(call, errno, "auto");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).contains("0 events, 0 lost");
        assertThat(result.err()).doesNotContain("Exception");
    }

    private static Commands.Result follow(Refusal call, Errno errno) throws IOException, InterruptedException {
        String pid = Integer.toString(target().pid());
        return refused(call, errno, "count", "--follow", "-p", pid, "target:sizes", "--duration", "1");
    }

    @Test
    void aProcessThatCannotBeFollowedGoesOn() throws IOException, InterruptedException {
        assertThat(Cli.oneLine(follow(Refusal.PROG_LOAD, Errno.EPERM), 1)).contains("EPERM", "seccomp");
    }

    /** It is looked at again and again instead, and the answer says that it is not exact for that, and why. */
    @ParameterizedTest
    @CsvSource({
        "EPERM, 'a kernel policy refuses the call (Yama, LSM or seccomp)'",
        "ESRCH, ptrace(PTRACE_SEIZE) of thread",
    })
    void aProcessThatCannotBeHeldIsSaidToBe(Errno errno, String why) throws IOException, InterruptedException {
        Commands.Result result = follow(Refusal.SEIZE, errno);
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out())
                .contains("0 events; not exact: processes are polled every few milliseconds instead of being held")
                .contains(errno.name())
                .contains(why);
    }

    /** A command that cannot be traced does not run, and is not left waiting. */
    @Test
    void aCommandThatCannotBeTracedDoesNotRun(@TempDir Path folder) throws IOException, InterruptedException {
        Path file = folder.resolve("made");
        Commands.Result result = refused(
                Refusal.PROG_LOAD,
                Errno.EPERM,
                "count",
                "--follow",
                "target:sizes",
                "-c",
                "touch " + file,
                "--duration",
                "1");
        assertThat(Cli.oneLine(result, 1)).contains("EPERM", "seccomp");
        assertThat(file).doesNotExist();
        assertThat(processes(file.toString())).isEmpty();
    }

    /** The processes with this in their command lines. */
    private static List<ProcessHandle> processes(String text) {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").contains(text))
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "MAP_CREATE,  EMFILE, RLIMIT_NOFILE",
        "PROG_LOAD,   ENOMEM, cgroup of this process has reached its memory limit",
        "OBJ_PIN,     EPERM,  must be in a BPF file system",
        "OBJ_PIN,     ENOSPC, of map \"shared\" to",
        "OBJ_GET,     EACCES, may not search the directory",
        "OBJ_INFO,    EBADF,  of map \"shared\"",
    })
    void aProgramThatUsesTheLibraryIsToldAndLeavesNoPin(Refusal call, Errno errno, String why)
            throws IOException, InterruptedException {
        try (BpfFsMount files = BpfFsMount.mount()) {
            Commands.Result result =
                    refused(call, errno, "journey", files.directory().toString());
            assertThat(Cli.oneLine(result, 1)).contains(errno.name()).contains(why);
            try (Stream<Path> left = Files.walk(files.directory())) {
                // Each such file system has two files of its own, which list what is loaded.
                assertThat(left.filter(file ->
                                Files.isRegularFile(file) && !file.toString().endsWith(".debug")))
                        .isEmpty();
            }
        }
    }
}
