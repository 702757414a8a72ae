package io.bpf4j.test.support;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.sys.kernel.Feature;
import java.util.List;
import java.util.Locale;

/**
 * The three ways to attach USDT probes, each forced by taking away what comes before it.
 *
 * <p>A test that takes one is skipped where the kernel lacks it, and only there: so each test of a kind asks for what
 * its own round needs, and on Linux 6.1 two of three still run.
 */
public enum Strategy {
    MULTI,
    COOKIE,
    IP_MAP;

    /** Features that lead to this strategy. Skips the test that asks where the kernel can't do it. */
    public Features features() {
        insistOn();
        Features all = Features.ofRunningKernel();
        return switch (this) {
            case MULTI -> all;
            case COOKIE -> all.without(Feature.UPROBE_MULTI_LINK);
            case IP_MAP -> all.without(Feature.UPROBE_MULTI_LINK, Feature.BPF_COOKIE);
        };
    }

    /** As the command's option {@code --strategy} names it. */
    public String option() {
        return name().toLowerCase(Locale.ROOT).replace("_", "");
    }

    /** Skips the test that asks where the kernel can't do it. */
    public void insistOn() {
        RequirementsExtension.insistOn(requirements());
    }

    /** Whether this kernel can do it: for tests that take all that there is. */
    public boolean isSupported() {
        return requirements().stream()
                .allMatch(requirement -> requirement.missing().isEmpty());
    }

    private List<Requirement> requirements() {
        return switch (this) {
            case MULTI -> List.of(Requirement.UPROBE_MULTI_PROCESS);
            case COOKIE -> List.of(Requirement.BPF_COOKIE);
            case IP_MAP -> List.of();
        };
    }

    /** A loader of one of our objects that goes this way, and whose programs look at one process only; 0 for all. */
    public BpfLoader loader(String object, int pid) {
        return Bpf.only(BpfLoader.of(Bpf.spec(object)).features(features()), pid);
    }

    /** A loader of an object whose programs don't choose among processes: the attachment does. */
    public BpfLoader loader(String object) {
        return BpfLoader.of(Bpf.spec(object)).features(features());
    }
}
