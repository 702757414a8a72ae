package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFFS;
import static io.bpf4j.test.support.Requirement.BPFTOOL;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.CLANG;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF_ID;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.MapOfMaps;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.TargetProgram;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The commands prog, map, link and btf, on objects of this test among those of others. bpftool is the second opinion. */
@Requires({BPF, KERNEL_BTF})
@ExtendWith(LeakCheck.class)
@Timeout(600)
class CliInspectionTest {
    @TempDir
    Path folder;

    private static Map<String, @Nullable Object> record(String out, int id) {
        return Json.lines(out).stream()
                .filter(line -> Long.valueOf(id).equals(line.get("id")))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no id " + id + " in " + out));
    }

    private static Commands.Result run(String... line) throws Exception {
        return Cli.run(line);
    }

    @Test
    @Requires(BPFTOOL)
    void programsAreListedAsBpftoolListsThem() throws Exception {
        try (BpfObject object = Bpf.load("calls.bpf.o")) {
            String list = Cli.check("prog", "--json");
            String table = Cli.check("prog", "list");
            for (Program program : object.programs()) {
                int id = program.id();
                Map<String, @Nullable Object> ours = record(list, id);
                Map<String, @Nullable Object> theirs = Json.object(
                        Commands.check(List.of("bpftool", "-j", "prog", "show", "id", Integer.toString(id))));

                assertThat(ours.get("program_type")).isEqualTo(theirs.get("type"));
                assertThat(ours.get("tag")).isEqualTo(theirs.get("tag"));
                assertThat(ours.get("instruction_bytes")).isEqualTo(theirs.get("bytes_xlated"));
                assertThat(ours.get("machine_code_bytes")).isEqualTo(theirs.get("bytes_jited"));
                assertThat(ours.get("map_ids")).isEqualTo(theirs.getOrDefault("map_ids", List.of()));
                assertThat(ours.get("btf_id")).isEqualTo(theirs.get("btf_id"));
                assertThat(String.valueOf(ours.get("held_by")))
                        .contains("pid=" + ProcessHandle.current().pid());
                assertThat(table.lines())
                        .anyMatch(line -> line.startsWith(id + " ")
                                && line.contains(program.name().substring(0, 4)));
                assertThat(Cli.check("prog", "show", Integer.toString(id)))
                        .contains("program " + id, "tag", String.valueOf(theirs.get("tag")), "held by");
            }
        }
    }

    @Test
    void instructionsAreDumpedWithTheirSource() throws Exception {
        try (BpfObject object = Bpf.load("maps.bpf.o")) {
            Program program = object.programs().iterator().next();
            String id = Integer.toString(program.id());

            assertThat(Cli.check("prog", "dump", id))
                    .startsWith(program.name() + ":\n; ")
                    .contains(
                            "maps.bpf.c:",
                            "call bpf_ringbuf_",
                            "map[id:" + object.map("array").id() + "]");
            assertThat(Cli.check("prog", "dump", id, "--machine-code"))
                    .contains(program.name() + ": " + program.info().machineCodeBytes() + " bytes at 0xffff")
                    .containsPattern("\n +0:  [0-9a-f]{2} ");
            Map<String, @Nullable Object> code = Json.object(Cli.check("prog", "dump", id, "--json"));
            assertThat(String.valueOf(code.get("machine_code")))
                    .hasSize(2 * program.info().machineCodeBytes());
            assertThat((List<?>) code.get("lines")).hasSameSizeAs(program.code().lines());
        }
    }

    private static byte[] ints(int... numbers) {
        byte[] bytes = new byte[4 * numbers.length];
        ByteBuffer buffer = Bpf.buffer(bytes);
        for (int number : numbers) {
            buffer.putInt(number);
        }
        return bytes;
    }

    @Test
    void elementsAreShownByTheirTypes() throws Exception {
        try (BpfObject object = Bpf.load("maps.bpf.o")) {
            BpfMap hash = object.map("hash");
            hash.update(ints(1, 2), ints(7, 0, 3, 1));
            String id = Integer.toString(hash.id());

            assertThat(Cli.check("map", "dump", id))
                    .isEqualTo("{.kind = 1, .number = 2}: {.sum = 7, .touched = 3, .cpu = 1}\n");
            assertThat(Cli.check("map", "dump", id, "--json"))
                    .isEqualTo("{\"type\":\"element\","
                            + "\"key\":{\"kind\":1,\"number\":2},\"value\":{\"sum\":7,\"touched\":3,\"cpu\":1}}\n");
            assertThat(Cli.check("map", "show", id)).contains("8 bytes, struct key", "16 bytes, struct value");
            assertThat(Cli.check(
                            "map", "dump", Integer.toString(object.map("array").id()), "--count", "3"))
                    .isEqualTo("0: 0\n1: 0\n2: 0\n");
            assertThat(Cli.check(
                            "map",
                            "dump",
                            Integer.toString(object.map("per_cpu").id())))
                    .startsWith("0:\n  cpu 0: 0\n");
            assertThat(Json.lines(Cli.check(
                            "map",
                            "dump",
                            Integer.toString(object.map("per_cpu").id()),
                            "--json")))
                    .hasSize(2)
                    .allSatisfy(line -> assertThat((List<?>) line.get("values"))
                            .hasSize((int) (object.map("per_cpu").valueBytes() / 8)));
            assertThat(Cli.oneLine(
                            run(
                                    "map",
                                    "dump",
                                    Integer.toString(object.map("ring").id())),
                            1))
                    .contains("ringbuf", "no keys");
        }
    }

    @Test
    @Requires(BPFTOOL)
    void globalVariablesAreShownByName() throws Exception {
        try (BpfObject object = Bpf.load("globals.bpf.o")) {
            BpfMap data = object.maps().stream()
                    .filter(map -> map.name().endsWith(".bss"))
                    .findFirst()
                    .orElseThrow();
            String id = Integer.toString(data.id());
            String bpftool = Commands.check(List.of("bpftool", "map", "dump", "id", id));
            List<String> names = bpftool.lines()
                    .filter(line -> line.matches(" +\"[a-z_0-9]+\": .*") && !line.contains("\"value\": {"))
                    .map(line -> line.replaceAll("[^\"]*\"([^\"]*)\".*", "$1"))
                    .toList();

            assertThat(names).isNotEmpty();
            String ours = Cli.check("map", "dump", id);
            assertThat(names).allSatisfy(name -> assertThat(ours).contains("." + name + " = "));
            assertThat(Json.lines(Cli.check("map", "dump", id, "--json"))).hasSize(1);
        }
    }

    @Test
    void mapsAndProgramsAsValuesAreShownByTheirIds() throws Exception {
        String name = "cli_" + ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
        MapSpec inner = MapSpec.of("cli_inner", MapType.ARRAY, 4, 8, 1);
        try (BpfMap one = Maps.create(inner);
                BpfMap outer = Maps.create(
                        MapSpec.of(name, MapType.HASH_OF_MAPS, 4, 4, 2).withInner(inner))) {
            MapOfMaps.of(outer, Codec.ofString(4)).put("key", one);
            assertThat(Cli.check("map", "dump", name)).isEqualTo("6b 65 79 00: map " + one.id() + "\n");
            assertThat(Cli.check("map", "dump", name, "--json"))
                    .isEqualTo("{\"type\":\"element\",\"key\":\"6b657900\",\"value\":" + one.id() + "}\n");
            assertThat(run("map", "dump", name, "--count", "0").exitCode()).isEqualTo(2);
        }
        try (BpfObject object = Bpf.load("forms.bpf.o")) {
            assertThat(Cli.check(
                            "map", "dump", Integer.toString(object.map("tails").id())))
                    .isEqualTo("2: program " + object.program("tail").id() + "\n");
        }
    }

    @Test
    void aMapWithoutTypesIsShownAsBytes() throws Exception {
        String name = "cli_" + ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
        try (BpfMap map = Maps.create(MapSpec.of(name, MapType.HASH, 4, 4, 16))) {
            map.update(new byte[] {1, 2, 3, 4}, new byte[] {5, 6, 7, (byte) 0xff});
            // By its name, which is the only one, too.
            assertThat(Cli.check("map", "dump", name)).isEqualTo("01 02 03 04: 05 06 07 ff\n");
            assertThat(Cli.check("map", "dump", name, "--json"))
                    .isEqualTo("{\"type\":\"element\",\"key\":\"01020304\",\"value\":\"050607ff\"}\n");
        }
    }

    /** The kernel takes a union of any number of texts, each of which has all bytes of the value. */
    @Test
    @Requires(CLANG)
    void typesThatMultiplyAValueAreNotUsed() throws Exception {
        StringBuilder source = new StringBuilder("union all {\n");
        IntStream.range(0, 200).forEach(i -> source.append("char a").append(i).append("[4096];\n"));
        source.append("""
                };
                struct {
                	int (*type)[1];
                	int (*max_entries)[1];
                	unsigned *key;
                	union all *value;
                } cli_multiplied __attribute__((section(".maps"), used));
                """);
        Path file = Files.writeString(folder.resolve("multiplied.bpf.c"), source);
        Path object = folder.resolve("multiplied.bpf.o");
        Commands.check(Commands.clang(file, object));
        try (BpfObject loaded = BpfLoader.of(ObjectSpec.read(object)).load()) {
            BpfMap map = loaded.map("cli_multiplied");
            map.update(ints(7), "a".repeat(4096).getBytes(StandardCharsets.US_ASCII));
            String id = Integer.toString(map.id());

            Commands.Result text = run("map", "dump", id);
            assertThat(text.exitCode()).isZero();
            assertThat(text.err()).contains("keys and values are shown as bytes");
            assertThat(text.out())
                    .isEqualTo("%s: %s\n"
                            .formatted(hex(ints(7)), "61 ".repeat(4096).strip()));
            assertThat(Json.lines(run("map", "dump", id, "--json").out()))
                    .singleElement()
                    .satisfies(line -> assertThat(line).containsEntry("value", "61".repeat(4096)));
        }
    }

    private static String hex(byte[] bytes) {
        return HexFormat.ofDelimiter(" ").formatHex(bytes);
    }

    /**
     * The launcher puts U+FFFD in the place of bytes that are no text: the pin would get another name. Where the locale
     * does not have this character, such as in the container, the argument is refused for that.
     */
    @Test
    void aPathThatIsNoTextIsRefused() throws Exception {
        try (BpfMap map = Maps.create(MapSpec.of("cli_unpinned", MapType.HASH, 4, 4, 16))) {
            Commands.Result refused = run("map", "pin", Integer.toString(map.id()), "/sys/fs/bpf/a\ufffdb/c");
            assertThat(refused.exitCode()).isNotZero();
            assertThat(refused.err()).containsAnyOf("its name is not", "characters that the locale's encoding");
        }
    }

    @Test
    void aNameOfSeveralIsNotTaken() throws Exception {
        try (BpfMap one = Maps.create(MapSpec.of("cli_twice", MapType.HASH, 4, 4, 16));
                BpfMap other = Maps.create(MapSpec.of("cli_twice", MapType.HASH, 4, 4, 16))) {
            assertThat(Cli.oneLine(run("map", "dump", "cli_twice"), 1))
                    .contains("several", Integer.toString(one.id()), Integer.toString(other.id()));
        }
    }

    @Test
    void whatDoesNotExistIsNamed() throws Exception {
        assertThat(Cli.oneLine(run("prog", "show", "2147483647"), 1)).contains("no program with the id 2147483647");
        assertThat(Cli.oneLine(run("map", "dump", "99999999999"), 1)).contains("no map has the name");
        assertThat(Cli.oneLine(run("link", "show", "2147483647"), 1)).contains("no link with the id 2147483647");
        assertThat(Cli.oneLine(run("btf", "show", "2147483647"), 1)).contains("no BTF with the id 2147483647");
        assertThat(Cli.oneLine(run("prog", "show", "no_such_program"), 1)).contains("no_such_program");
        assertThat(Cli.oneLine(run("btf", "dump", "no_such"), 1)).contains("neither a file nor a loaded module");
        assertThat(run("prog", "nonsense").exitCode()).isEqualTo(2);
        assertThat(run("prog", "dump").exitCode()).isEqualTo(2);
        assertThat(run("prog", "list", "4").exitCode()).isEqualTo(2);
        assertThat(run("btf", "pin", "1", "/sys/fs/bpf/x").exitCode()).isEqualTo(2);
    }

    @Test
    @Requires(BPF_COOKIE)
    void linksSayWhatTheyAreAttachedTo() throws Exception {
        try (BpfObject object = Bpf.load("links.bpf.o");
                Link link = object.programs().stream()
                        .filter(program -> program.spec().sectionName().startsWith("tracepoint/"))
                        .findFirst()
                        .orElseThrow()
                        .attach()) {
            int id = link.info().id();
            Map<String, @Nullable Object> record = record(Cli.check("link", "--json"), id);

            assertThat(record.get("program_id")).isEqualTo((long) link.info().programId());
            boolean described = !(link.info().detail() instanceof LinkDetail.Unknown); // since Linux 6.6
            assertThat(record.get("link_type")).isEqualTo(described ? "tracepoint" : "perf_event");
            assertThat(record.get("target")).isEqualTo(described ? "sched_process_fork" : "");
            assertThat(Cli.check("link", "show", Integer.toString(id)))
                    .contains("link " + id, "attached to", String.valueOf(record.get("target")));
            assertThat(Cli.check("link", "list")).contains(String.valueOf(record.get("link_type")));
            Map<String, @Nullable Object> program =
                    record(Cli.check("prog", "--json"), link.info().programId());
            assertThat(String.valueOf(program.get("links"))).contains("id=" + id);
        }
    }

    @Test
    @Requires(BPFFS)
    void aPinIsMadeAndNamesItsObject() throws Exception {
        try (BpfFsMount mount = BpfFsMount.mount();
                BpfMap map = Maps.create(MapSpec.of("cli_pinned", MapType.HASH, 4, 4, 16))) {
            String pin = mount.path("here").toString();

            assertThat(Cli.check("map", "pin", Integer.toString(map.id()), pin)).isEmpty();
            assertThat(Cli.check("map", "show", pin)).contains("map " + map.id() + " cli_pinned");
            assertThat(Cli.oneLine(run("prog", "show", pin), 1)).contains(pin, "map");
            assertThat(Cli.oneLine(run("link", "show", pin), 1)).contains(pin, "map");
            assertThat(Cli.oneLine(run("map", "pin", Integer.toString(map.id()), pin), 1))
                    .contains("EEXIST");
            assertThat(map.unpin(Path.of(pin))).isTrue();
        }
    }

    @Test
    @Requires(BPFTOOL)
    void typesAreDumpedAsBpftoolDumpsThem() throws Exception {
        for (String name : List.of("calls.bpf.o", "maps.bpf.o", "hooks.bpf.o", "globals.bpf.o")) {
            Path object = Files.write(folder.resolve(name), TestObjects.bytes(name));
            assertThat(Cli.check("btf", "dump", object.toString()))
                    .isEqualTo(Commands.check(List.of("bpftool", "btf", "dump", "file", object.toString())));
        }
    }

    @Test
    @Requires(KERNEL_BTF_ID)
    void loadedTypesAreListedWithTheirUsers() throws Exception {
        try (BpfObject object = Bpf.load("maps.bpf.o")) {
            Program program = object.programs().iterator().next();
            int id = program.info().btfId();
            Map<String, @Nullable Object> record = record(Cli.check("btf", "--json"), id);

            assertThat(record.get("program_ids")).isEqualTo(List.of((long) program.id()));
            assertThat(String.valueOf(record.get("map_ids")))
                    .contains(Integer.toString(object.map("hash").id()));
            assertThat(Cli.check("btf", "list")).contains("vmlinux");
            assertThat(Cli.check("btf", "show", Integer.toString(id))).contains("BTF " + id, "programs");
            assertThat(Cli.check("btf", "dump", Integer.toString(id), "--format", "c"))
                    .startsWith("#ifndef __VMLINUX_H__\n")
                    .contains("struct value {\n\t__u64 sum;\n\t__u32 touched;\n\t__u32 cpu;\n};")
                    .endsWith("#endif /* __VMLINUX_H__ */\n");
            List<Map<String, @Nullable Object>> types =
                    new ArrayList<>(Json.lines(Cli.check("btf", "dump", Integer.toString(id), "--json")));
            assertThat(types.getFirst()).containsEntry("type", "btf_type").containsEntry("id", 1L);
        }
    }

    @Test
    @Requires(BPFTOOL)
    void theNeededTypesAreThoseOfBpftool() throws Exception {
        String kernel = "/sys/kernel/btf/vmlinux";
        for (String name : List.of("corpus/core_fields.bpf.o", "corpus/core_types.bpf.o", "core.bpf.o")) {
            Path object = Files.write(folder.resolve("object.bpf.o"), TestObjects.bytes(name));
            Path ours = folder.resolve("ours.btf");
            Path theirs = folder.resolve("theirs.btf");

            assertThat(Cli.check("btf", "minimize", "vmlinux", ours.toString(), object.toString()))
                    .startsWith("wrote " + ours + ": ");
            Commands.check(List.of("bpftool", "gen", "min_core_btf", kernel, theirs.toString(), object.toString()));
            assertThat(Cli.check("btf", "dump", ours.toString()))
                    .as(name)
                    .isEqualTo(Cli.check("btf", "dump", theirs.toString()));
        }
        assertThat(run("btf", "minimize", "vmlinux").exitCode()).isEqualTo(2);
        assertThat(run("btf", "pin", "1", "/sys/fs/bpf/x").err()).contains("BTF can't be pinned");
        assertThat(run("btf", "dump", "vmlinux", "--format", "c", "--json").err())
                .contains("--json and --format c can't be used together");
        assertThat(run("btf", "--help").out())
                .contains("list (the default), show, dump or minimize")
                .doesNotContain("pin");
    }

    @Test
    @Requires({GCC, SDT_H, ASSEMBLER, BPF_COOKIE})
    void whatATraceHoldsIsKnownAsItsOwn() throws Exception {
        String program = TargetProgram.compile("-O2").toString();
        try (RunningTrace trace = new RunningTrace("count", program, "target:sizes")) {
            trace.awaitMessage("tracing");
            List<String> own = Cli.check("map")
                    .lines()
                    .filter(line -> line.endsWith("bpf4j count (" + trace.pid() + ")"))
                    .toList();

            assertThat(own).isNotEmpty();
        }
    }
}
