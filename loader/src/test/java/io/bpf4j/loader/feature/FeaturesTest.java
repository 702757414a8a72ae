package io.bpf4j.loader.feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.internal.linux.Kallsyms;
import io.bpf4j.loader.internal.sys.Command;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.MapCommand;
import io.bpf4j.loader.internal.sys.ProgCommand;
import io.bpf4j.loader.internal.sys.ScriptedKernel;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FeaturesTest {
    private final ScriptedKernel kernel = new ScriptedKernel();

    @ParameterizedTest
    @EnumSource(Feature.class)
    void aProbeLeavesNothingOpen(Feature feature, @TempDir Path empty) {
        new Probes(kernel, empty, new Kallsyms(empty.resolve("kallsyms"))).probe(feature);
        assertThat(kernel.open()).isEmpty();
        kernel.fail(Command.class, Errno.EPERM);
        assertThat(new Probes(kernel, empty, new Kallsyms(empty.resolve("kallsyms"))).probe(feature))
                .satisfies(support -> {
                    assertThat(support.supported()).isFalse();
                    assertThat(support.reason()).isNotBlank();
                });
    }

    @Test
    void aRefusedProgramSaysWhy() {
        kernel.fail(ProgCommand.Load.class, Errno.EINVAL);
        Support support = Features.probing(kernel).support(Feature.BPF_COOKIE);
        assertThat(support.supported()).isFalse();
        assertThat(support.reason()).isEqualTo("a program with it was refused: EINVAL (Invalid argument)");
    }

    @Test
    void uprobeMultiIsThereIfTheRootDirectoryIsRefusedAsAFile() {
        kernel.fail(LinkCommand.Create.class, Errno.EBADF);
        Features features = Features.probing(kernel);
        assertThat(features.has(Feature.UPROBE_MULTI_LINK)).isTrue();
        assertThat(features.has(Feature.UPROBE_MULTI_PROCESS))
                .as("needs EINVAL")
                .isFalse();
        LinkCommand.Create link = kernel.commands(LinkCommand.Create.class).getFirst();
        assertThat(link.attachType()).isEqualTo(AttachType.TRACE_UPROBE_MULTI.number());
        assertThat(link.details()).isInstanceOfSatisfying(LinkCommand.Details.UprobeMulti.class, details -> {
            assertThat(details.path()).isEqualTo("/");
            assertThat(details.pid()).isZero();
        });
    }

    @Test
    void uprobeMultiMeansProcessesIfPidMinusOneIsInvalid() {
        kernel.fail(LinkCommand.Create.class, Errno.EINVAL);
        Features features = Features.probing(kernel);
        assertThat(features.has(Feature.UPROBE_MULTI_PROCESS)).isTrue();
        assertThat(features.support(Feature.UPROBE_MULTI_LINK))
                .isEqualTo(Support.no("a link made wrong on purpose gave EINVAL, not EBADF"));
    }

    @Test
    void aLinkThatSucceedsAgainstAllExpectationIsUndone() {
        assertThat(Features.probing(kernel).has(Feature.PERF_LINK)).isFalse();
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void sysfsAnnounces(@TempDir Path sysfs) throws IOException {
        Path uprobe = Files.createDirectories(sysfs.resolve("bus/event_source/devices/uprobe/format"));
        Files.writeString(uprobe.resolveSibling("type"), "8\n");
        Probes probes = new Probes(kernel, sysfs, new Kallsyms(sysfs.resolve("kallsyms")));
        assertThat(probes.probe(Feature.PERF_UPROBE).supported()).isTrue();
        assertThat(probes.probe(Feature.UPROBE_REF_COUNTER).supported()).isFalse();
        Files.writeString(uprobe.resolve("ref_ctr_offset"), "config:32-63\n");
        assertThat(probes.probe(Feature.UPROBE_REF_COUNTER).supported()).isTrue();
        Files.writeString(sysfs.resolve("kallsyms"), "ffffffff81001000 T __arm64_sys_bpf\n");
        assertThat(probes.probe(Feature.SYSCALL_WRAPPER).supported()).isTrue();
    }

    @Test
    void theKernelIsAskedOnce() {
        Features features = Features.probing(kernel);
        features.has(Feature.RING_BUFFER);
        features.without(Feature.BTF).has(Feature.RING_BUFFER);
        features.has(Feature.RING_BUFFER);
        assertThat(kernel.commands(MapCommand.Create.class)).hasSize(1);
    }

    @Test
    void whatIsTakenAwayIsNotAskedFor() {
        AtomicInteger asked = new AtomicInteger();
        Features all = Features.of(feature -> {
            asked.incrementAndGet();
            return Support.yes("because");
        });
        Features less = all.without(Feature.UPROBE_MULTI_LINK).without(Feature.BPF_COOKIE);
        assertThat(less.has(Feature.UPROBE_MULTI_LINK)).isFalse();
        assertThat(less.has(Feature.BPF_COOKIE)).isFalse();
        assertThat(asked).hasValue(0);
        assertThat(less.has(Feature.PERF_LINK)).isTrue();
        assertThat(all.has(Feature.UPROBE_MULTI_LINK)).isTrue();
    }

    @Test
    void insistingOnAFeatureNamesTheVersion() {
        Features none = Features.of(_ -> Support.no("said so"));
        assertThatThrownBy(() -> none.require(Feature.RING_BUFFER, "map \"events\""))
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessage("map \"events\": ring buffer map not supported (requires Linux >= 5.8); said so");
    }
}
