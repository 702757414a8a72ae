package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Root looks at processes of another user, who does what he can to spoil that: no name, no file and no process of his
 * may lead to a file that is not his, stop the look, or keep it from showing the others. Without a locale, in a small
 * heap.
 */
@Requires({BPF, GCC, SDT_H, X86_64})
@Timeout(1800) // for what hangs: to make five thousand files takes minutes on a disk that is written through
class HostileProcessesTest {
    private static final String NOBODY = "65534";
    private static final String SMALL_HEAP = "-Xmx256m";

    @TempDir
    Path folder;

    private Path program;
    private Path secret;
    private final List<Process> processes = new ArrayList<>();

    @BeforeEach
    void compile() throws IOException, InterruptedException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        program = gcc("hostile");
        secret = gcc("secret");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rwx------"));
    }

    @AfterEach
    void end() {
        processes.forEach(Processes::end);
    }

    private Path gcc(String name) throws IOException, InterruptedException {
        Path output = folder.resolve(name);
        Path source = TargetProgram.testModule().resolve("src/test/c/hostile/" + name + ".c");
        Commands.check(
                List.of("gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-o", output.toString(), source.toString()));
        return output;
    }

    /** A folder of the other user's. */
    private Path folderOfNobody(String name) throws IOException {
        Path made = Files.createDirectory(folder.resolve(name));
        Files.setOwner(
                made, made.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
        return made;
    }

    /** Starts a program as the other user, and waits until it is as it will be. */
    private Process startAsNobody(Path file, Object... arguments) throws IOException {
        List<String> command =
                new ArrayList<>(List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--"));
        command.add(file.toString());
        Arrays.stream(arguments).map(String::valueOf).forEach(command::add);
        return started(command);
    }

    private Process started(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        processes.add(process);
        assertThat(process.inputReader(StandardCharsets.UTF_8).readLine())
                .as(command.toString())
                .isEqualTo("ready");
        return process;
    }

    /** A program whose path goes on, after a carriage return, as a line about a file of root's. */
    private Path forged() throws IOException {
        FileIdentity identity = FileIdentity.of(secret);
        String line = String.format(
                "x\r00400000-00401000 r-xp 00000000 %02x:%02x %d ",
                identity.device() >>> 8 & 0xfff, identity.device() & 0xff, identity.inode());
        Path forged = Path.of(folderOfNobody("forged") + "/" + line + secret);
        Files.createDirectories(forged.getParent());
        return Files.copy(program, forged);
    }

    private static Commands.Result withoutLocale(String... arguments) throws IOException, InterruptedException {
        return Commands.run(lineWithoutLocale(arguments));
    }

    private static List<String> lineWithoutLocale(String... arguments) {
        List<String> command = Cli.command(arguments);
        command.add(1, SMALL_HEAP);
        command.addAll(0, List.of("env", "-i"));
        return command;
    }

    @Test
    void allOfThemAtOnceSpoilNothing() throws IOException, InterruptedException {
        Path honest = Files.copy(program, folder.resolve("honest"));
        started(List.of(honest.toString()));
        Process memfd = startAsNobody(program, "memfd");
        Path restless = folderOfNobody("restless").resolve("file");
        startAsNobody(program, "restless", restless);
        startAsNobody(program, "swap", folderOfNobody("swap"), secret);
        Process many = startAsNobody(program, "many", folderOfNobody("many"));
        Process files = startAsNobody(program, "files", folderOfNobody("files"));
        startAsNobody(forged());
        started(List.of(program.toString()));

        String[] listAll = {"list", "--all", "hostile:*", "secret:*", "hotspot:gc__begin"};
        for (int i = 0; i < 5; i++) {
            Commands.Result all = i == 0 ? withoutLocale(listAll) : Cli.run(listAll);
            assertThat(all.exitCode()).as(all.err()).isZero();
            assertThat(all.out())
                    .contains(honest + ": 1 probe")
                    .contains("libjvm.so: 1 probe")
                    .contains("/memfd:\\xff\\xfe\\r\\x1b[2J: 1 probe, 1 site, in " + memfd.pid())
                    .contains("forged/x\\r00400000-00401000 r-xp")
                    .contains("swap/")
                    .doesNotContain("secret:probe");
            assertThat(all.err())
                    .contains("process " + many.pid() + " is left out: /proc/" + many.pid() + "/maps has more than")
                    .contains("process " + files.pid() + " is left out: it has mapped more than 4096 files")
                    .doesNotContain("internal error")
                    .doesNotContain("out of memory")
                    .doesNotContain("\u001b");
        }
        for (Process process : processes) {
            assertThat(process.isAlive()).isTrue();
        }
    }

    /** Each alone, also where nothing is shown but what is wrong with it. */
    @Test
    void oneAfterTheOther() throws IOException, InterruptedException {
        Process memfd = startAsNobody(program, "memfd");
        String pid = Long.toString(memfd.pid());
        Commands.Result listed = withoutLocale("list", "-p", pid, "--json", "hostile:*");
        assertThat(listed.exitCode()).as(listed.err()).isZero();
        assertThat(listed.out()).contains("\"/memfd:\\\\xff\\\\xfe\\r\\u001b[2J\"");
        Commands.Result traced = withoutLocale("trace", "-p", pid, "--follow", "--duration", "1", "hostile:*");
        assertThat(traced.exitCode()).as(traced.err()).isZero();
        assertThat(traced.err()).doesNotContain("internal error");

        Process swap = startAsNobody(program, "swap", folderOfNobody("swap"), secret);
        String[] listSwapped = {"list", "-p", Long.toString(swap.pid())};
        for (int i = 0; i < 20; i++) {
            Commands.Result swapped = i == 0 ? withoutLocale(listSwapped) : Cli.run(listSwapped);
            assertThat(swapped.out()).contains("hostile:alive").doesNotContain("secret:probe");
        }

        Process many = startAsNobody(program, "many", folderOfNobody("many"));
        Commands.Result refused = withoutLocale("list", "-p", Long.toString(many.pid()));
        assertThat(Cli.oneLine(refused, 1)).contains("process " + many.pid() + " is left out: /proc/");

        // Its stacks have no names, and those of the others have.
        started(List.of(program.toString()));
        Commands.Result stacks;
        try (RunningTrace running =
                new RunningTrace(lineWithoutLocale("stack", "--every", "0.5", program.toString(), "u:tick"))) {
            running.awaitMessage("process " + many.pid() + " is left out: /proc/");
            running.awaitEvents("main", 1);
            running.interrupt();
            stacks = running.await();
        }
        assertThat(stacks.exitCode()).as(stacks.err()).isZero();
        assertThat(stacks.out()).containsPattern("tick\\s+main");
        assertThat(stacks.err())
                .containsOnlyOnce("process " + many.pid() + " is left out: /proc/")
                .doesNotContain("out of memory");
    }

    /** A process may have so many mappings that each reading of them takes a second. Readings are counted. */
    @Test
    void theMappingsOfAProcessWithStacksAreReadOnce() throws IOException, InterruptedException {
        Process process = startAsNobody(program);
        try (Recording reads = new Recording()) {
            reads.enable("jdk.FileRead").withThreshold(Duration.ZERO);
            reads.start();
            Commands.Result stacks = Cli.run("stack", "--duration", "1", program.toString(), "u:tick");
            reads.stop();
            assertThat(stacks.out()).as(stacks.err()).containsPattern("tick\\s+main");
            assertThat(readsToTheEnd(reads, "/proc/" + process.pid() + "/maps")).isEqualTo(1);
        }
    }

    private long readsToTheEnd(Recording reads, String file) throws IOException {
        Path dump = folder.resolve("reads.jfr");
        reads.dump(dump);
        return RecordingFile.readAllEvents(dump).stream()
                .filter(read -> file.equals(read.getString("path")) && read.getBoolean("endOfFile"))
                .count();
    }
}
