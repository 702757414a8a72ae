package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.process.hold.HeldCommand;
import io.bpf4j.process.hold.ProcessStop;
import io.bpf4j.process.hold.ProcessTracer;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that are held and let go. */
@Requires(BPF)
@Timeout(300) // against a hang
class ProcessTracerTest {
    /** Longer than a test may take. */
    private static final List<String> SLEEP = List.of("sleep", "3600");

    private final BlockingQueue<ProcessStop> stops = new LinkedBlockingQueue<>();

    private static String status(int pid, String field) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                .filter(line -> line.startsWith(field + ":"))
                .map(line -> line.substring(field.length() + 1).strip())
                .findFirst()
                .orElseThrow();
    }

    private static void awaitUntraced(int pid) throws IOException, InterruptedException {
        Await.until(
                "process " + pid + " without a tracer",
                () -> status(pid, "TracerPid").equals("0")
                        && !status(pid, "State").startsWith("t"));
    }

    private ProcessStop next(ProcessStop.Kind kind) throws InterruptedException {
        ProcessStop stop = stops.take();
        assertThat(stop.kind()).isEqualTo(kind);
        return stop;
    }

    /** The tracer sleeps in the kernel, and has to be woken to let its tracees go. */
    @Test
    void closingLetsARunningProcessGo() throws IOException, InterruptedException {
        try (HeldCommand command = HeldCommand.start(SLEEP, true)) {
            try (ProcessTracer tracer = ProcessTracer.start(Host.running(), command.pid(), true, stops::add)) {
                assertThat(tracer.processes()).containsExactly(command.pid());
                assertThat(status(command.pid(), "TracerPid")).isNotEqualTo("0");
                command.release();
                tracer.resume(next(ProcessStop.Kind.EXEC));
                Await.until(
                        "a process asleep", () -> status(command.pid(), "State").startsWith("S"));
                assertThat(tracer.gaps()).isEmpty();
            }
            awaitUntraced(command.pid());
            assertThat(command.isAlive()).isTrue();
        }
    }

    @Test
    void closingLetsAHeldProcessGo() throws IOException, InterruptedException {
        try (HeldCommand command = HeldCommand.start(SLEEP, true)) {
            try (ProcessTracer _ = ProcessTracer.start(Host.running(), command.pid(), true, stops::add)) {
                command.release();
                next(ProcessStop.Kind.EXEC);
                assertThat(status(command.pid(), "State")).startsWith("t");
            }
            awaitUntraced(command.pid());
            assertThat(command.isAlive()).isTrue();
        }
    }

    @Test
    void whoIsKilledWhileItIsHeldHasEnded() throws IOException, InterruptedException {
        try (HeldCommand command = HeldCommand.start(SLEEP, true);
                ProcessTracer tracer = ProcessTracer.start(Host.running(), command.pid(), true, stops::add)) {
            command.release();
            ProcessStop held = next(ProcessStop.Kind.EXEC);
            Commands.check(List.of("kill", "-KILL", Integer.toString(command.pid())));
            next(ProcessStop.Kind.ENDED);
            tracer.resume(held);
            assertThat(tracer.processes()).isEmpty();
        }
    }

    @Test
    void aCommandThatIsNeverReleasedIsNotExecuted(@TempDir Path folder) throws IOException, InterruptedException {
        Path mark = Files.createFile(folder.resolve("mark"));
        HeldCommand command = HeldCommand.start(List.of("rm", mark.toString()), true);
        command.close();
        Await.until("a command that has ended", () -> !command.isAlive());
        assertThat(mark).exists();
    }

    @Test
    void aCommandHasAFileToExecute() {
        assertThatThrownBy(() -> HeldCommand.start(List.of(), true)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Java's own wait for its child would take the stops of a tracee for its end. */
    @Test
    void aChildOfThisProcessIsRefused() throws IOException {
        Process child = new ProcessBuilder(SLEEP).start();
        try (Processes.Ended _ = Processes.endAfterwards(child)) {
            assertThatThrownBy(() -> ProcessTracer.start(Host.running(), (int) child.pid(), false, stops::add))
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining("it is a child of this process")
                    .hasMessageContaining("HeldCommand");
        }
    }
}
