package io.bpf4j.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Assembler;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.util.HexFormat;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Maps that one program has for itself: what the kernel is told, and what is refused before. */
class ExclusiveMapsTest {
    private final ScriptedKernel kernel = new ScriptedKernel();

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    private static ObjectSpec spec(String program) {
        Assembler code = Assembler.create().loadMap(R1, "table").mov(R0, 7).exit();
        return ObjectSpec.of("test")
                .withMap(MapSpec.of("table", MapType.ARRAY, 4, 4, 1).withExclusiveProgram(program))
                .withProgram(ProgramSpec.of("socket", FunctionSpec.of("own", code)));
    }

    private BpfLoader loader(ObjectSpec spec, Feature... without) {
        return BpfLoader.of(spec)
                .host(kernel.host())
                .features(ScriptedLoads.everything().without(without));
    }

    /** Of 18 11 then zeroes, b7 00 00 00 07 00 00 00, and 95 then zeroes. */
    @Test
    void theKernelGetsTheHashOfTheInstructionsWithoutTheMapsNumber() {
        loader(spec("own")).load().close();
        MapCommand.Create create = kernel.commands(MapCommand.Create.class).getLast();
        if (java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.LITTLE_ENDIAN) {
            assertThat(HexFormat.of().formatHex(create.programHash()))
                    .isEqualTo("6751555a61820a413e6394ad04260a766f9a4036290c70a9ee5731a9a2541f70");
        }
        assertThat(create.programHash()).hasSize(32);
    }

    private void assertRefused(String program, UnaryOperator<BpfLoader> edit, String reason) {
        assertThatThrownBy(() -> edit.apply(loader(spec(program))).load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("test: map \"table\" is exclusive to program \"" + program + "\", ")
                .hasMessageContaining(reason);
    }

    @Test
    void aProgramWithoutAHashIsRefused() {
        assertRefused("other", loader -> loader, "which does not exist");
        assertRefused("own", l -> l.program("own", p -> p.withAutoload(false)), "which is left out");
        assertRefused("own", l -> l.instructions("own", code -> code), "BpfLoader.instructions");
    }

    @Test
    void aMapWithoutItsObjectIsRefused() {
        MapSpec own = spec("own").map("table");
        assertThatThrownBy(() -> Maps.create(kernel.host(), ScriptedLoads.everything(), own))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("can be created only together with that program's object");
        MapSpec outer = MapSpec.of("outer", MapType.ARRAY_OF_MAPS, 4, 4, 1).withInner(own);
        assertThatThrownBy(() -> Maps.create(kernel.host(), ScriptedLoads.everything(), outer))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("not as an inner map");
    }

    @Test
    void aKernelThatSaysWhyItRefusesAMapIsQuoted() {
        ObjectSpec spec = ObjectSpec.of("test").withMap(MapSpec.of("table", MapType.ARRAY, 4, 4, 1));
        kernel.fail(MapCommand.Create.class, Errno.EINVAL);
        kernel.answer(MapCommand.WhyRefused.class, _ -> "Invalid numa_node.");
        assertThatThrownBy(() -> loader(spec).load())
                .hasMessageContaining("can't create a map of")
                .hasMessageEndingWith("it says: Invalid numa_node.");
    }

    @Test
    void aKernelWithoutSuchMapsIsNamed() {
        for (Errno errno : new Errno[] {Errno.EINVAL, Errno.E2BIG}) {
            kernel.fail(
                    command -> command instanceof MapCommand.Create create && create.programHash().length > 0, errno);
            assertThatThrownBy(() -> loader(spec("own"), Feature.EXCLUSIVE_MAP).load())
                    .isInstanceOf(UnsupportedFeatureException.class)
                    .hasMessageContaining("create map \"table\"")
                    .hasMessageContaining("6.18");
        }
    }
}
