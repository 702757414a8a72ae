package io.bpf4j.loader.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.map.LoadedGlobal;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.MapType;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GlobalTest {
    private final ScriptedKernel kernel = new ScriptedKernel();
    private final KernelMap data = KernelMap.create(
            kernel.host(),
            MapCommand.Create.of(MapType.ARRAY.number(), ".data", 4, 24, 1).withFlags(MapSpec.F_MMAPABLE),
            ".data");

    @AfterEach
    void close() {
        data.close();
    }

    @Test
    void aMappedVariableIsReadAndWrittenWithoutACall() {
        Global mapped = new LoadedGlobal("counter", data, Optional.of(data.values(true)), true, 8, 8, Optional.empty());
        kernel.clearCommands();
        mapped.setLong(42);
        assertThat(mapped.getLong()).isEqualTo(42);
        assertThat(mapped.memory()).isPresent();
        assertThat(mapped.size()).isEqualTo(8);
        assertThat(mapped.isWritable()).isTrue();
        assertThat(kernel.commands()).isEmpty();
        Global unmapped = new LoadedGlobal("counter", data, Optional.empty(), true, 8, 8, Optional.empty());
        assertThat(unmapped.getLong()).as("the same variable").isEqualTo(42);
    }

    @Test
    void aClosedVariableIsNamed() {
        Global mapped = new LoadedGlobal("counter", data, Optional.of(data.values(true)), true, 8, 8, Optional.empty());
        data.close();
        assertThatThrownBy(mapped::getLong)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("variable counter: map \"" + data.name() + "\" is closed");
        assertThatThrownBy(() -> mapped.setLong(1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void anUnmappedVariableLeavesItsNeighboursAlone() {
        Global first = new LoadedGlobal("first", data, Optional.empty(), true, 0, 4, Optional.empty());
        Global second = new LoadedGlobal("second", data, Optional.empty(), true, 4, 1, Optional.empty());
        first.setInt(-1);
        second.setBoolean(true);
        assertThat(first.getInt()).isEqualTo(-1);
        assertThat(second.getBoolean()).isTrue();
        assertThat(second.memory()).isEmpty();
        second.setBoolean(false);
        assertThat(second.bytes()).containsExactly(0);
        assertThat(first.getInt()).isEqualTo(-1);
    }

    @Test
    void theSizeMustFit() {
        Global global = new LoadedGlobal("x", data, Optional.empty(), true, 0, 4, Optional.empty());
        assertThatThrownBy(() -> global.setLong(1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("variable x has 4 bytes, but was accessed as a variable of 8");
        assertThatThrownBy(global::getBoolean).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> global.set(new byte[3])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new LoadedGlobal("y", data, Optional.empty(), true, 21, 4, Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(
                        () -> new LoadedGlobal("y", data, Optional.empty(), true, Long.MAX_VALUE, 4, Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aReadOnlyVariableSaysWhenToSetIt() {
        Global global =
                new LoadedGlobal("target", data, Optional.of(data.values(false)), false, 0, 4, Optional.empty());
        assertThat(global.getInt()).isZero();
        assertThatThrownBy(() -> global.setInt(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("BpfLoader.global");
        assertThat(global.memory().orElseThrow().isReadOnly()).isTrue();
    }
}
