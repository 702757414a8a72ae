package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.link.OpenPerfEvent;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the kernel can't be asked for features, nothing is worked around, and what fails says so itself. */
class UnknownFeaturesTest {
    private static final Features UNKNOWN = Features.of(feature -> new Support.Unknown(
            "bpf(BPF_PROG_LOAD) for program \"probe\"", Errno.EPERM.number(), Optional.of("it needs CAP_BPF")));

    private final ScriptedKernel kernel = new ScriptedKernel();

    @ParameterizedTest
    @ValueSource(strings = {"maps.bpf.o", "globals.bpf.o", "links.bpf.o"})
    void theSameIsAskedOfTheKernelAsOfOneThatHasEverything(String name) {
        assertThat(asked(name, UNKNOWN)).isEqualTo(asked(name, ScriptedLoads.everything()));
    }

    private static List<String> asked(String name, Features features) {
        ScriptedKernel kernel = new ScriptedKernel();
        ObjectSpec spec = ScriptedLoads.spec(name);
        try (BpfObject object =
                BpfLoader.of(spec).host(kernel.host()).features(features).load()) {
            assertThat(object.programs()).isNotNull();
        }
        return kernel.commands().stream()
                .filter(command -> command instanceof MapCommand<?> || command instanceof ProgCommand<?>)
                .map(UnknownFeaturesTest::essence)
                .toList();
    }

    private static String essence(Command<?> command) {
        return command.call()
                + switch (command) {
                    case ProgCommand.LoadBtf btf -> " " + btf.btf().length + " bytes";
                    case ProgCommand.Load load ->
                        " " + load.name() + " for " + load.attachment().type() + ", "
                                + load.types().functions().count() + " functions";
                    case MapCommand.Create create -> " " + create.name() + " " + create.flags();
                    default -> "";
                };
    }

    @Test
    void theRefusalOfTheRealCallIsReported() {
        kernel.fail(Command.class, Errno.EPERM);
        for (String name : List.of("maps.bpf.o", "globals.bpf.o", "trace.bpf.o", "links.bpf.o")) {
            assertThatThrownBy(() -> BpfLoader.of(ScriptedLoads.spec(name))
                            .host(kernel.host())
                            .features(Features.of(kernel.host()))
                            .load())
                    .as(name)
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining("EPERM")
                    .hasMessageNotContaining("not supported");
        }
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void whatCantBeAskedExplainsNoRefusal() {
        kernel.answer(ProgCommand.Load.class, _ -> ScriptedKernel.refused(Errno.EINVAL, ""));
        assertThatThrownBy(() -> BpfLoader.of(ScriptedLoads.spec("links.bpf.o"))
                        .host(kernel.host())
                        .features(UNKNOWN)
                        .load())
                .isInstanceOf(BpfException.class)
                .isNotInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("EINVAL");
        kernel.fail(MapCommand.Create.class, Errno.EINVAL);
        assertThatThrownBy(() -> BpfLoader.of(ScriptedLoads.spec("maps.bpf.o"))
                        .host(kernel.host())
                        .features(UNKNOWN)
                        .load())
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("EINVAL");
    }

    @Test
    void aCookieIsNeverDroppedSilently() {
        // By ioctl, where there are no links, a perf event takes no cookie.
        Features noLinks = Features.of(feature -> new Support.Present("there")).without(Feature.PERF_LINK);
        ScriptedKernel scripted = new ScriptedKernel();
        try (BpfObject object = BpfLoader.of(ScriptedLoads.spec("links.bpf.o"))
                .host(scripted.host())
                .features(noLinks)
                .load()) {
            assertThatThrownBy(() -> object.program("on_uprobe")
                            .attach(OpenPerfEvent.of(1).withCookie(7)))
                    .isInstanceOf(UnsupportedFeatureException.class)
                    .hasMessageContaining("cookie");
            assertThat(scripted.commands(LinkCommand.Create.class)).isEmpty();
        }
        assertThat(scripted.open()).isEmpty();
    }
}
