package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFTOOL;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF_ID;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.TypedValue;
import io.bpf4j.elf.ByteView;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.DryRun;
import io.bpf4j.loader.Holders;
import io.bpf4j.loader.LoadedTypes;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.Pin;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.ProgramCode;
import io.bpf4j.loader.Types;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.CType;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What the kernel tells of what is loaded: types, code, values; and who has it. bpftool is the second opinion. */
@Requires({BPF, KERNEL_BTF})
@ExtendWith(LeakCheck.class)
@Timeout(300)
class InspectionOnKernelTest {
    @TempDir
    Path directory;

    @Test
    void theTypesOfAProgramAreReadById() {
        try (BpfObject object = Bpf.load("maps.bpf.o")) {
            Program program = object.programs().iterator().next();
            int id = program.info().btfId();

            assertThat(Types.ids()).contains(id);
            LoadedTypes info = Types.info(id);
            assertThat(info.id()).isEqualTo(id);
            assertThat(info.ofKernel()).isFalse();
            Btf types = Types.byId(id);
            assertThat(types.raw()).hasSize((int) info.size());
            assertThat(types.find(program.name(), BtfKind.FUNC)).isPresent();
        }
    }

    @Test
    @Requires(KERNEL_BTF_ID)
    void theKernelsOwnTypesHaveAnId() {
        LoadedTypes kernel = Types.ids().stream()
                .flatMap(id -> info(id).stream())
                .filter(types -> types.name().equals("vmlinux"))
                .findFirst()
                .orElseThrow();

        assertThat(kernel.ofKernel()).isTrue();
        assertThat(Types.byId(kernel.id()).raw()).isEqualTo(Types.ofKernel().raw());
    }

    /** Empty if the types are gone since their ID was listed. */
    private static Optional<LoadedTypes> info(int id) {
        try {
            return Optional.of(Types.info(id));
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                return Optional.empty();
            }
            throw e;
        }
    }

    @Test
    void anIdThatDoesNotExistIsNamed() {
        assertThatThrownBy(() -> Types.byId(Integer.MAX_VALUE))
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT))
                .hasMessageContainingAll("BPF_BTF_GET_FD_BY_ID", Integer.toString(Integer.MAX_VALUE));
    }

    @Test
    @Requires(BPFTOOL)
    void theCodeIsThatOfBpftool() throws Exception {
        try (BpfObject object = Bpf.load("calls.bpf.o")) {
            for (Program program : object.programs()) {
                ProgramCode code = program.code();
                String id = Integer.toString(program.id());

                assertThat(Instructions.encode(code.instructions(), ByteOrder.nativeOrder()))
                        .as(program.name())
                        .isEqualTo(dumped("xlated", id))
                        .hasSize(program.info().instructionBytes());
                assertThat(code.machineCode()).hasSize(program.info().machineCodeBytes());
                assertThat(code.functions().stream()
                                .mapToInt(ProgramCode.Function::machineCodeBytes)
                                .sum())
                        .isEqualTo(code.machineCode().length);
                assertThat(code.functions().getFirst().name()).isEqualTo(program.name());
                assertThat(code.functions()).isSortedAccordingTo((a, b) -> Integer.compare(a.slot(), b.slot()));
                String withLines = Commands.check(List.of("bpftool", "prog", "dump", "xlated", "id", id, "linum"));
                assertThat(withLines
                                .lines()
                                .filter(line -> line.startsWith("; "))
                                .count())
                        .isEqualTo(code.lines().size());
                for (ProgramCode.SourceLine line : code.lines()) {
                    assertThat(withLines).contains("; " + line.text().strip(), "line_num:" + line.line());
                }
            }
        }
    }

    private byte[] dumped(String what, String id) throws Exception {
        Path file = directory.resolve("dump");
        Commands.check(List.of("bpftool", "prog", "dump", what, "id", id, "file", file.toString()));
        return Files.readAllBytes(file);
    }

    @Test
    @Requires(BPFTOOL)
    void theTextOfInstructionsHasTheNamesOfFunctions() throws Exception {
        try (BpfObject object = Bpf.load("maps.bpf.o")) {
            Program program = object.programs().iterator().next();
            List<String> bpftool = Commands.check(
                            List.of("bpftool", "prog", "dump", "xlated", "id", Integer.toString(program.id())))
                    .lines()
                    .filter(line -> line.strip().matches("[0-9]+: .*"))
                    .map(String::strip)
                    // bpftool adds the distance of a called function.
                    .map(line -> line.replaceAll("(call [a-z_0-9]+)#[-0-9]+", "$1"))
                    .map(line -> line.replaceAll("map\\[id:(\\d+)\\]\\[0\\]\\+", "map[id:$1]+"))
                    .toList();

            assertThat(program.code().disassemble().stream()
                            // bpftool up to 7.4 does not know this instruction, and shows a plain MOV.
                            .map(line -> line.replaceAll("= &\\(void __percpu \\*\\)\\((r\\d+)\\)", "= $1"))
                            .toList())
                    .isEqualTo(bpftool.stream()
                            .map(line -> line.replaceAll("= &\\(void __percpu \\*\\)\\((r\\d+)\\)", "= $1"))
                            .toList());
        }
    }

    @Test
    void theValueOfAForeignMapIsShownByItsType() {
        try (BpfObject object = Bpf.load("maps.bpf.o");
                BpfMap opened = Maps.byId(object.map("hash").id())) {
            assertThat(opened.valueType()).isEmpty();
            CType type = Types.ofValue(opened).orElseThrow();
            byte[] value = new byte[opened.valueSize()];
            value[0] = 7;

            assertThat(type.btf().name(type.id())).isEqualTo("value");
            assertThat(TypedValue.text(type.btf(), type.id(), ByteView.of("value", value, ByteOrder.nativeOrder())))
                    .startsWith("{.")
                    .contains(" = ");
            assertThat(Types.ofKey(opened)).isPresent();
        }
    }

    @Test
    void aMapWithoutTypesHasNone() {
        try (BpfMap map = Maps.create(MapSpec.of("plain", MapType.HASH, 4, 8, 16))) {
            assertThat(Types.ofKey(map)).isEmpty();
            assertThat(Types.ofValue(map)).isEmpty();
        }
    }

    @Test
    void thisProcessHoldsItsOwnMaps() throws Exception {
        try (BpfMap map = Maps.create(MapSpec.of("held", MapType.HASH, 4, 8, 16))) {
            List<Integer> self = List.of((int) ProcessHandle.current().pid());
            // Whoever lists the maps of the machine has this one open, too, for a moment.
            Await.until(
                    "held by process " + self + " alone",
                    () -> Holders.scan().of(Pin.Kind.MAP, map.id()).stream()
                            .map(Holders.Holder::pid)
                            .toList(),
                    self::equals);
        }
        assertThat(Holders.scan().of(Pin.Kind.MAP, Integer.MAX_VALUE)).isEmpty();
    }

    @Test
    void objectsRelocateAgainstTheTypesThatTheyNeedAsAgainstAll() {
        Btf kernel = Types.ofKernel();
        int relocations = 0;
        for (String name : TestObjects.corpus()) {
            ObjectSpec object = Bpf.spec(name);
            Btf needed = DryRun.neededTypes(kernel, object);
            List<String> all = relocations(DryRun.of(object, kernel));

            assertThat(needed.raw().length).as(name).isLessThan(100_000);
            assertThat(relocations(DryRun.of(object, needed))).as(name).isEqualTo(all);
            relocations += all.size();
        }
        assertThat(relocations).isGreaterThan(100);
    }

    /** Without the ids of types, which are others in other BTF. */
    private static List<String> relocations(Fit fit) {
        return fit.programs().stream()
                .flatMap(program -> program.relocations().stream())
                .filter(relocation -> !relocation.question().startsWith("target type id"))
                .map(relocation -> relocation.location() + " " + relocation.question() + " " + relocation.target())
                .toList();
    }
}
