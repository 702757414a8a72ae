package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.spec.CodeReference;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.objects.TestObjects;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** jump_table.bpf.c: a table in a program, and one in a function that it calls. */
class JumpTablesTest {
    private final ScriptedKernel kernel = new ScriptedKernel();
    /** What was in each table, by the number of its map, when the program was loaded. */
    private final List<Map<String, String>> tables = new ArrayList<>();

    private BpfLoader loader() {
        return ScriptedLoads.loader(kernel, ScriptedLoads.spec("jump_table.bpf.o"))
                .program("choose", p -> p.withAutoload(true));
    }

    private static List<CodeReference.ToJumpTable> references(ObjectSpec spec) {
        return spec.functions().stream()
                .flatMap(function -> function.references().stream())
                .filter(CodeReference.ToJumpTable.class::isInstance)
                .map(CodeReference.ToJumpTable.class::cast)
                .toList();
    }

    @Test
    void tablesAreReadWithTheirPlacesInTheSection() {
        List<CodeReference.ToJumpTable> references = references(ScriptedLoads.spec("jump_table.bpf.o"));
        assertThat(references).hasSize(2);
        assertThat(references).extracting(CodeReference.ToJumpTable::offset).containsOnly(0);
        assertThat(references)
                .extracting(CodeReference.ToJumpTable::slots)
                // chosen() starts at slot 3 of .text, choose() at 0 of its own section
                .containsExactlyInAnyOrder(List.of(14, 16, 18, 20), List.of(15, 17, 15));
    }

    @Test
    void eachTableIsAFrozenMapWithThePlacesInTheProgram() {
        kernel.answer(ProgCommand.Load.class, load -> {
            load.instructionFds().forEach(map -> tables.add(kernel.elements(map)));
            return new LoadResult.Loaded(kernel.newFd("program"), "");
        });
        try (BpfObject object = loader().load()) {
            assertThat(object.programs()).hasSize(1);
            ProgCommand.Load load = kernel.commands(ProgCommand.Load.class).getLast();
            List<Instruction> code =
                    Instructions.decode(ByteView.of("program", load.instructions(), ByteOrder.nativeOrder()));
            List<Integer> targets = new ArrayList<>();
            for (int i = 0; i < code.size(); i++) {
                if (code.get(i).isLoadImm64()) {
                    assertThat(code.get(i).src()).isEqualTo(Opcodes.PSEUDO_MAP_VALUE);
                    assertThat(code.get(i + 1).imm()).isZero();
                    targets.add(code.get(i).imm());
                }
            }
            assertThat(targets).hasSize(2).doesNotHaveDuplicates();
            assertThat(kernel.commands(MapCommand.Create.class)).allSatisfy(create -> {
                assertThat(create.type()).isEqualTo(MapType.INSN_ARRAY.number());
                assertThat(create.keySize()).isEqualTo(4);
                assertThat(create.valueSize()).isEqualTo(16);
                assertThat(create.flags()).isZero();
            });
            assertThat(kernel.commands(MapCommand.Freeze.class)).hasSize(2);
            // choose() is at 0, before() at 19 and chosen() at 22, so that slot 14 of .text is 33 of the program.
            assertThat(tables)
                    .containsExactlyInAnyOrder(
                            Map.of(key(0), value(15), key(1), value(17), key(2), value(15)),
                            Map.of(key(0), value(33), key(1), value(35), key(2), value(37), key(3), value(39)));
            assertThat(code.get(33).imm()).as("r0 = 10").isEqualTo(10);
            assertThat(code.get(35).imm()).as("r0 = 20").isEqualTo(20);
            assertThat(kernel.open()).as("the program has them now").noneMatch(what -> what.contains("jumptables"));
        }
        assertThat(kernel.open()).isEmpty();
    }

    private static String key(int index) {
        return HexFormat.of().formatHex(new byte[] {(byte) index, 0, 0, 0});
    }

    private static String value(int slot) {
        byte[] value = new byte[16];
        value[0] = (byte) slot;
        return HexFormat.of().formatHex(value);
    }

    /** A table serves one program. */
    @Test
    void aCopyOfTheProgramHasTablesOfItsOwn() {
        try (BpfObject object = loader().load()) {
            object.program("choose").forAttachType(AttachType.TRACE_FENTRY);
            assertThat(kernel.commands(MapCommand.Create.class)).hasSize(4);
        }
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void nothingIsLeftOfAProgramThatIsRefused() {
        kernel.answer(ProgCommand.Load.class, _ -> ScriptedKernel.refused(Errno.EINVAL, "no"));
        assertThatThrownBy(() -> loader().load()).isInstanceOf(VerifierException.class);
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void nothingIsLeftOfATableThatCantBeFilled() {
        for (Class<?> step : List.of(MapCommand.Element.class, MapCommand.Freeze.class)) {
            for (int n = 1; n <= 2; n++) {
                ScriptedKernel failing = new ScriptedKernel();
                failing.failNth(n, step, Errno.ENOMEM);
                assertThatThrownBy(() -> ScriptedLoads.loader(failing, ScriptedLoads.spec("jump_table.bpf.o"))
                                .program("choose", p -> p.withAutoload(true))
                                .load())
                        .hasMessageContaining("ENOMEM");
                assertThat(failing.open()).isEmpty();
            }
        }
    }

    @Test
    void aKernelWithoutThemIsNamed() {
        kernel.fail(MapCommand.Create.class, Errno.EINVAL);
        assertThatThrownBy(() -> loader().features(ScriptedLoads.everything().without(Feature.INSN_ARRAY))
                        .load())
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("\"choose\"")
                .hasMessageContaining("6.19")
                .hasMessageContaining("-fno-jump-tables");
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void aTableThatLeadsOutOfItsFunctionIsRefused() {
        byte[] object = TestObjects.bytes("jump_table.bpf.o");
        int table = indexOf(object, new byte[] {0x78, 0, 0, 0, 0, 0, 0, 0, (byte) 0x88, 0, 0, 0, 0, 0, 0, 0});
        byte[] outside = object.clone();
        outside[table + 1] = 1; // byte 0x178
        assertThatThrownBy(() -> ObjectSpec.parse("x.o", outside))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("leads out of the function")
                .hasMessageContaining("choose");
        byte[] between = object.clone();
        between[table] = 0x79;
        assertThatThrownBy(() -> ObjectSpec.parse("x.o", between))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining(".jumptables");
        byte[] far = object.clone();
        far[table + 7] = (byte) 0x80;
        assertThatThrownBy(() -> ObjectSpec.parse("x.o", far)).isInstanceOf(MalformedDataException.class);
    }

    @Test
    void everyByteMayBeWrong() {
        byte[] object = TestObjects.bytes("jump_table.bpf.o");
        for (int i = 0; i < object.length; i++) {
            byte[] damaged = object.clone();
            damaged[i] ^= (byte) 0x81;
            try {
                references(ObjectSpec.parse("x.o", damaged));
            } catch (InvalidObjectException | MalformedDataException e) {
                assertThat(e).hasMessageContaining("x.o");
            }
        }
    }

    private static int indexOf(byte[] bytes, byte[] part) {
        for (int i = 0; i + part.length <= bytes.length; i++) {
            if (Arrays.equals(bytes, i, i + part.length, part, 0, part.length)) {
                return i;
            }
        }
        throw new AssertionError(new String(part, StandardCharsets.ISO_8859_1));
    }
}
