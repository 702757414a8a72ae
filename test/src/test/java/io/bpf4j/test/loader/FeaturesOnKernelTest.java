package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Helper;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.internal.tracefs.TraceFs;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.linux.KernelConfig;
import io.bpf4j.sys.internal.linux.PerfSources;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.KernelFeature;
import io.bpf4j.sys.kernel.KernelVersion;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the probes find is what the kernel's version and configuration let expect. The probes themselves look at
 * neither, so this shows that they ask the right question, on every kernel that the suite runs on.
 */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
class FeaturesOnKernelTest {
    /** The verifier's words about a helper that only programs that may sleep can call. */
    private static final Pattern MAY_SLEEP = Pattern.compile("might sleep|sleepable helper");

    private static final Pattern UNKNOWN = Pattern.compile("invalid func|unknown func|cannot use helper|not allowed"
            + "|not supported|(can|cannot) be sleepable|" + MAY_SLEEP.pattern());

    /** Features that need an option, which kernels in use may lack. */
    private static final Map<Feature, String> OPTIONS = Map.of(
            Feature.PERF_KPROBE, "CONFIG_KPROBE_EVENTS",
            Feature.KPROBE_MULTI_LINK, "CONFIG_FPROBE",
            Feature.PERF_UPROBE, "CONFIG_UPROBE_EVENTS",
            Feature.UPROBE_REF_COUNTER, "CONFIG_UPROBE_EVENTS",
            Feature.UPROBE_MULTI_LINK, "CONFIG_UPROBES",
            Feature.UPROBE_MULTI_PROCESS, "CONFIG_UPROBES",
            Feature.UPROBE_SESSION, "CONFIG_UPROBES",
            Feature.SYSCALL_WRAPPER, "CONFIG_ARCH_HAS_SYSCALL_WRAPPER");

    private static final Map<KernelFeature, String> OPTIONS_OF_TYPES = Map.of(
            ProgramType.LIRC_MODE2, "CONFIG_BPF_LIRC_MODE2",
            AttachType.LIRC_MODE2, "CONFIG_BPF_LIRC_MODE2",
            ProgramType.NETFILTER, "CONFIG_NETFILTER_BPF_LINK",
            AttachType.NETFILTER, "CONFIG_NETFILTER_BPF_LINK",
            AttachType.NETKIT_PRIMARY, "CONFIG_NETKIT",
            AttachType.NETKIT_PEER, "CONFIG_NETKIT",
            AttachType.TRACE_KPROBE_MULTI, "CONFIG_FPROBE",
            AttachType.TRACE_KPROBE_SESSION, "CONFIG_FPROBE",
            MapType.XSKMAP, "CONFIG_XDP_SOCKETS");

    /** Some policies forbid programs at functions of the kernel, and so also to try them. */
    private static final Set<KernelFeature> NEED_FUNCTIONS = Set.of(
            ProgramType.LSM,
            ProgramType.EXT,
            AttachType.TRACE_FENTRY,
            AttachType.TRACE_FEXIT,
            AttachType.MODIFY_RETURN,
            AttachType.TRACE_FSESSION,
            AttachType.LSM_MAC,
            AttachType.LSM_CGROUP);

    @ParameterizedTest
    @EnumSource(Feature.class)
    void theProbeAgreesWithVersionAndConfiguration(Feature feature) throws IOException {
        KernelVersion running = Host.running().version();
        Support support = Features.ofRunningKernel().support(feature);
        assertThat(support.reason()).isNotBlank();
        boolean inVersion = running.compareTo(feature.since()) >= 0;
        assertThat(support).as(support.reason()).isNotInstanceOf(Support.Unknown.class);
        if (support instanceof Support.Present) {
            // The fix went into stable kernels from 6.6 on.
            boolean carriedBack = feature == Feature.UPROBE_MULTI_PROCESS;
            assertThat(inVersion || carriedBack)
                    .as("%s on %s: %s", feature, running, support.reason())
                    .isTrue();
        } else if (inVersion) {
            assertThat(mayBeOff(feature))
                    .as("%s on %s: %s", feature, running, support.reason())
                    .isTrue();
        }
    }

    /** Whether the kernel's configuration explains that a feature is missing; one that can't be read may. */
    private static boolean mayBeOff(Feature feature) throws IOException {
        String option = OPTIONS.get(feature);
        return option != null && isOff(option);
    }

    private static boolean isOff(String option) throws IOException {
        Optional<KernelConfig> config = KernelConfig.of(Host.running());
        return config.isEmpty() || config.get().value(option).isEmpty();
    }

    static Stream<Arguments> types() {
        return Stream.of(
                        Arrays.stream(MapType.values()).map(type -> Arguments.of(type, "bpf_map_type", type.number())),
                        Arrays.stream(ProgramType.values())
                                .filter(type -> type != ProgramType.UNSPEC)
                                .map(type -> Arguments.of(type, "bpf_prog_type", type.number())),
                        Arrays.stream(AttachType.values())
                                .map(type -> Arguments.of(type, "bpf_attach_type", type.number())))
                .flatMap(Function.identity());
    }

    @ParameterizedTest
    @MethodSource("types")
    @Requires(Requirement.KERNEL_BTF)
    void aTypeIsThereIfTheKernelsOwnTypesNameIt(KernelFeature type, String enumeration, int number) throws IOException {
        Support support = Features.ofRunningKernel().support(type);
        if (!numbers(enumeration).contains((long) number)) {
            assertThat(support).isInstanceOf(Support.Absent.class);
        } else if (NEED_FUNCTIONS.contains(type) && Requirement.FENTRY.missing().isPresent()) {
            assertThat(support).isInstanceOf(Support.Unknown.class);
        } else if (support instanceof Support.Absent) {
            String option = OPTIONS_OF_TYPES.get(type);
            assertThat(option).as(support.reason()).isNotNull();
            assertThat(isOff(option)).as(support.reason()).isTrue();
        } else {
            assertThat(support).as(support.reason()).isInstanceOf(Support.Present.class);
        }
    }

    /** The last of each is called {@code __MAX_…}, and is the number of the others. */
    private static Set<Long> numbers(String enumeration) {
        Btf types = KernelBtf.of(Host.running()).find().orElseThrow();
        BtfType.Enumeration all = (BtfType.Enumeration)
                types.type(types.find(enumeration, BtfKind.ENUM).orElseThrow());
        return all.values().stream()
                .filter(value -> !value.name().startsWith("__MAX"))
                .map(BtfType.EnumValue::value)
                .collect(Collectors.toSet());
    }

    /** The probe reads an error number; the verifier says it in words, too, which differ from version to version. */
    @ParameterizedTest
    @EnumSource(
            value = ProgramType.class,
            names = {"SOCKET_FILTER", "TRACEPOINT", "XDP", "CGROUP_SKB", "SOCK_OPS", "SCHED_CLS"})
    void helpersAreThoseThatTheVerifierDoesNotCallUnknown(ProgramType type) {
        Features features = Features.ofRunningKernel();
        for (Helper helper : Helper.all()) {
            byte[] code = Instructions.encode(
                    Assembler.create().call(helper.number()).mov(0, 0).exit().assemble(), ByteOrder.nativeOrder());
            String log = verdict(type, code, 0);
            if (MAY_SLEEP.matcher(log).find()) {
                log = verdict(type, code, ProgramSpec.F_SLEEPABLE);
            }
            assertThat(features.has(type, helper))
                    .as("%s: %s", helper, log)
                    .isEqualTo(!UNKNOWN.matcher(log).find());
        }
    }

    /** What the verifier writes about a program. */
    private static String verdict(ProgramType type, byte[] code, int flags) {
        LoadResult result = Kernel.of(Host.running())
                .execute(ProgCommand.Load.of(type.number(), "", code, "GPL")
                        .withFlags(flags)
                        .withLog(new ProgCommand.Log(1, 1 << 14)));
        if (result instanceof LoadResult.Loaded loaded) {
            loaded.fd().close();
        }
        return result.log();
    }

    @Test
    void helpersOfProgramsThatMaySleepAreFoundToo() {
        Features features = Features.ofRunningKernel();
        boolean sleepable = features.has(Feature.SLEEPABLE_UPROBE);
        assertThat(features.has(ProgramType.KPROBE, Helper.named("bpf_copy_from_user")))
                .isEqualTo(sleepable);
        assertThat(features.has(ProgramType.SYSCALL, Helper.named("bpf_sys_close")))
                .isEqualTo(features.has(ProgramType.SYSCALL));
        assertThat(features.has(ProgramType.TRACING, Helper.named("bpf_seq_write")))
                .as("of iterators only")
                .isEqualTo(features.has(AttachType.TRACE_ITER));
    }

    @Test
    void tracepointsAreFoundWhereverTracefsIs() {
        assertThat(TraceFs.of(Host.running()).tracepointId("sched", "sched_process_exec"))
                .isPositive();
    }

    @Test
    void perfEventsOpenOnTracepointsAndFiles(@TempDir Path folder) throws IOException {
        Kernel kernel = Kernel.of(Host.running());
        long id = TraceFs.of(Host.running()).tracepointId("sched", "sched_process_exec");
        try (Fd tracepoint = kernel.execute(PerfCommand.Open.tracepoint("tracepoint", id, -1, 0))) {
            kernel.execute(new PerfCommand.Enable(tracepoint));
        }
        int uprobe = PerfSources.of(Host.running()).type(PerfSources.UPROBE).orElseThrow();
        // A copy: in the file itself the breakpoint would be in all processes that run it.
        String copy = Files.copy(Path.of("/bin/true"), folder.resolve("true")).toString();
        try (Fd probe = kernel.execute(PerfCommand.Open.probe("uprobe", uprobe, 0, copy, 0x2000, -1, 0))) {
            assertThat(probe.number()).isPositive();
        }
    }
}
