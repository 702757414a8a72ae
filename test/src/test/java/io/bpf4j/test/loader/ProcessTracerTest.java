package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.process.HeldCommand;
import io.bpf4j.loader.process.ProcessStop;
import io.bpf4j.loader.process.ProcessTracer;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes that are held and let go. */
@Requires(BPF)
@Timeout(60)
class ProcessTracerTest {
    private final BlockingQueue<ProcessStop> stops = new LinkedBlockingQueue<>();

    private static String status(int pid, String field) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                .filter(line -> line.startsWith(field + ":"))
                .map(line -> line.substring(field.length() + 1).strip())
                .findFirst()
                .orElseThrow();
    }

    private static void awaitUntraced(int pid) throws IOException, InterruptedException {
        while (!status(pid, "TracerPid").equals("0") || status(pid, "State").startsWith("t")) {
            Thread.sleep(5);
        }
    }

    private ProcessStop next(ProcessStop.Kind kind) throws InterruptedException {
        ProcessStop stop = stops.take();
        assertThat(stop.kind()).isEqualTo(kind);
        return stop;
    }

    /** The tracer sleeps in the kernel, and has to be woken to let its tracees go. */
    @Test
    void closingLetsARunningProcessGo() throws IOException, InterruptedException {
        try (HeldCommand command = HeldCommand.start(List.of("sleep", "60"), true)) {
            try (ProcessTracer tracer = ProcessTracer.start(Host.running(), command.pid(), true, stops::add)) {
                assertThat(tracer.processes()).containsExactly(command.pid());
                assertThat(status(command.pid(), "TracerPid")).isNotEqualTo("0");
                command.release();
                tracer.resume(next(ProcessStop.Kind.EXEC));
                while (!status(command.pid(), "State").startsWith("S")) {
                    Thread.sleep(5);
                }
                assertThat(tracer.gaps()).isEmpty();
            }
            awaitUntraced(command.pid());
            assertThat(command.isAlive()).isTrue();
        }
    }

    @Test
    void closingLetsAHeldProcessGo() throws IOException, InterruptedException {
        try (HeldCommand command = HeldCommand.start(List.of("sleep", "60"), true)) {
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
        try (HeldCommand command = HeldCommand.start(List.of("sleep", "60"), true);
                ProcessTracer tracer = ProcessTracer.start(Host.running(), command.pid(), true, stops::add)) {
            command.release();
            ProcessStop held = next(ProcessStop.Kind.EXEC);
            ProcessHandle.of(command.pid()).orElseThrow().destroyForcibly();
            next(ProcessStop.Kind.ENDED);
            tracer.resume(held);
            assertThat(tracer.processes()).isEmpty();
        }
    }

    @Test
    void aCommandThatIsNeverReleasedIsNotExecuted() throws IOException, InterruptedException {
        Path mark = Files.createTempFile("bpf4j", ".mark");
        HeldCommand command = HeldCommand.start(List.of("rm", mark.toString()), true);
        command.close();
        while (command.isAlive()) {
            Thread.sleep(5);
        }
        assertThat(mark).exists();
        Files.delete(mark);
    }

    @Test
    void aCommandHasAFileToExecute() {
        assertThatThrownBy(() -> HeldCommand.start(List.of(), true)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Java's own wait for its child would take the stops of a tracee for its end. */
    @Test
    void aChildOfThisProcessIsRefused() throws IOException {
        Process child = new ProcessBuilder("sleep", "60").start();
        try {
            assertThatThrownBy(() -> ProcessTracer.start(Host.running(), (int) child.pid(), false, stops::add))
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining("it is a child of this process")
                    .hasMessageContaining("HeldCommand");
        } finally {
            child.destroyForcibly();
        }
    }
}
