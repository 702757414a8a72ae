package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import io.bpf4j.test.objects.TestObjects;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.Stream;

/**
 * Any bytes are an object or are refused, by an exception of the loader's own that names the object; a dry run judges
 * each program. A load by a kernel that says yes to everything ends as well, and leaves nothing open.
 */
class ObjectFuzzTest extends FuzzTarget {
    private static final String NAME = "fuzzed.bpf.o";

    /** The smallest of those that have different things. What needs the kernel's configuration reads it each time. */
    @Override
    protected List<byte[]> seeds() {
        return Stream.concat(
                        Stream.of(
                                        "empty.bpf.o",
                                        "resizable.bpf.o",
                                        "legacy.bpf.o",
                                        "pinned.bpf.o",
                                        "jump_table.bpf.o",
                                        "arena.bpf.o",
                                        "calls.bpf.o",
                                        "globals.bpf.o",
                                        "maps.bpf.o",
                                        "core.bpf.o",
                                        "struct_ops_module.bpf.o",
                                        "corpus/locks.bpf.o",
                                        "corpus/variables.bpf.o",
                                        "corpus/exceptions.bpf.o")
                                .map(TestObjects::bytes),
                        Stream.of(TestObjects.bytes("core.bpf.o", ByteOrder.BIG_ENDIAN)))
                .toList();
    }

    /** Types may be compared with each other as often as the budget of an object allows. */
    @Override
    protected Limits limits() {
        return Limits.USUAL.withExecutions(50).withBytes(32 << 20, 20_000).withSteps(20_000_000, 20_000);
    }

    @Override
    protected void read(byte[] input) {
        ObjectSpec spec;
        try {
            spec = ObjectSpec.parse(NAME, input);
        } catch (MalformedDataException | BpfException e) {
            assertThat(e.getMessage()).contains(NAME);
            return;
        }
        for (ProgramSpec program : spec.programs()) {
            assertThat((long) program.function().instructions().size() * Instruction.SIZE)
                    .isLessThanOrEqualTo(input.length);
        }
        if (spec.btf().isPresent()) {
            try {
                assertThat(DryRun.of(spec, spec.btf().get()).programs()).hasSameSizeAs(spec.programs());
            } catch (MalformedDataException | BpfException e) {
                assertThat(e.getMessage()).contains(NAME);
            }
        }
        if (spec.order().equals(ByteOrder.nativeOrder())) {
            load(spec);
        }
    }

    private static void load(ObjectSpec spec) {
        ScriptedKernel kernel = new ScriptedKernel();
        try (BpfObject object = ScriptedLoads.loader(kernel, spec).load()) {
            assertThat(object.spec()).isNotNull();
        } catch (MalformedDataException | BpfException e) {
            assertThat(e.getMessage()).isNotBlank();
        }
        assertThat(kernel.open()).isEmpty();
        assertThat(kernel.mappings()).isZero();
    }
}
