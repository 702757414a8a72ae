package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bpf4j.process.hold.HeldCommand;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.UsdtWatch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Listeners that throw an Error, and that close the watch themselves. */
@Requires(BPF)
@Timeout(600) // for what hangs: on a busy machine a shell alone takes seconds to start
class UsdtWatchTest {
    /** PID_MAX_LIMIT of include/linux/threads.h: the numbers of processes are below it. */
    private static final int NO_PROCESS = 0x400000;

    private final Process target;

    UsdtWatchTest() throws IOException {
        target = new ProcessBuilder("sleep", "1000").start();
    }

    @AfterEach
    void endTarget() {
        Processes.end(target);
    }

    private int pid() {
        return Math.toIntExact(target.pid());
    }

    private static boolean isTraced(int pid) {
        try {
            return !Files.readString(Path.of("/proc/" + pid + "/status")).contains("TracerPid:\t0\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void awaitEnd(UsdtWatch watch) throws IOException, InterruptedException {
        Await.until("the watch has ended", () -> !watch.isAlive());
    }

    /** Does something when the process ends, in the thread of the watch. */
    private record AtEnd(Consumer<Integer> action) implements UsdtWatch.Listener {
        @Override
        public void appeared(int pid, UsdtScan scan) {}

        @Override
        public void ended(int pid) {
            action.accept(pid);
        }
    }

    @Test
    void aWatchOfNoProcessHasEnded() {
        AtomicBoolean appeared = new AtomicBoolean();
        try (UsdtWatch watch = UsdtWatch.of(NO_PROCESS).start((_, _) -> appeared.set(true))) {
            assertThat(watch.isAlive()).isFalse();
            assertThat(watch.gaps()).singleElement().asString().contains("ESRCH");
        }
        assertThat(appeared).isFalse();
    }

    /** The kernel refuses to trace a process that has ended with the words for one that somebody else traces. */
    @Test
    void aWatchOfAZombieSaysThatTheProcessHasEnded() throws IOException, InterruptedException {
        // A shell would wait for its child: the child ends when its parent is something else.
        Process parent = new ProcessBuilder(
                        "sh", "-c", "while [ \"$(cat /proc/$$/comm)\" = sh ]; do :; done & echo $!; exec sleep 1000")
                .start();
        try (Processes.Ended _ = Processes.endAfterwards(parent);
                BufferedReader output = parent.inputReader()) {
            int zombie = Integer.parseInt(output.readLine());
            Path status = Path.of("/proc/" + zombie + "/status");
            Await.until("a zombie", () -> Files.readString(status).contains("State:\tZ"));
            try (UsdtWatch watch = UsdtWatch.of(zombie).start((_, _) -> {})) {
                assertThat(watch.isAlive()).isFalse();
                assertThat(watch.gaps())
                        .singleElement()
                        .asString()
                        .endsWith("instead of being held: process " + zombie + " has ended");
            }
        }
    }

    @Test
    void anErrorInTheFirstLookReleasesTheProcess() throws Exception {
        try (HeldCommand command = HeldCommand.start(List.of("sleep", "1000"), true)) {
            AtomicBoolean wasTraced = new AtomicBoolean();
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(() -> UsdtWatch.of(command.pid()).start((pid, _) -> {
                        wasTraced.set(isTraced(pid));
                        throw new AssertionError("of the listener");
                    }))
                    .withMessage("of the listener");
            assertThat(wasTraced).isTrue();
            Await.until("the command is not traced", () -> !isTraced(command.pid()));
        }
    }

    /**
     * Both the tracer and the looks at all processes find an end. The shell writes the pids of its children, because
     * the kernel may use one again.
     */
    @Test
    void eachEndIsToldOnce(@TempDir Path folder) throws Exception {
        List<Integer> ended = new ArrayList<>(); // by the thread of the watch
        Path pids = folder.resolve("pids");
        String children =
                "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.01 & echo $!; sleep 0.005 & echo $!; wait $!;"
                        + " done > " + pids + "; wait";
        try (HeldCommand command = HeldCommand.start(List.of("sh", "-c", children), true)) {
            try (UsdtWatch watch =
                    UsdtWatch.of(command.pid()).withChildren().fromExec().start(new AtEnd(ended::add))) {
                command.release();
                awaitEnd(watch);
            }
            List<Integer> expected = new ArrayList<>(
                    Files.readAllLines(pids).stream().map(Integer::valueOf).toList());
            assertThat(expected).hasSize(24);
            expected.add(command.pid());
            assertThat(ended).containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    /**
     * A look at all processes finds the ends of a child and of its parent at once if the listener takes its time. The
     * parent has waited for the child.
     */
    @Test
    void aParentThatWaitsEndsAfterItsChildren() throws Exception {
        Set<Integer> appeared = new ConcurrentSkipListSet<>();
        List<Integer> ended = new ArrayList<>(); // by the thread of the watch
        try (HeldCommand command = HeldCommand.start(List.of("sh", "-c", "sleep 1000 & sleep 1000 & wait"), true)) {
            int parent = command.pid();
            try (UsdtWatch watch = UsdtWatch.of(parent)
                    .withChildren()
                    .fromExec()
                    .start(new UsdtWatch.Listener() {
                        @Override
                        public void appeared(int pid, UsdtScan scan) {
                            appeared.add(pid);
                        }

                        @Override
                        public void ended(int pid) {
                            if (ended.isEmpty()) {
                                appeared.stream()
                                        .filter(other -> other != pid && other != parent)
                                        .forEach(UsdtWatchTest::endAndAwait);
                                awaitEnd(parent);
                            }
                            ended.add(pid);
                        }
                    })) {
                command.release();
                Await.until("the shell has two children", () -> appeared.size() == 3);
                List<Integer> children =
                        appeared.stream().filter(pid -> pid != parent).toList();
                ProcessHandle.of(children.getFirst()).ifPresent(ProcessHandle::destroyForcibly);
                awaitEnd(watch);
                assertThat(ended).containsExactly(children.getFirst(), children.getLast(), parent);
            }
        }
    }

    /** What {@code UsdtWatch.Listener.exec} tells a listener to expect. */
    @Test
    void filesOfTheOldProgramAppearOnceMore() throws Exception {
        List<String> events = new ArrayList<>();
        try (HeldCommand command = HeldCommand.start(List.of("sh", "-c", "exec sh -c :"), true)) {
            try (UsdtWatch watch = UsdtWatch.of(command.pid()).fromExec().start(new UsdtWatch.Listener() {
                @Override
                public void appeared(int pid, UsdtScan scan) {
                    scan.files().forEach(file -> events.add(file.name()));
                }

                @Override
                public void exec(int pid) {
                    events.add("exec");
                }
            })) {
                command.release();
                awaitEnd(watch);
            }
        }
        String shell = Path.of("/bin/sh").toRealPath().toString();
        assertThat(events).containsSubsequence("exec", shell, "exec", shell);
    }

    /** The kernel does not tell the tracer of such a child: a look finds it, and the listener attaches to it late. */
    @Test
    @Requires(GCC)
    void aChildThatIsNotHeldIsReportedAlsoIfItEndsMeanwhile(@TempDir Path folder) throws Exception {
        Path source = Files.writeString(folder.resolve("untraced.c"), """
                #define _GNU_SOURCE
                #include <sched.h>
                #include <signal.h>
                #include <sys/syscall.h>
                #include <sys/wait.h>
                #include <unistd.h>
                int main(void) {
                    if (!syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0)) {
                        pause();
                    }
                    wait(0);
                    return 0;
                }
                """);
        Path program = folder.resolve("untraced");
        Commands.check(List.of("gcc", "-o", program.toString(), source.toString()));
        try (HeldCommand command = HeldCommand.start(List.of(program.toString()), true);
                UsdtWatch watch = UsdtWatch.of(command.pid())
                        .withChildren()
                        .fromExec()
                        .start((pid, _) -> {
                            if (pid != command.pid()) {
                                endAndAwait(pid);
                            }
                        })) {
            command.release();
            awaitEnd(watch);
            assertThat(watch.gaps()).singleElement().asString().contains("CLONE_UNTRACED");
        }
    }

    private static void endAndAwait(int pid) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        awaitEnd(pid);
    }

    private static void awaitEnd(int pid) {
        try {
            Processes.awaitEnd(pid);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anErrorInALaterLookIsThrownByClose() throws IOException, InterruptedException {
        UsdtWatch watch = UsdtWatch.of(pid()).start(new AtEnd(_ -> {
            throw new AssertionError("of the listener");
        }));
        Processes.end(target);
        awaitEnd(watch);
        assertThatExceptionOfType(AssertionError.class).isThrownBy(watch::close).withMessage("of the listener");
        assertThatCode(watch::close).doesNotThrowAnyException();
    }

    @Test
    void aListenerMayCloseItsWatch() throws Exception {
        CompletableFuture<UsdtWatch> watch = new CompletableFuture<>();
        CompletableFuture<Integer> closed = new CompletableFuture<>();
        watch.complete(UsdtWatch.of(pid()).start(new AtEnd(pid -> {
            watch.join().close();
            closed.complete(pid);
        })));
        Processes.end(target);
        assertThat(closed.get()).isEqualTo(pid());
        watch.join().close();
        assertThat(watch.join().isAlive()).isFalse();
    }
}
