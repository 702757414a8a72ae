package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is open after a failure. */
class DescriptorsTest {
    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Fd callers = kernel.execute(MapCommand.Create.of(MapType.HASH.number(), "callers", 4, 8, 1));

    @AfterEach
    void close() {
        callers.close();
        assertThat(kernel.open()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                FileCommand.Duplicate.class,
                FileCommand.NameOf.class,
                FileCommand.FlagsOf.class,
                ObjectCommand.InfoOfMap.class
            })
    void aFailureLeavesTheCallersDescriptorOnly(Class<? extends Command<?>> step) {
        kernel.failNth(1, step, Errno.EPERM);
        assertThatThrownBy(() -> Maps.takeOver(kernel.host(), callers.number())).isInstanceOf(SyscallException.class);
        assertThat(kernel.open()).containsExactly("map \"callers\"");
    }

    /** Linux releases the number of a descriptor also if close(2) fails, so nothing is left that could be given back. */
    @Test
    void aFailedCloseLeavesNothing() {
        Fd given = kernel.execute(MapCommand.Create.of(MapType.HASH.number(), "given", 4, 8, 1));
        kernel.failNth(1, FileCommand.Close.class, Errno.EIO);
        assertThatThrownBy(() -> Maps.takeOver(kernel.host(), given.number())).isInstanceOf(SyscallException.class);
        assertThat(kernel.open()).containsExactly("map \"callers\"");
    }

    @Test
    void anotherKindLeavesTheCallersDescriptorOnly() {
        assertThatThrownBy(() -> Programs.takeOver(kernel.host(), callers.number()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Links.takeOver(kernel.host(), callers.number()))
                .isInstanceOf(IllegalArgumentException.class);
        kernel.answer(FileCommand.NameOf.class, _ -> "");
        assertThatThrownBy(() -> Maps.takeOver(kernel.host(), callers.number()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("can't be checked without /proc");
        assertThat(kernel.open()).containsExactly("map \"callers\"");
    }

    @Test
    void aDescriptorThatCantBeMadeLeavesNothing() {
        try (BpfMap map = Maps.byId(kernel.host(), id(), MapAccess.READ_WRITE)) {
            List<String> before = List.copyOf(kernel.open());
            kernel.failNth(1, FileCommand.Duplicate.class, Errno.EMFILE);
            assertThatThrownBy(map::descriptor).hasMessageContaining("EMFILE");
            assertThat(kernel.open()).containsExactlyElementsOf(before);
            kernel.fail(FileCommand.Inherit.class, Errno.EPERM);
            try (Descriptor descriptor = map.descriptor()) {
                assertThatThrownBy(descriptor::makeInheritable).isInstanceOf(SyscallException.class);
                assertThat(descriptor.isClosed()).isFalse();
            }
            assertThat(kernel.open()).containsExactlyElementsOf(before);
        }
    }

    private int id() {
        return kernel.execute(new ObjectCommand.InfoOfMap(callers, false)).id();
    }
}
