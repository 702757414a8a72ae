package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a person reads after a slip of the pen: the words of the command line, and the thing that is wrong. */
@Requires({GCC, SDT_H, X86_64})
class CliUsageTest {
    private static String usage(String... arguments) throws IOException, InterruptedException {
        Commands.Result result = Cli.run(arguments);
        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err().lines()).hasSize(2);
        assertThat(result.err()).doesNotContain("long", "double", "index", "[AUTO");
        return result.err().lines().findFirst().orElseThrow();
    }

    private static String program() {
        return TargetProgram.compile("-O2").toString();
    }

    /** The JVM ends there with a stack trace, so the launchers look first. */
    @Test
    void aRemovedWorkingDirectoryIsSaid(@TempDir Path folder) throws IOException, InterruptedException {
        Path checkout =
                TargetProgram.testModule().resolve("..").toAbsolutePath().normalize();
        for (Path launcher : List.of(checkout.resolve("cli/package/launcher"), checkout.resolve("bpf4j"))) {
            Path gone = Files.createDirectory(folder.resolve("gone"));
            Commands.Result result = Commands.run(List.of(
                    "sh",
                    "-c",
                    "cd \"$1\" && rmdir \"$1\" && exec sh \"$2\" list x",
                    "sh",
                    gone.toString(),
                    launcher.toString()));
            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err().lines().toList().getLast())
                    .isEqualTo("bpf4j: the working directory was removed; change to another one");
        }
    }

    @Test
    void aProbeWithoutItsProviderIsNotTakenForAFile() throws IOException, InterruptedException {
        String pid = Long.toString(ProcessHandle.current().pid());
        String hint = "'gc__begin' is not a file; probes are named PROVIDER:NAME, such as '*:gc__begin'";
        assertThat(usage("trace", "-p", pid, "gc__begin")).endsWith(hint);
        assertThat(usage("list", "-p", pid, "gc__begin")).endsWith(hint);
        assertThat(usage("trace", program(), "gc__begin")).endsWith(hint);
        assertThat(Cli.fail("list", "gc__begin")).contains("no such file, program or library", "'*:gc__begin'");
    }

    @Test
    @Requires(BPF)
    void numbersAreNamedAsAPersonWritesThem() throws IOException, InterruptedException {
        assertThat(usage("trace", program(), "target:sizes", "--where", ""))
                .endsWith("--where: the expression is empty");
        assertThat(usage("count", program(), "target:sizes", "--where", " "))
                .endsWith("--where: the expression is empty");
        assertThat(usage("trace", program(), "target:sizes", "--count", "1e20"))
                .endsWith("'--count': '1e20' is not a whole number up to 9223372036854775807");
        assertThat(usage("trace", program(), "target:sizes", "--duration", "soon"))
                .endsWith("'--duration': 'soon' is not a time, such as 10 or 0.5 (seconds), 500ms or 2m (minutes)");
        for (String otherNumber : List.of("1e308", "-1", "NaN", "Infinity", "2d", "0x1p3", "4KiB")) {
            assertThat(usage("trace", program(), "target:sizes", "--duration", otherNumber))
                    .contains("'" + otherNumber + "' is not a time, such as 10 or 0.5 (seconds)");
        }
        for (String impossible : List.of("0", "0ms", "1000000001", "300000h", "9".repeat(400))) {
            assertThat(usage("trace", program(), "target:sizes", "--duration", impossible))
                    .endsWith("--duration takes more than 0 and up to 1000000000 seconds");
        }
        for (String time : List.of("0.01", ".01", "10ms", "10000us", "10000000ns")) {
            assertThat(Cli.run("count", program(), "target:sizes", "--duration", time)
                            .out())
                    .isEqualTo("0 events\n");
        }
    }

    @Test
    void probesOfOtherToolsAreNamedAsTheyAreHere() throws IOException, InterruptedException {
        for (String probe : List.of("kprobe:vfs_read", "tracepoint:sched:sched_switch", "fentry:tcp_connect")) {
            assertThat(usage("count", probe)).contains("'" + probe + "' is a probe of the kernel", "u:NAME");
        }
        for (String probe : List.of("syscall::read:entry", "fbt::vfs_read:return", "syscall:::")) {
            assertThat(usage("count", probe)).contains("'" + probe + "' is a probe of the kernel");
        }
        for (String clock : List.of("profile:hz:99", "interval:s:1", "software:page-faults:100", "hardware:cycles:")) {
            assertThat(usage("count", clock)).contains("'" + clock + "' is a timer or counter event", "u:NAME");
        }
        assertThat(usage("count", "-c", "true", "u:libc.so.6:malloc,u:libc.so.6:free"))
                .endsWith("spaces separate probes, not commas: write u:libc.so.6:malloc u:libc.so.6:free");
        assertThat(usage("count", "-c", "true", "u:malloc,u:free"))
                .endsWith("spaces separate probes, not commas: write u:malloc u:free");
        assertThat(usage("count", "pid4711:libc.so.6:malloc:entry"))
                .endsWith("write 'pid4711:libc.so.6:malloc:entry' as -p 4711 u:libc.so.6:malloc");
        assertThat(usage("count", "-p", "1", "pid$target::malloc:return")).endsWith("as -p PID ur:malloc");
    }

    @Test
    void twoTargetsAreNamed() throws IOException, InterruptedException {
        assertThat(usage("trace", "-p", "1", "-c", "true", "a:b")).contains("-p and -c exclude each other");
        assertThat(usage("trace", "--all", "-c", "true", "a:b")).contains("-c and --all exclude each other");
    }

    /** {@code -a} is an option. */
    @Test
    @Requires(BPF)
    void anExpressionMayStartWithAMinus() throws IOException, InterruptedException {
        for (List<String> options : List.of(
                List.of("trace", "--show=-arg0"),
                List.of("trace", "--show", "-arg0,-arg1"),
                List.of("count", "--where", "-arg0 < 0", "--by", "-arg0"),
                List.of("hist", "--of", "-arg0"))) {
            List<String> command = new ArrayList<>(options);
            command.addAll(List.of(program(), "target:sizes", "--duration", "0.01"));
            Commands.Result result = Cli.run(command.toArray(String[]::new));
            assertThat(result.exitCode()).as(command + ": " + result.err()).isZero();
        }
        assertThat(usage("count", "-p", "1", "a:b", "--by", "-a")).contains("'--by'", "'-a'");
        assertThat(usage("count", "-p", "1", "a:b", "--by")).contains("'--by'");
    }

    @Test
    void whatIsTooMuchIsNamed() throws IOException, InterruptedException {
        assertThat(usage("features", "more")).endsWith("unexpected operand 'more'");
        assertThat(usage("features", "--helpers", "ext"))
                .endsWith("--helpers: the helpers of type ext depend on the attach target");
        assertThat(usage("features", "--jsno")).contains("there is no option '--jsno'; the nearest is '--json'");
        assertThat(usage("trcae", "-p", "1")).contains("there is no command 'trcae'; the nearest is 'trace'");
    }

    @Test
    void aStringThatNoProbeCanHaveIsNotIgnored() throws IOException, InterruptedException {
        assertThat(Cli.fail("trace", program(), "target:text", "--str", "9"))
                .matches(".*--str 9: target:text has \\d arguments, numbered from 0");
        assertThat(Cli.fail("trace", program(), "target:text", "--str", "0:9")).contains("--str 0:9: target:text has");
        assertThat(usage("trace", program(), "target:text", "--str", "0", "--str", "0:1"))
                .endsWith("argument 0 is given twice");
    }

    /** The kernel has cookies; what was asked for is the way without them. */
    @Test
    @Requires(BPF)
    void theWayByAddressesAsksForAProcess() throws IOException, InterruptedException {
        assertThat(Cli.fail("trace", program(), "target:sizes", "--strategy", "ipmap"))
                .contains("--strategy ipmap", "give -p PID")
                .doesNotContain("Linux");
    }

    @Test
    @Requires({BPF, UPROBE_MULTI})
    void argumentsThatNoProgramCanReadAreToldWithTheReason(@TempDir Path folder)
            throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("thirteen.c"), """
                #define SDT_USE_VARIADIC
                #include <sys/sdt.h>
                int main(void) {
                    STAP_PROBEV(t, thirteen, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
                    __asm__ volatile("990: nop\\n"
                                     ".pushsection .note.stapsdt,\\"\\",\\"note\\"\\n.balign 4\\n"
                                     ".4byte 992f-991f, 994f-993f, 3\\n991: .asciz \\"stapsdt\\"\\n992: .balign 4\\n"
                                     "993: .8byte 990b, _.stapsdt.base, 0\\n.asciz \\"t\\", \\"more\\"\\n"
                                     ".asciz \\"1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 1@$8 1@$9 1@$10 1@$11 1@$12 1@$13\\"\\n"
                                     "994: .balign 4\\n.popsection");
                    return 0;
                }
                """);
        Path program = folder.resolve("thirteen");
        Commands.check(List.of("gcc", "-o", program.toString(), source.toString()));
        Commands.Result result = Cli.run("trace", program.toString(), "t:more", "--duration", "0.2");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err())
                .contains("t:more arg12 can't be read: a BPF program can read the first 12 arguments only");
    }

    @Test
    void aStrippedFileIsCalledOne(@TempDir Path folder) throws IOException, InterruptedException {
        Path stripped = folder.resolve("stripped");
        Commands.check(List.of("strip", "-o", stripped.toString(), program()));
        Commands.Result result = Cli.run("list", stripped.toString(), "target:forms");
        assertThat(result.err())
                .contains(stripped + ": the file is stripped: arguments that name a removed symbol, such as");
        assertThat(Cli.run("list", program(), "target:forms").err()).isEmpty();
    }

    @Test
    void aLinkThatLeadsNowhereIsToldFromNoFile(@TempDir Path folder) throws IOException, InterruptedException {
        Path circle = Files.createSymbolicLink(folder.resolve("one"), folder.resolve("two"));
        Files.createSymbolicLink(folder.resolve("two"), circle);
        Path dangling = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("gone"));
        for (String command : List.of("list", "inspect", "load")) {
            assertThat(Cli.run(command, circle.toString()).err()).contains(circle + ": symbolic links form a loop");
            assertThat(Cli.run(command, dangling.toString()).err())
                    .contains(
                            dangling + ": is a symbolic link to " + folder.resolve("gone") + ", which does not exist");
        }
    }

    @Test
    void aDirectoryThatMayNotBeSearchedIsNotAFileThatIsGone(@TempDir Path folder)
            throws IOException, InterruptedException {
        Path closed = Files.createDirectory(folder.resolve("closed"));
        Path inside = Files.copy(Path.of(program()), closed.resolve("program"));
        List<String> command = new ArrayList<>();
        if (BPF.missing().isEmpty()) {
            // As root without the capability to read everything.
            command.addAll(List.of("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"));
        }
        command.addAll(Cli.command("list", inside.toString()));
        Files.setPosixFilePermissions(closed, Set.of());
        try {
            assertThat(Cli.oneLine(Commands.run(command), 1)).contains(inside + ": permission denied");
        } finally {
            Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------")); // to delete it
        }
    }

    /** The library says so, too: a BpfException, each time. */
    @Test
    void deniedNativeAccessNamesTheFlag() throws IOException, InterruptedException {
        for (List<String> arguments : List.of(List.of("features"), List.of("trace", program(), "target:sizes"))) {
            List<String> command = new ArrayList<>(Cli.command(arguments.toArray(String[]::new)));
            command.set(command.indexOf("--enable-native-access=ALL-UNNAMED"), "--illegal-native-access=deny");
            assertThat(Cli.oneLine(Commands.run(command), 1))
                    .contains("Java denies bpf4j native access", "run java with --enable-native-access=ALL-UNNAMED")
                    .doesNotContain("ulimit");
            command.add("--debug");
            assertThat(Commands.run(command).err())
                    .contains("io.bpf4j.sys.BpfException")
                    .doesNotContain("ExceptionInInitializerError", "NoClassDefFoundError");
        }
    }
}
