package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.internal.call.TokenCommand;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is loaded with the rights of a token. */
class TokenTest {
    private static final Path BPFFS = Path.of("/sys/fs/bpf");

    private final ScriptedKernel kernel = new ScriptedKernel();

    @AfterEach
    void nothingStaysOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    private BpfLoader loader() {
        return ScriptedLoads.loader(kernel, ScriptedLoads.spec("maps.bpf.o")).token(BPFFS);
    }

    @Test
    void mapsProgramsAndBtfComeWithTheToken() {
        try (BpfObject object = loader().load()) {
            assertThat(kernel.open()).contains("BPF token of /sys/fs/bpf").doesNotContain("/sys/fs/bpf");
            assertThat(withToken(MapCommand.Create.class))
                    .isEqualTo(kernel.commands(MapCommand.Create.class))
                    .hasSize(object.maps().size());
            assertThat(withToken(ProgCommand.Load.class))
                    .isEqualTo(kernel.commands(ProgCommand.Load.class))
                    .isNotEmpty();
            assertThat(withToken(ProgCommand.LoadBtf.class)).hasSize(1);
            // A copy is loaded later, and needs it still.
            object.programs().iterator().next().forAttachType(AttachType.TRACE_UPROBE_MULTI);
            assertThat(withToken(ProgCommand.Load.class)).isEqualTo(kernel.commands(ProgCommand.Load.class));
        }
    }

    private <C> List<C> withToken(Class<C> type) {
        return kernel.commands().stream()
                .flatMap(command ->
                        command instanceof TokenCommand.With<?> with ? Stream.of(with.command()) : Stream.empty())
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    @Test
    void whatFailsGivesTheTokenBack() {
        kernel.failCalls(
                (_, command) ->
                        command instanceof TokenCommand.With<?> with && with.command() instanceof MapCommand.Create,
                Errno.EPERM);
        assertThatThrownBy(() -> loader().load())
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("with BPF token of /sys/fs/bpf");
        assertThat(kernel.open()).isEmpty();
        kernel.fail(TokenCommand.Create.class, Errno.EPERM);
        assertThatThrownBy(() -> loader().load())
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("bpf(BPF_TOKEN_CREATE) from /sys/fs/bpf");
    }
}
