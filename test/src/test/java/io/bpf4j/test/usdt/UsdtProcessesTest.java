package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.MOUNT_NAMESPACES;
import static io.bpf4j.test.support.Requirement.PID_NAMESPACES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Mount;
import io.bpf4j.test.support.OwnPidNamespace;
import io.bpf4j.test.support.Patience;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Probes in processes whose files are not where their names say: other mount namespaces, no name at all, archives. */
@Requires({BPF, UPROBE_MULTI, GCC, SDT_H, ASSEMBLER})
@Timeout(600) // for what hangs: on a busy machine the command alone takes half a minute to start
class UsdtProcessesTest {
    private static final int PAGE = 4096;

    /** PROC_PID_INIT_INO in include/linux/proc_ns.h. */
    private static final String INITIAL_PID_NAMESPACE = "pid:[4026531836]";

    @TempDir
    static Path folder;

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        gcc("later", "main.c", "-ldl");
        gcc("archive", "archive.c");
        gcc("liblater.so", "library.c", "-shared", "-fPIC");
    }

    private static void gcc(String output, String source, String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-o"));
        command.add(folder.resolve(output).toString());
        command.add(
                TargetProgram.testModule().resolve("src/test/c/later/" + source).toString());
        command.addAll(List.of(flags));
        Commands.check(command);
    }

    /**
     * A process that fires a probe until its standard input has a line or ends. Unless it is told to {@code fire} at
     * once, it says {@code ready PID} first.
     */
    private static final class Firing implements AutoCloseable {
        /** What ends with its standard input takes far less. */
        private static final long END_SECONDS = Patience.scaled(60);

        final Process process;

        Firing(String... command) throws IOException {
            this(List.of(command));
        }

        Firing(List<String> command) throws IOException {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        }

        /** A command for it. */
        void write(String line) throws IOException {
            Writer input = process.outputWriter(StandardCharsets.UTF_8);
            input.write(line + "\n");
            input.flush();
        }

        /** Its first line of output. */
        String line() throws IOException {
            BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
            return String.valueOf(output.readLine());
        }

        /** Ends it by its standard input, so that a parent that waits for it does; kills it if it doesn't go. */
        @Override
        public void close() {
            try {
                process.getOutputStream().close();
                if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                    Processes.end(process);
                }
            } catch (IOException e) {
                Processes.end(process);
            } catch (InterruptedException e) {
                Processes.end(process);
                Thread.currentThread().interrupt();
            }
        }
    }

    @Test
    @Requires(MOUNT_NAMESPACES)
    void aFileThatExistsInAnotherMountNamespaceOnly() throws IOException, InterruptedException {
        // The tmpfs covers the folder in that namespace alone; the copy in it has no name anywhere else.
        String script = "mount -t tmpfs none " + folder + " && cp /proc/self/fd/9 " + folder + "/only-there"
                + " && exec " + folder + "/only-there fire";
        try (Firing target =
                new Firing("sh", "-c", "exec 9<" + folder + "/later; exec unshare -m sh -c '" + script + "'")) {
            int pid = awaitProbe(target, "later:program");
            assertThat(folder.resolve("only-there")).doesNotExist();
            UsdtProbe probe =
                    UsdtScan.ofProcess(pid).matching("later:program").probes().getFirst();
            assertThat(probe.binary().name()).isEqualTo(folder + "/only-there");
            assertThat(probe.path().toString()).startsWith("/proc/" + pid + "/");
            assertFires("-p", Integer.toString(pid), "later:program");
        }
    }

    @Test
    @Requires(PID_NAMESPACES)
    void aProcessInAnInnerPidNamespaceIsKnownByTheNumberItHasHere() throws IOException, InterruptedException {
        try (Firing target =
                new Firing("unshare", "-p", "-f", folder.resolve("later").toString(), "fire")) {
            int pid = awaitProbe(target, "later:program");
            assertThat(Files.readString(Path.of("/proc/" + pid + "/status"))).containsPattern("NSpid:.*\t1\n");
            List<Map<String, @Nullable Object>> events = assertFires("-p", Integer.toString(pid), "later:program");
            // The kernel tells a program the number in the tracer's namespace for processes that are in it. Of those
            // further
            // inside it tells the number of the initial one, which is the tracer's own unless that is in a container.
            if (Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().equals(INITIAL_PID_NAMESPACE)) {
                assertThat(events.getFirst().get("pid")).hasToString(Integer.toString(pid));
            }
        }
    }

    @Test
    void aFileUnderSeveralNamesIsTracedOnce() throws IOException, InterruptedException {
        Path file = folder.resolve("later");
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        Path hard = Files.createLink(folder.resolve("hard"), file);
        Commands.Result result = Cli.run(
                "trace",
                "-v",
                file.toString(),
                link.toString(),
                hard.toString(),
                "/proc/self/root" + file,
                "later:program",
                // Long enough: what is attached is said before this time begins.
                "--duration",
                "0.1");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err()).contains("tracing 1 probe at 1 site");
    }

    @Test
    void aProgramThatWasDeletedWhileItRuns() throws IOException, InterruptedException {
        Path copy = Files.copy(folder.resolve("later"), folder.resolve("deleted"));
        try (Firing target = new Firing(copy.toString(), "fire")) {
            int pid = awaitProbe(target, "later:program");
            Files.delete(copy);
            assertFires("-p", Integer.toString(pid), "later:program");
        }
    }

    @Test
    void probesOfAllProcessesWithTheProcessesThatHaveThem() throws IOException, InterruptedException {
        try (Firing one = new Firing(folder.resolve("later").toString(), "fire");
                Firing two = new Firing(folder.resolve("later").toString(), "fire")) {
            int first = awaitProbe(one, "later:program");
            int second = awaitProbe(two, "later:program");
            List<UsdtScan.File> files = UsdtScan.ofMachine().files().stream()
                    .filter(file -> file.path().equals(folder.resolve("later")))
                    .toList();
            assertThat(files).hasSize(1);
            assertThat(files.getFirst().pids()).containsExactly(Math.min(first, second), Math.max(first, second));
            String listed = Cli.run("list", "--all", "later:*").out();
            assertThat(listed).contains("later:program", Integer.toString(first), Integer.toString(second));
        }
    }

    /**
     * In a pid namespace. Elsewhere there may be processes of another run of this test, whose files have such probes,
     * too, and are gone when they are attached to.
     */
    @Test
    @Requires({PID_NAMESPACES, MOUNT_NAMESPACES})
    void aTraceOfAllProcesses() throws IOException, InterruptedException {
        String program = folder.resolve("later").toString();
        try (OwnPidNamespace own = new OwnPidNamespace();
                Firing firing = new Firing(own.inside(List.of(program, "fire")));
                Firing waiting = new Firing(own.inside(List.of(program)))) {
            int first = awaitProbe(firing, "later:program");
            awaitProbe(waiting, "later:program");
            List<Map<String, @Nullable Object>> events =
                    threeEvents(Commands.run(own.inside(Cli.command(trace("--all", "later:program")))));
            assertThat(events).extracting(e -> String.valueOf(e.get("pid"))).containsOnly(numberInside(first));
        }
    }

    /** The number of a process in its own pid namespace: the last of {@code NSpid:} in proc_pid_status(5). */
    private static String numberInside(int pid) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                .filter(line -> line.startsWith("NSpid:"))
                .map(line -> line.substring(line.lastIndexOf('\t') + 1))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aLibraryThatRunsOutOfAnArchive() throws IOException, InterruptedException {
        Path archive = folder.resolve("app.apk");
        byte[] library = Files.readAllBytes(folder.resolve("liblater.so"));
        write(archive, "lib/x86_64/liblater.so", library);
        Path entry = Path.of(archive + "!/lib/x86_64/liblater.so");
        UsdtScan scan = UsdtScan.ofFile(entry);
        UsdtProbe probe = scan.probes().getFirst();
        long offset;
        try (ElfFile elf = ElfFile.open(entry)) {
            long address = elf.dynamicSymbols()
                    .filter(symbol -> symbol.name().equals("fire_from_library"))
                    .findFirst()
                    .orElseThrow()
                    .value();
            offset = elf.containerOffset() + elf.fileOffset(address).orElseThrow();
            assertThat(elf.containerOffset()).isPositive().matches(start -> start % PAGE == 0, "starts a page");
        }
        assertThat(probe.path()).isEqualTo(archive);
        assertThat(probe.sites().getFirst().fileOffset()).isBetween(offset, offset + 64);
        try (Firing target =
                new Firing(folder.resolve("archive").toString(), archive.toString(), Long.toString(offset))) {
            assertThat(target.line()).startsWith("ready");
            assertFires(entry.toString(), "later:library");
            assertFires(entry + ":later:library");
        }
    }

    /** Each tmpfs numbers its files from 2 on: the number alone would put breakpoints into the other library. */
    @Test
    void twoLibrariesOfOneNumberOnTwoFileSystemsAreToldApart() throws IOException, InterruptedException {
        try (Mount first = Mount.of("tmpfs", "", folder.resolve("one"));
                Mount second = Mount.of("tmpfs", "", folder.resolve("two"))) {
            Path library = folder.resolve("liblater.so");
            Path one = Files.copy(library, first.directory().resolve("liblater.so"));
            Path two = Files.copy(library, second.directory().resolve("liblater.so"));
            assertThat(FileIdentity.of(one).inode())
                    .isEqualTo(FileIdentity.of(two).inode());
            try (Firing target = new Firing(folder.resolve("later").toString(), one.toString())) {
                target.write("dlopen");
                int pid = awaitProbe(target, "later:library");
                try (BpfObject object =
                        Strategy.IP_MAP.loader("counters.bpf.o", pid).load()) {
                    Program program = object.programs().iterator().next();
                    AttachOptions options = AttachOptions.defaults().withPid(pid);
                    assertThatThrownBy(() -> Usdt.of(object)
                                    .attach(program, UsdtScan.ofFile(two).matching("later:library"), options))
                            .isInstanceOf(UsdtException.class)
                            .hasMessageContaining("the process has not mapped the part of the file with this site");
                    try (UsdtLink link =
                            Usdt.of(object).attach(program, UsdtScan.ofFile(one).matching("later:library"), options)) {
                        assertThat(link.siteCount()).isOne();
                    }
                }
            }
        }
    }

    /** A stored entry that starts at a page, as {@code zipalign -p} puts it. */
    private static void write(Path archive, String name, byte[] content) throws IOException {
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive))) {
            ZipEntry entry = new ZipEntry(name);
            entry.setMethod(ZipEntry.STORED);
            entry.setSize(content.length);
            CRC32 crc = new CRC32();
            crc.update(content);
            entry.setCrc(crc.getValue());
            // A local header of 30 bytes, the name, and an extra field of our own: 4 bytes of header and the filling.
            int header = 30 + name.length();
            byte[] extra = new byte[PAGE - header];
            extra[0] = 0x35;
            extra[1] = (byte) 0xd9;
            extra[2] = (byte) (extra.length - 4);
            extra[3] = (byte) ((extra.length - 4) >> 8);
            entry.setExtra(extra);
            zip.putNextEntry(entry);
            zip.write(content);
            zip.closeEntry();
        }
    }

    /** The process, the one started or one below it, that has mapped the code of a probe. */
    private static int awaitProbe(Firing target, String pattern) throws IOException, InterruptedException {
        return Await.until("a process with " + pattern, () -> withProbe(target, pattern), OptionalInt::isPresent)
                .orElseThrow();
    }

    private static OptionalInt withProbe(Firing target, String pattern) {
        return Stream.concat(Stream.of(target.process.toHandle()), target.process.descendants())
                .mapToInt(process -> Math.toIntExact(process.pid()))
                .filter(pid -> hasProbe(pid, pattern))
                .findFirst();
    }

    private static boolean hasProbe(int pid, String pattern) {
        try {
            return !UsdtScan.ofProcess(pid).matching(pattern).probes().isEmpty();
        } catch (IOException e) {
            return false; // It became another program, or ended.
        }
    }

    private static List<Map<String, @Nullable Object>> assertFires(String... operands)
            throws IOException, InterruptedException {
        return threeEvents(Cli.run(trace(operands)));
    }

    /** The arguments of a trace that ends with its third event. */
    private static String[] trace(String... operands) {
        return Stream.concat(Stream.of("trace", "--json", "--count", "3"), Stream.of(operands))
                .toArray(String[]::new);
    }

    private static List<Map<String, @Nullable Object>> threeEvents(Commands.Result result) {
        assertThat(result.exitCode()).as(result.err()).isZero();
        List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
        assertThat(lines).as(result.out() + result.err()).hasSize(4);
        return lines.subList(0, 3);
    }
}
