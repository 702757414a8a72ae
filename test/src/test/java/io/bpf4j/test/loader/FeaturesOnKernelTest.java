package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.linux.KernelConfig;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.PerfCommand;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.kernel.KernelVersion;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What the probes find is what the kernel's version and configuration let expect. The probes themselves look at
 * neither, so this shows that they ask the right question, on every kernel that the suite runs on.
 */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
class FeaturesOnKernelTest {
    /** Features that need an option, which kernels in use may lack. */
    private static final Map<Feature, String> OPTIONS = Map.of(
            Feature.PERF_KPROBE, "CONFIG_KPROBE_EVENTS",
            Feature.KPROBE_MULTI_LINK, "CONFIG_FPROBE",
            Feature.PERF_UPROBE, "CONFIG_UPROBE_EVENTS",
            Feature.UPROBE_REF_COUNTER, "CONFIG_UPROBE_EVENTS",
            Feature.UPROBE_MULTI_LINK, "CONFIG_UPROBES",
            Feature.UPROBE_MULTI_PROCESS, "CONFIG_UPROBES",
            Feature.UPROBE_SESSION, "CONFIG_UPROBES",
            Feature.KERNEL_BTF, "CONFIG_DEBUG_INFO_BTF",
            Feature.SYSCALL_WRAPPER, "CONFIG_ARCH_HAS_SYSCALL_WRAPPER");

    @ParameterizedTest
    @EnumSource(Feature.class)
    void theProbeAgreesWithVersionAndConfiguration(Feature feature) throws IOException {
        KernelVersion running = Host.running().version();
        Support support = Features.ofRunningKernel().support(feature);
        assertThat(support.reason()).isNotBlank();
        boolean inVersion = running.isAtLeast(feature.since());
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
        Optional<KernelConfig> config = Host.running().configuration();
        return option != null && (config.isEmpty() || config.get().value(option).isEmpty());
    }

    @Test
    void tracepointsAreFoundWhereverTracefsIs() {
        assertThat(Host.running().traceFs().tracepointId("sched", "sched_process_exec"))
                .isPositive();
    }

    @Test
    void perfEventsOpenOnTracepointsAndFiles() {
        Kernel kernel = Host.running().kernel();
        long id = Host.running().traceFs().tracepointId("sched", "sched_process_exec");
        try (Fd tracepoint = kernel.execute(PerfCommand.Open.tracepoint("tracepoint", id, -1, 0))) {
            kernel.execute(new PerfCommand.Enable(tracepoint));
        }
        int uprobe = Host.running().perfSources().uprobeType().orElseThrow();
        try (Fd probe = kernel.execute(PerfCommand.Open.probe("uprobe", uprobe, 0, "/bin/true", 0x2000, -1, 0))) {
            assertThat(probe.number()).isPositive();
        }
    }
}
