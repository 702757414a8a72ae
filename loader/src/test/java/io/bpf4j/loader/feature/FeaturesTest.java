package io.bpf4j.loader.feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.insn.Helper;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.KernelFeature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class FeaturesTest {
    private final ScriptedKernel kernel = new ScriptedKernel();

    static Stream<KernelFeature> features() {
        return Stream.of(
                        Stream.of(Feature.values()),
                        Stream.of(MapType.values()),
                        Stream.of(ProgramType.values()),
                        Stream.of(AttachType.values()),
                        Stream.of(ProgramType.XDP, ProgramType.TRACING, ProgramType.LSM)
                                .map(type -> new KernelFeature.Call(type, Helper.named("bpf_redirect"))))
                .flatMap(Function.identity());
    }

    @ParameterizedTest
    @MethodSource("features")
    void aProbeLeavesNothingOpen(KernelFeature feature, @TempDir Path empty) {
        probes(empty).probe(feature);
        assertThat(kernel.open()).isEmpty();
        kernel.fail(Command.class, Errno.EINVAL);
        assertThat(probes(empty).probe(feature).reason()).isNotBlank();
        assertThat(kernel.open()).isEmpty();
    }

    private Probes probes(Path files) {
        return new Probes(ScriptedHost.of(kernel, files));
    }

    static Stream<Arguments> refusals() {
        return features()
                .flatMap(feature -> Stream.of(Errno.EPERM, Errno.EACCES, Errno.ENOSYS, Errno.EMFILE, Errno.ENOMEM)
                        .map(errno -> Arguments.of(feature, errno)));
    }

    /** Neither does a container without /sys and /proc. */
    @ParameterizedTest
    @MethodSource("refusals")
    void aKernelThatMayNotBeAskedHasNotSaidNo(KernelFeature feature, Errno errno, @TempDir Path empty) {
        kernel.fail(Command.class, errno);
        assertThat(probes(empty).probe(feature)).isInstanceOfSatisfying(Support.Unknown.class, unknown -> {
            assertThat(unknown.errno()).isIn(errno, Errno.ENOENT);
            assertThat(unknown.reason())
                    .contains(unknown.call(), unknown.errno().name())
                    .doesNotContain("not supported");
        });
        assertThat(kernel.open()).isEmpty();
    }

    /** Where maps and BTF may be made and programs may not be loaded, or links not be made. */
    @ParameterizedTest
    @MethodSource("features")
    void norHasOneThatRefusesALaterStep(KernelFeature feature, @TempDir Path empty) {
        for (Class<?> step : List.of(
                ProgCommand.Load.class,
                LinkCommand.Create.class,
                LinkCommand.Attach.class,
                MapCommand.Freeze.class,
                ProgCommand.BindMap.class)) {
            kernel.clearCommands();
            kernel.fail(step, Errno.EPERM);
            Support support = probes(empty).probe(feature);
            if (!kernel.commands(step).isEmpty()) {
                assertThat(support).as(step.getSimpleName()).isInstanceOf(Support.Unknown.class);
            }
            assertThat(kernel.open()).isEmpty();
        }
    }

    @Test
    void theVerifiersEaccesIsANoIfOtherProgramsLoad() {
        kernel.failNth(1, ProgCommand.Load.class, Errno.EACCES);
        Support support = Features.of(kernel.host()).support(Feature.ARGUMENT_TAGS);
        assertThat(support).isEqualTo(new Support.Absent("bpf(BPF_PROG_LOAD) returned EACCES"));
        assertThat(kernel.commands(ProgCommand.Load.class).getLast().type())
                .as("tried next: the same kind without the feature")
                .isEqualTo(ProgramType.SOCKET_FILTER.number());
        assertThat(kernel.open()).isEmpty();
    }

    /** To a process without CAP_BPF, where it may load socket filters, a helper is as unknown as to an old kernel. */
    @Test
    void theVerifiersEinvalIsNoAnswerIfItIsStrictWithThisProcess() {
        kernel.fail(ProgCommand.Load.class, Errno.EPERM);
        kernel.failNth(1, ProgCommand.Load.class, Errno.EINVAL);
        assertThat(Features.of(kernel.host()).support(Feature.MEMCG_ACCOUNTING))
                .isInstanceOfSatisfying(
                        Support.Unknown.class,
                        unknown -> assertThat(unknown.errno()).isEqualTo(Errno.EPERM));
    }

    @Test
    void whatCouldNotBeAskedIsAskedAgain() {
        Features features = Features.of(kernel.host());
        kernel.failNth(1, MapCommand.Create.class, Errno.EMFILE);
        assertThat(features.support(Feature.RING_BUFFER)).isInstanceOf(Support.Unknown.class);
        assertThat(features.has(Feature.RING_BUFFER)).isTrue();
        kernel.failNth(1, ProgCommand.EnableStats.class, Errno.EPERM);
        assertThat(features.support(Feature.RUN_STATISTICS)).isInstanceOf(Support.Unknown.class);
        assertThat(features.has(Feature.RUN_STATISTICS))
                .as("rights may be given")
                .isTrue();
    }

    @Test
    void betweenHasAndLacksIsWhatCouldNotBeAsked() {
        kernel.fail(MapCommand.Create.class, Errno.EPERM);
        Features features = Features.of(kernel.host());
        assertThat(features.has(Feature.RING_BUFFER)).isFalse();
        assertThat(features.lacks(Feature.RING_BUFFER)).isFalse();
        assertThat(features.without(Feature.RING_BUFFER).lacks(Feature.RING_BUFFER))
                .isTrue();
        assertThatThrownBy(() -> features.require(Feature.RING_BUFFER, "--rings"))
                .isInstanceOf(SyscallException.class)
                .hasMessageStartingWith("--rings: bpf(BPF_MAP_CREATE) failed: EPERM");
    }

    @Test
    void aRefusedProgramSaysWhy() {
        kernel.fail(ProgCommand.Load.class, Errno.EINVAL);
        Support support = Features.of(kernel.host()).support(Feature.BPF_COOKIE);
        assertThat(support).isInstanceOf(Support.Absent.class);
        assertThat(support.reason()).isEqualTo("bpf(BPF_PROG_LOAD) returned EINVAL");
    }

    @Test
    void uprobeMultiIsThereIfTheRootDirectoryIsRefusedAsAFile() {
        kernel.fail(LinkCommand.Create.class, Errno.EBADF);
        Features features = Features.of(kernel.host());
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
        Features features = Features.of(kernel.host());
        assertThat(features.has(Feature.UPROBE_MULTI_PROCESS)).isTrue();
        assertThat(features.support(Feature.UPROBE_MULTI_LINK))
                .isEqualTo(new Support.Absent("bpf(BPF_LINK_CREATE) returned EINVAL, not EBADF"));
    }

    @Test
    void aLinkThatSucceedsAgainstAllExpectationIsUndone() {
        assertThat(Features.of(kernel.host()).has(Feature.PERF_LINK)).isFalse();
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void sysfsAnnounces(@TempDir Path root) throws IOException {
        Path sysfs = root.resolve("sys");
        Path uprobe = Files.createDirectories(sysfs.resolve("bus/event_source/devices/uprobe/format"));
        Files.writeString(uprobe.resolveSibling("type"), "8\n");
        Probes probes = probes(root);
        assertThat(probes.probe(Feature.PERF_UPROBE)).isInstanceOf(Support.Present.class);
        assertThat(probes.probe(Feature.UPROBE_REF_COUNTER)).isInstanceOf(Support.Absent.class);
        Files.writeString(uprobe.resolve("ref_ctr_offset"), "config:32-63\n");
        assertThat(probes.probe(Feature.UPROBE_REF_COUNTER)).isInstanceOf(Support.Present.class);
    }

    @Test
    void systemCallsAreLookedUpInTheKernelsTypesAndThenInItsSymbols(@TempDir Path files) throws IOException {
        Path symbols = files.resolve("proc/kallsyms");
        Probes probes = probes(files);
        assertThat(probes.probe(Feature.SYSCALL_WRAPPER)).isInstanceOf(Support.Unknown.class);
        ScriptedHost.write(files, "proc/kallsyms", "ffffffff81001000 T sys_bpf\n");
        assertThat(probes.probe(Feature.SYSCALL_WRAPPER)).isInstanceOf(Support.Absent.class);
        Files.writeString(symbols, "ffffffff81001000 T __arm64_sys_bpf\n");
        assertThat(probes.probe(Feature.SYSCALL_WRAPPER))
                .isEqualTo(new Support.Present("the kernel has __arm64_sys_bpf"));
        BtfBuilder types = BtfBuilder.create();
        types.add(new BtfType.Func(
                "__s390x_sys_bpf", types.add(new BtfType.FuncProto(0, List.of())), BtfType.Linkage.STATIC));
        Path shown = Files.createDirectories(files.resolve("sys/kernel/btf"));
        Files.write(shown.resolve("vmlinux"), types.toBytes(ByteOrder.nativeOrder()));
        assertThat(probes.probe(Feature.SYSCALL_WRAPPER))
                .isEqualTo(new Support.Present("the kernel's BTF has __s390x_sys_bpf"));
    }

    @ParameterizedTest
    @EnumSource(MapType.class)
    void aMapOfEachTypeIsMade(MapType type) {
        Support support = Features.of(kernel.host()).support(type);
        assertThat(kernel.commands(MapCommand.Create.class).getLast().type()).isEqualTo(type.number());
        assertThat(support)
                .isEqualTo(
                        type == MapType.STRUCT_OPS
                                ? new Support.Absent("bpf(BPF_MAP_CREATE) succeeded, not ENOTSUPP")
                                : new Support.Present("bpf(BPF_MAP_CREATE) succeeded"));
    }

    @Test
    void aTypeWhoseProgramsTheVerifierSeesIsThere() {
        kernel.answer(ProgCommand.Load.class, load -> ScriptedKernel.refused(Errno.EINVAL, "must provide btf_id"));
        assertThat(Features.of(kernel.host()).support(ProgramType.TRACING))
                .isEqualTo(new Support.Present("bpf(BPF_PROG_LOAD) returned EINVAL from the verifier"));
        kernel.answer(ProgCommand.Load.class, load -> ScriptedKernel.refused(Errno.EINVAL, ""));
        assertThat(Features.of(kernel.host()).support(ProgramType.EXT))
                .isEqualTo(new Support.Absent("bpf(BPF_PROG_LOAD) returned EINVAL"));
    }

    @Test
    void anAttachTypeIsThereIfTheKernelMissesTheProgram() {
        Features features = Features.of(kernel.host());
        kernel.fail(LinkCommand.Attach.class, Errno.EBADF);
        assertThat(features.has(AttachType.CGROUP_INET4_CONNECT)).isTrue();
        kernel.fail(LinkCommand.Attach.class, Errno.EINVAL);
        assertThat(features.support(AttachType.CGROUP_UNIX_CONNECT))
                .isEqualTo(new Support.Absent("bpf(BPF_PROG_ATTACH) returned EINVAL, not EBADF"));
        kernel.fail(ProgCommand.Load.class, Errno.EINVAL);
        assertThat(features.support(AttachType.LIRC_MODE2))
                .as("the kernel may know the number and have no such programs")
                .isEqualTo(new Support.Absent("bpf(BPF_PROG_LOAD) returned EINVAL"));
    }

    @Test
    void aHelperIsThereIfTheVerifierGoesOnToItsArguments() {
        Features features = Features.of(kernel.host());
        kernel.answer(ProgCommand.Load.class, load -> ScriptedKernel.refused(Errno.EACCES, "R2 !read_ok"));
        assertThat(features.has(ProgramType.XDP, Helper.named("bpf_redirect"))).isTrue();
        kernel.answer(ProgCommand.Load.class, load -> ScriptedKernel.refused(Errno.EINVAL, "unknown func"));
        assertThat(features.lacks(new KernelFeature.Call(ProgramType.XDP, Helper.named("bpf_d_path"))))
                .isTrue();
        kernel.answer(ProgCommand.Load.class, load -> ScriptedKernel.refused(Errno.EACCES, ""));
        assertThat(features.support(new KernelFeature.Call(ProgramType.XDP, Helper.named("bpf_fib_lookup"))))
                .as("refused before the verifier saw it")
                .isInstanceOf(Support.Unknown.class);
    }

    @Test
    void someHelpersAreForProgramsThatMaySleep() {
        kernel.answer(
                ProgCommand.Load.class,
                load -> load.flags() == 0
                        ? ScriptedKernel.refused(Errno.EINVAL, "might sleep")
                        : ScriptedKernel.refused(Errno.EACCES, "R2 !read_ok"));
        assertThat(Features.of(kernel.host()).has(ProgramType.KPROBE, Helper.named("bpf_copy_from_user")))
                .isTrue();
    }

    @Test
    void whatReplacesAProgramHasNoHelpersOfItsOwn() {
        Features features = Features.of(kernel.host());
        assertThatThrownBy(() -> features.has(ProgramType.EXT, Helper.named("bpf_redirect")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("EXT");
    }

    @Test
    void typesAreTakenAwayLikeFeatures() {
        Features without = Features.of(kernel.host()).without(MapType.RINGBUF, ProgramType.XDP);
        assertThat(without.lacks(MapType.RINGBUF)).isTrue();
        assertThat(without.lacks(ProgramType.XDP)).isTrue();
        assertThat(kernel.commands()).isEmpty();
        assertThat(without.has(MapType.ARRAY)).isTrue();
    }

    @Test
    void theKernelIsAskedOnce() {
        Features features = Features.of(kernel.host());
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
            return new Support.Present("because");
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
        Features none = Features.of(_ -> new Support.Absent("said so"));
        assertThatThrownBy(() -> none.require(Feature.RING_BUFFER, "map \"events\""))
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessage("map \"events\": ring buffer map not supported (requires Linux >= 5.8); said so");
    }
}
