package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.TestObject;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Feature;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * An object that somebody makes to break a loader. It is read, loaded into a kernel that says yes to everything, and
 * tried against a kernel's types: whatever comes of it comes soon, and as an exception of the loader's own.
 */
@ExtendWith(ProcessorTimeLimit.class)
abstract class HostileObject {
    static final int MANY = 60_000;

    /** Most that a type has of members: 16 bits. */
    static final int MEMBERS = 65_000;

    static final int EXEC = 4;
    static final Instruction EXIT = new Instruction(Opcodes.JMP | Opcodes.EXIT, 0, 0, 0, 0);
    static final Instruction CALL = new Instruction(Opcodes.JMP | Opcodes.CALL, 0, Opcodes.PSEUDO_CALL, 0, -1);
    static final Instruction MOV = new Instruction(Opcodes.ALU64 | Opcodes.MOV, 0, 0, 0, 0);
    static final Instruction LOAD = new Instruction(Opcodes.LD_IMM64, 1, 0, 0, 0);
    static final Instruction LOAD_2 = new Instruction(0, 0, 0, 0, 0);

    static final Features OLD = Features.of(feature -> switch (feature) {
        case Feature.GLOBAL_DATA, Feature.BTF, Feature.BTF_FUNC, Feature.BTF_DATASEC -> new Support.Present("scripted");
        default -> new Support.Absent("scripted");
    });

    final TestObject object = new TestObject();
    final BtfBuilder types = object.types;
    final Relocations relocations = new Relocations();

    /** CO-RE relocations of one section. */
    final class Relocations {
        private final List<int[]> records = new ArrayList<>();

        void add(int slot, int type, String access, int kind) {
            records.add(new int[] {slot * 8, type, types.string(access), kind});
        }

        byte[] ext(String... sections) {
            int table = 4 + sections.length * (8 + records.size() * 16);
            ByteBuffer ext = ByteBuffer.allocate(32 + table).order(ByteOrder.LITTLE_ENDIAN);
            ext.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0).putInt(32);
            ext.putInt(0).putInt(0).putInt(0).putInt(0).putInt(0).putInt(table).putInt(16);
            for (String section : sections) {
                ext.putInt(types.string(section)).putInt(records.size());
                for (int[] record : records) {
                    for (int word : record) {
                        ext.putInt(word);
                    }
                }
            }
            return ext.array();
        }
    }

    /** What became of an object with a kernel that has every feature. */
    enum Outcome {
        UNREADABLE,
        REFUSED,
        LOADED
    }

    final Outcome outcome() {
        return outcome(object.bytes());
    }

    final Outcome outcome(byte[] bytes) {
        ObjectSpec spec;
        try {
            spec = ObjectSpec.parse("test.o", bytes);
        } catch (MalformedDataException | InvalidObjectException e) {
            assertThat(e.getMessage()).contains("test.o").hasSizeLessThan(10_000);
            return Outcome.UNREADABLE;
        }
        // Its own types are a kernel that has all that it asks for.
        spec.btf().ifPresent(types -> tried(spec, types));
        loaded(spec, OLD);
        return loaded(spec, ScriptedLoads.everything());
    }

    static void tried(ObjectSpec spec, Btf kernel) {
        try {
            Fit fit = DryRun.of(spec, kernel);
            fit.programs()
                    .forEach(program -> assertThat(program.findings())
                            .allSatisfy(f -> assertThat(f.toString()).hasSizeLessThan(10_000)));
        } catch (MalformedDataException | BpfException e) {
            assertThat(e.getMessage()).isNotBlank().hasSizeLessThan(10_000);
        }
    }

    static Outcome loaded(ObjectSpec spec, Features features) {
        ScriptedKernel kernel = new ScriptedKernel();
        try (BpfObject loaded =
                ScriptedLoads.loader(kernel, spec).features(features).load()) {
            assertThat(loaded.spec()).isNotNull();
            return Outcome.LOADED;
        } catch (MalformedDataException | BpfException e) {
            assertThat(e.getMessage()).isNotBlank().hasSizeLessThan(10_000);
            return Outcome.REFUSED;
        } finally {
            assertThat(kernel.open()).isEmpty();
            assertThat(kernel.mappings()).isZero();
        }
    }

    /** A program of an instruction for each relocation. */
    final void relocated() {
        Instruction[] code = new Instruction[relocations.records.size() + 1];
        Arrays.fill(code, MOV);
        code[code.length - 1] = EXIT;
        object.program("socket", "prog", code);
        object.section(".BTF.ext", Section.SHT_PROGBITS, 0, relocations.ext("socket"));
    }

    final void functions(int section, int count, int slots) {
        for (int i = 0; i < count; i++) {
            object.symbol("f" + i, section, 8L * slots * i, 8L * slots, Symbol.STT_FUNC, Symbol.STB_GLOBAL, 0);
        }
    }

    static byte[] code(List<Instruction> code) {
        return Instructions.encode(code, ByteOrder.LITTLE_ENDIAN);
    }
}
