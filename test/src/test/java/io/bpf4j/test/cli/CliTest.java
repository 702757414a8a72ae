package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static io.bpf4j.test.support.Requirement.READELF;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as a black box, as far as it needs no root: list, args, inspect, and bad input. */
@Requires({GCC, SDT_H, ASSEMBLER})
class CliTest {
    private static Path folder = Path.of("/nonexistent");

    @BeforeAll
    static void makeFolder() throws IOException {
        folder = TargetProgram.temporaryFolder();
    }

    private static Path file(String name, byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes);
    }

    @Test
    void usageErrorsEndWithTwo() throws IOException, InterruptedException {
        for (String[] wrong : List.of(
                new String[] {"no-such-command"},
                new String[] {"list", "--no-such-option"},
                new String[] {"trace"},
                new String[] {"args", "--machine", "pdp11", "8@%rax"})) {
            Commands.Result result = Cli.run(wrong);
            assertThat(result.exitCode()).as(Arrays.toString(wrong)).isEqualTo(2);
            assertThat(result.err()).isNotBlank().doesNotContain("\tat ");
        }
    }

    @Test
    void helpAndVersionEndWithZero() throws IOException, InterruptedException {
        assertThat(Cli.check("--help")).contains("list", "trace", "load", "inspect", "features", "args", "demo");
        assertThat(Cli.check("--version")).contains("bpf4j");
        assertThat(Cli.check("trace", "--help")).contains("--str");
    }

    @Test
    @SuppressWarnings("unchecked")
    void listAsJson() throws IOException, InterruptedException {
        Path program = TargetProgram.compile("-O2");
        List<Map<String, @Nullable Object>> probes =
                Json.lines(Cli.check("list", "--json", program.toString(), "target:forms"));

        assertThat(probes).hasSize(1);
        Map<String, @Nullable Object> probe = probes.getFirst();
        assertThat(probe)
                .containsEntry("path", program.toString())
                .containsEntry("provider", "target")
                .containsEntry("name", "forms");
        List<Map<String, @Nullable Object>> sites = (List<Map<String, @Nullable Object>>) value(probe, "sites");
        assertThat(sites).hasSize(1);
        assertThat(sites.getFirst()).containsKeys("address", "offset", "semaphore", "args", "parsed");
        assertThat((String) sites.getFirst().get("args")).startsWith("-1@%bl 1@%bl");
        List<Map<String, @Nullable Object>> parsed =
                (List<Map<String, @Nullable Object>>) value(sites.getFirst(), "parsed");
        assertThat(parsed).hasSize(12);
        assertThat(parsed.get(0))
                .containsEntry("size", 1L)
                .containsEntry("signed", true)
                .containsEntry("kind", "register")
                .containsEntry("register", "rbx");
        assertThat(parsed.get(7)).containsEntry("kind", "constant").containsEntry("value", -9L);
        assertThat(parsed.get(8))
                .containsEntry("kind", "sib")
                .containsEntry("register", "rcx")
                .containsEntry("index", "rdx")
                .containsEntry("scale", 1L)
                .containsEntry("offset", 8L);
        assertThat(parsed.get(9))
                .containsEntry("kind", "sib")
                .containsEntry("register", "rdi")
                .containsEntry("index", "r9")
                .containsEntry("scale", 8L)
                .containsEntry("offset", -8L);
        assertThat(parsed.get(10)).containsEntry("kind", "dereference").containsEntry("symbol", "target_global");
    }

    @Test
    void listMatchesGlobsAndShowsSemaphores() throws IOException, InterruptedException {
        String program = TargetProgram.compile("-O2").toString();
        List<Map<String, @Nullable Object>> probes = Json.lines(Cli.check("list", "--json", program, "tar*:*e*"));
        assertThat(probes)
                .extracting(p -> p.get("name"))
                .contains("sizes", "memory", "text", "guarded")
                .doesNotContain("forms", "many");
        assertThat(Cli.check("list", program)).contains("sizes").contains("many");
    }

    @Test
    @Requires({HOTSPOT_PROBES, READELF})
    void listOfLibjvmHasAllSites() throws IOException, InterruptedException {
        String libjvm = ChildJvm.libjvm().toString();
        long notes = Commands.check(List.of("readelf", "-n", libjvm))
                .lines()
                .filter(l -> l.contains("Provider: "))
                .count();
        long sites = Json.lines(Cli.check("list", "--json", libjvm)).stream()
                .mapToLong(p -> ((List<?>) value(p, "sites")).size())
                .sum();
        assertThat(sites).isEqualTo(notes).isPositive();
    }

    @Test
    @Requires(HOTSPOT_PROBES)
    void listOfAProcess() throws IOException, InterruptedException {
        try (ChildJvm jvm = ChildJvm.start()) {
            assertThat(Json.lines(
                            Cli.check("list", "--json", "-p", Integer.toString(jvm.pid()), "hotspot:class__loaded")))
                    .singleElement()
                    .satisfies(p -> assertThat((String) p.get("path")).endsWith("libjvm.so"));
        }
    }

    @Test
    void badFilesGiveOneLineEach() throws IOException, InterruptedException {
        byte[] program = Files.readAllBytes(TargetProgram.compile("-O2"));
        Map<String, String> expected = Map.of(
                folder.resolve("no-such-file").toString(),
                "no-such-file",
                folder.toString(),
                "directory",
                file("text", "just text, no ELF\n".getBytes(StandardCharsets.UTF_8))
                        .toString(),
                "ELF",
                file("empty", new byte[0]).toString(),
                "empty",
                file("cut", Arrays.copyOf(program, 40)).toString(),
                "cut",
                file("half", Arrays.copyOf(program, program.length / 2)).toString(),
                "half");
        for (Map.Entry<String, String> bad : expected.entrySet()) {
            assertThat(Cli.fail("list", bad.getKey())).contains(bad.getKey()).contains(bad.getValue());
            assertThat(Cli.fail("inspect", bad.getKey())).contains(bad.getKey());
        }
    }

    @Test
    void noNotesAndNoSuchProbeAreTold() throws IOException, InterruptedException {
        Path plain = folder.resolve("plain");
        Path source = file("plain.c", "int main(void) { return 0; }".getBytes(StandardCharsets.UTF_8));
        Commands.check(List.of("gcc", "-o", plain.toString(), source.toString()));
        assertThat(Cli.fail("list", plain.toString()))
                .contains(plain.toString())
                .contains("no USDT");

        String program = TargetProgram.compile("-O2").toString();
        assertThat(Cli.fail("list", program, "target:gaurded")).contains("target:guarded");
        assertThat(Cli.fail("list", program, "nobody:*")).contains("nobody").contains("target");
    }

    @Test
    void listSaysWhichPatternHasNoProbe() throws IOException, InterruptedException {
        String program = TargetProgram.compile("-O2").toString();
        Commands.Result listed = Cli.run("list", program, "target:guarded", "target:gaurded");
        assertThat(listed.exitCode()).as(listed.err()).isZero();
        assertThat(listed.out()).contains("target:guarded");
        assertThat(listed.err().lines())
                .singleElement()
                .asString()
                .contains("no probe target:gaurded", "the nearest is target:guarded");
    }

    /** As for the other commands; a file that is named twice is listed once. */
    @Test
    void aPatternWithAFileIsForThisFileAlone(@TempDir Path folder) throws IOException, InterruptedException {
        Path program = TargetProgram.compile("-O2");
        Path other = Files.copy(program, folder.resolve("other"));
        assertThat(Json.lines(Cli.check(
                        "list",
                        "--json",
                        "usdt:" + program + ":target:guarded",
                        "usdt:" + program + ":target:sizes",
                        "usdt:" + other + ":target:many")))
                .extracting(probe -> Path.of(String.valueOf(probe.get("path"))), probe -> probe.get("name"))
                .containsExactlyInAnyOrder(tuple(program, "guarded"), tuple(program, "sizes"), tuple(other, "many"));
        Commands.Result listed =
                Cli.run("list", "usdt:" + program + ":target:guarded", "usdt:" + other + ":target:gaurded");
        assertThat(listed.err().lines())
                .singleElement()
                .asString()
                .contains("no probe target:gaurded in " + other, "the nearest is target:guarded");
    }

    @Test
    void namesAsDtraceWritesThemChooseByModuleAndFunction() throws IOException, InterruptedException {
        Path program = TargetProgram.compile("-O2");
        String module = program.getFileName().toString();
        assertThat(Cli.check("list", "-v", program.toString(), "target:::guarded"))
                .containsPattern("MODULE +FUNCTION")
                .containsPattern(" " + module + " +fire_guarded ");
        String json = Cli.check(
                "list", "-v", "--json", program.toString(), "target:" + module + ":fire_[g]*:{guarded,other}");
        assertThat(Json.lines(json))
                .singleElement()
                .satisfies(probe -> assertThat(probe.get("name")).isEqualTo("guarded"));
        assertThat(json).contains("\"function\":\"fire_guarded\"");
        assertThat(Cli.fail("list", program.toString(), "target::main:guarded"))
                .contains("no probe target:*:main:guarded", "but not in this module");
        assertThat(Cli.run("list", "target$target:::guarded").err())
                .contains("$target is the process of -p, which is not given");
    }

    /** A number after the provider chooses one of the processes that run the same file. */
    @Test
    void namesAsDtraceWritesThemChooseAmongAllProcesses() throws IOException, InterruptedException {
        try (TargetProgram asked = TargetProgram.start("-O2");
                TargetProgram other = TargetProgram.start("-O2")) {
            Map<String, Object> probe =
                    Json.lines(Cli.run("list", "--all", "--json", "target*:::guarded")
                                    .out())
                            .stream()
                            .filter(found -> asked.path().toString().equals(found.get("path")))
                            .findFirst()
                            .orElseThrow();
            assertThat(probe.get("pids"))
                    .asInstanceOf(InstanceOfAssertFactories.LIST)
                    .contains((long) asked.pid(), (long) other.pid());
            String ofOne = "target" + asked.pid() + ":::guarded";
            assertThat(Cli.check("list", ofOne)).contains(asked.path().toString(), "target:guarded");
            assertThat(Cli.run("list", "--all", ofOne).err())
                    .contains("one name selects process " + asked.pid() + ", but --all selects all processes");
            assertThat(Cli.run("count", "--all", ofOne).err()).contains("a name with a process's number and --all");
        }
    }

    @Test
    void aPidThatNoProcessHasIsTold() throws IOException, InterruptedException {
        // PID_MAX_LIMIT of include/linux/threads.h: the numbers of processes are below it. That of one that has ended
        // may be another's by now.
        String none = "4194304";
        assertThat(Cli.fail("list", "-p", none)).contains("no process " + none);
    }

    @Test
    void argumentStringsAreExplained() throws IOException, InterruptedException {
        Map<String, @Nullable Object> line =
                Json.object(Cli.check("args", "--machine", "x86_64", "--json", "-4@-20(%rbp) 8@%rax 8f@%xmm0"));
        assertThat(line).containsEntry("args", "-4@-20(%rbp) 8@%rax 8f@%xmm0");
        List<?> parsed = (List<?>) value(line, "parsed");
        assertThat(parsed).hasSize(3);
        assertThat(parsed.toString())
                .contains("kind=dereference", "register=rbp", "offset=-20")
                .contains("kind=register", "register=rax")
                .contains("kind=unsupported", "float=true", "reason=");
    }

    @Test
    void argumentStringsFromStandardInputGiveALineEach() throws IOException, InterruptedException {
        Path input = file("strings", "8@%rax\n\n-4@$5 nonsense\n".getBytes(StandardCharsets.UTF_8));
        List<String> command = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" < " + input, "sh"));
        command.addAll(Cli.command("args", "--json", "--machine", "x86_64", "-"));
        assertThat(Json.lines(Commands.check(command)))
                .extracting(l -> l.get("args"))
                .containsExactly("8@%rax", "", "-4@$5 nonsense");
    }

    @Test
    void inspectNeedsNoRootAndNamesWhatIsInside() throws IOException, InterruptedException {
        Path object = file("maps.bpf.o", TestObjects.bytes("maps.bpf.o"));
        List<String> command = new ArrayList<>(List.of("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"));
        command.addAll(Cli.command("inspect", object.toString()));
        assertThat(Commands.check(command)).contains("maps", "hash", "per_cpu", "ring", "target_tgid", "failed_line");
        Json.lines(Cli.check("inspect", "--json", object.toString()));
    }

    private static Object value(Map<String, @Nullable Object> object, String key) {
        Object value = object.get(key);
        if (value == null) {
            throw new AssertionError("no " + key + " in " + object);
        }
        return value;
    }

    @Test
    void inspectShowsStructsOfFunctions() throws IOException, InterruptedException {
        Path object = file("struct_ops.bpf.o", TestObjects.bytes("struct_ops.bpf.o"));
        assertThat(Cli.check("inspect", object.toString()))
                .contains("?.struct_ops.link", "ssthresh=ssthresh undo_cwnd=undo_cwnd cong_avoid=first_avoid");
        assertThat(Cli.check("inspect", "--json", object.toString()))
                .contains("\"cong_avoid\":\"second_avoid\"", "\"struct\":\"tcp_congestion_ops___future\"");
    }

    @Test
    void aDryRunTellsWhichKernelsWouldDo() throws IOException, InterruptedException {
        Path object = file("core.bpf.o", TestObjects.bytes("core.bpf.o"));
        Path kernels = Files.createDirectories(folder.resolve("kernels"));
        kernel(kernels.resolve("old.btf"), "state", 8);
        kernel(kernels.resolve("new.btf"), "__state", 4);
        Files.writeString(kernels.resolve("readme"), "not BTF");

        Commands.Result result =
                Cli.run("load", "--dry-run", "--json", "-v", "--btf", kernels.toString(), object.toString());
        List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
        assertThat(lines)
                .extracting(line -> line.get("kernel"))
                .containsExactly(
                        kernels.resolve("new.btf").toString(),
                        kernels.resolve("old.btf").toString());
        assertThat(result.out())
                .contains("\"question\":\"byte offset of struct task_struct.__state\",\"local\":0,\"target\":64")
                .contains("\"question\":\"byte offset of struct task_struct___old.state\",\"local\":0,\"target\":64")
                .contains("has no struct bpf_prog");
        // Its programs are optional: the object itself fits anywhere.
        assertThat(result.exitCode()).as(result.err()).isEqualTo(0);

        Path needy = file("trace.bpf.o", TestObjects.bytes("arena.bpf.o"));
        Commands.Result refused = Cli.run("load", "--dry-run", "--btf", kernels.toString(), needy.toString());
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).isEmpty();
        assertThat(refused.out().lines().filter(line -> line.endsWith(": does not fit")))
                .hasSize(2);
        assertThat(refused.out()).contains("needs a function bpf_arena_alloc_pages in the kernel's BTF");
    }

    @Test
    void whatIsNoBtfIsOneLine() throws IOException, InterruptedException {
        Path object = file("object.bpf.o", TestObjects.bytes("counters.bpf.o"));
        Path text = file("text", "no BTF".getBytes(StandardCharsets.UTF_8));
        for (String wrong : List.of(text.toString(), "/no/such/file", "/dev/null", "/dev/zero")) {
            Commands.Result result = Cli.run("load", "--dry-run", "--btf", wrong, object.toString());
            assertThat(result.exitCode()).as(wrong).isEqualTo(1);
            assertThat(result.out()).as(wrong).isEmpty();
            assertThat(result.err().lines())
                    .as(wrong)
                    .hasSize(1)
                    .allSatisfy(line -> assertThat(line).startsWith("bpf4j: ").contains(wrong));
        }
        Commands.Result twice = Cli.run("load", "--btf", text.toString(), "--btf", text.toString(), object.toString());
        assertThat(twice.exitCode()).isEqualTo(2);
        assertThat(twice.err()).contains("only with --dry-run");
    }

    /** A kernel of one struct with one member. */
    private static void kernel(Path file, String member, int size) throws IOException {
        BtfBuilder types = BtfBuilder.create();
        int number = types.integer("number", size, 0);
        types.struct("task_struct", 128, BtfType.Member.at(member, number, 64));
        Files.write(file, types.toBytes(ByteOrder.LITTLE_ENDIAN));
    }
}
