package io.bpf4j.process.hold;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The shell reads a folder of processes that the test writes, with the numbers of real, stopped processes. */
@Timeout(600) // for what hangs
class ResumingShellTest {
    @TempDir
    Path proc;

    private final Process one;
    private final Process other;

    ResumingShellTest() throws IOException {
        one = stopped();
        other = stopped();
    }

    private static Process stopped() throws IOException {
        return new ProcessBuilder("sh", "-c", "kill -STOP $$").start();
    }

    @BeforeEach
    void awaitStops() throws IOException {
        awaitStop(one);
        awaitStop(other);
        stat(one, "sh", 'T', 100);
        stat(other, "sh", 'T', 200);
    }

    private static void awaitStop(Process process) throws IOException {
        while (!isStopped(process)) {
            Thread.onSpinWait();
        }
    }

    private static boolean isStopped(Process process) throws IOException {
        return Files.readString(Path.of("/proc/" + process.pid() + "/stat")).contains(" T ");
    }

    @AfterEach
    void end() throws InterruptedException {
        one.destroyForcibly().waitFor();
        other.destroyForcibly().waitFor();
    }

    private void stat(Process process, String name, char state, long start) throws IOException {
        Path folder = Files.createDirectories(proc.resolve(Long.toString(process.pid())));
        Files.writeString(
                folder.resolve("stat"),
                process.pid() + " (" + name + ") " + state + " 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 " + start
                        + " 23 24\n");
    }

    /** As when this process is killed; it does not exist in that folder. */
    private static void endOfPipe(ResumingShell shell) throws IOException {
        shell.process().getOutputStream().close();
    }

    private ResumingShell start() throws IOException {
        ResumingShell shell = ResumingShell.start(Host.running().withProc(proc));
        shell.add(pid(one));
        shell.add(pid(other));
        return shell;
    }

    private static int pid(Process process) {
        return Math.toIntExact(process.pid());
    }

    @Test
    void stoppedProcessesContinueAtTheEndOfThePipe() throws IOException, InterruptedException {
        bothContinue();
    }

    private void bothContinue() throws IOException, InterruptedException {
        ResumingShell shell = start();
        endOfPipe(shell);
        assertThat(one.waitFor()).isZero();
        assertThat(other.waitFor()).isZero();
        shell.process().destroyForcibly().waitFor();
    }

    /** The processes are tried in the order in which the shell was told of them. */
    @Test
    void anotherProcessWithTheSameNumberStaysStopped() throws IOException, InterruptedException {
        ResumingShell shell = start();
        stat(one, "sh", 'T', 101);
        endOfPipe(shell);
        assertThat(other.waitFor()).isZero();
        assertThat(isStopped(one)).isTrue();
        shell.process().destroyForcibly().waitFor();
    }

    @Test
    void theNameOfAProcessForgesNothing() throws IOException, InterruptedException {
        stat(one, "a) R 4\n(b) S", 'T', 100);
        stat(other, "*) T 4", 'T', 200);
        bothContinue();
    }

    @Test
    void afterAFarewellNobodyContinues() throws IOException, InterruptedException {
        ResumingShell shell = start();
        shell.close();
        assertThat(shell.process().waitFor()).isZero();
        assertThat(isStopped(one)).isTrue();
        assertThat(isStopped(other)).isTrue();
    }

    @Test
    void theShellIgnoresWhatEndsAGroup() throws IOException, InterruptedException {
        ResumingShell shell = start();
        // It has read the numbers when the pipe is empty, and so has set the signals.
        while (!ignoresSignals(shell.process())) {
            Thread.onSpinWait();
        }
        for (String signal : new String[] {"HUP", "INT", "TERM"}) {
            assertThat(new ProcessBuilder(
                                    "kill",
                                    "-" + signal,
                                    Long.toString(shell.process().pid()))
                            .start()
                            .waitFor())
                    .isZero();
        }
        endOfPipe(shell);
        assertThat(one.waitFor()).isZero();
        shell.process().destroyForcibly().waitFor();
    }

    private static boolean ignoresSignals(Process process) throws IOException {
        String status = Files.readString(Path.of("/proc/" + process.pid() + "/status"));
        String ignored = status.substring(status.indexOf("SigIgn:") + 7).strip().split("\n", 2)[0];
        return (Long.parseUnsignedLong(ignored, 16) & 1L << 14) != 0; // SIGTERM
    }
}
