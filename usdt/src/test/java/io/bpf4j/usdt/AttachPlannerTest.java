package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class AttachPlannerTest {
    private static final OptionalInt ALL = OptionalInt.empty();
    private static final OptionalInt ONE = OptionalInt.of(42);

    @Test
    void theKernelDecidesWhatAProgramIsLoadedFor() {
        assertThat(AttachStrategy.bestFor(kernel())).isEqualTo(AttachStrategy.MULTI);
        assertThat(AttachStrategy.bestFor(kernel(Feature.UPROBE_MULTI_LINK))).isEqualTo(AttachStrategy.COOKIE);
        assertThat(AttachStrategy.bestFor(kernel(Feature.UPROBE_MULTI_PROCESS))).isEqualTo(AttachStrategy.COOKIE);
        assertThat(AttachStrategy.bestFor(kernel(Feature.BPF_COOKIE))).isEqualTo(AttachStrategy.IP_MAP);
        assertThat(AttachStrategy.bestFor(kernel(Feature.UPROBE_MULTI_LINK, Feature.BPF_COOKIE)))
                .isEqualTo(AttachStrategy.IP_MAP);
    }

    @Test
    void sitesAreGroupedByFile() {
        UsdtProbe a1 = probe("/a", "one", 0, 2);
        UsdtProbe b1 = probe("/b", "one", 0, 1);
        UsdtProbe a2 = probe("/a", "two", 0, 1);
        AttachPlan plan = AttachPlanner.plan("attach", kernel(), List.of(a1, b1, a2), ONE);
        assertThat(plan.strategy()).isEqualTo(AttachStrategy.MULTI);
        assertThat(plan.reasons()).isEmpty();
        assertThat(plan.siteCount()).isEqualTo(4);
        assertThat(plan.files()).extracting(f -> f.binary().path()).containsExactly(Path.of("/a"), Path.of("/b"));
        AttachPlan.File first = plan.files().getFirst();
        assertThat(first.probes()).containsExactly(a1, a2);
        assertThat(List.of(first.probeOf(0), first.probeOf(1), first.probeOf(2)))
                .containsExactly(a1, a1, a2);
    }

    @Test
    void withoutMultiLinksEachSiteHasItsCookie() {
        AttachPlan plan = plan(ALL, 0, Feature.UPROBE_MULTI_LINK);
        assertThat(plan.strategy()).isEqualTo(AttachStrategy.COOKIE);
        assertThat(plan.reasons().getFirst().subject()).isEqualTo("MULTI");
        assertThat(plan.reasons().getFirst().message())
                .contains("one link for many uprobes", "6.6", "tried, not there");
    }

    @Test
    void aKernelWhosePidsAreThreadsHasNoMultiLinks() {
        AttachPlan plan = plan(ONE, 0, Feature.UPROBE_MULTI_PROCESS);
        assertThat(plan.strategy()).isEqualTo(AttachStrategy.COOKIE);
        assertThat(plan.reasons().getFirst().message()).contains("6.10");
    }

    @Test
    void withoutCookiesALibraryNeedsAPid() {
        assertThatExceptionOfType(UnsupportedFeatureException.class)
                .isThrownBy(() -> plan(ALL, 0, Feature.BPF_COOKIE))
                .withMessageContaining("attach p:n in /a: BPF cookies not supported (requires Linux >= 5.15)")
                .withMessageEndingWith("pass a pid")
                .satisfies(e -> assertThat(e.feature()).isEqualTo(Feature.BPF_COOKIE));
        assertThat(plan(ONE, 0, Feature.BPF_COOKIE).strategy()).isEqualTo(AttachStrategy.IP_MAP);
    }

    @Test
    void withoutCookiesAFixedAddressNeedsNoPid() {
        UsdtBinary binary = new UsdtBinaryData(
                Path.of("/a"), "/a", Machine.X86_64, true, new FileIdentity(1, 2, 3, 4), Optional.empty());
        UsdtSite site = UsdtSite.at(0x401000, 0x1000);
        UsdtProbe probe = UsdtProbe.of(binary, "p", "n", List.of(site));
        assertThat(AttachPlanner.plan("attach", kernel(Feature.BPF_COOKIE), List.of(probe), ALL)
                        .strategy())
                .isEqualTo(AttachStrategy.IP_MAP);
    }

    @Test
    void aSemaphoreThatNobodyWouldRaiseIsRefused() {
        assertThatExceptionOfType(UnsupportedFeatureException.class)
                .isThrownBy(() -> plan(ALL, 0x5000, Feature.UPROBE_REF_COUNTER))
                .withMessageContaining("semaphore");
        assertThat(plan(ALL, 0, Feature.UPROBE_REF_COUNTER).siteCount()).isEqualTo(1);
    }

    /** A multi link whose pid might mean a thread would lose events without a word; cookies that aren't there show. */
    @Test
    void whereTheKernelCantBeAskedEachSiteIsAttachedByItselfWithACookie() {
        Features unknown = Features.of(
                _ -> new Support.Unknown("bpf(BPF_PROG_LOAD)", Errno.EPERM.number(), Optional.of("it needs CAP_BPF")));
        AttachPlan plan = AttachPlanner.plan("attach p:n in /a", unknown, List.of(probe("/a", "n", 0x5000, 1)), ALL);
        assertThat(plan.strategy()).isEqualTo(AttachStrategy.COOKIE);
        assertThat(plan.reasons().getFirst().message())
                .startsWith("it is unknown whether the kernel has one link for many uprobes")
                .contains("EPERM", "CAP_BPF");
    }

    private static AttachPlan plan(OptionalInt pid, long semaphore, Feature... missing) {
        return AttachPlanner.plan("attach p:n in /a", kernel(missing), List.of(probe("/a", "n", semaphore, 1)), pid);
    }

    private static Features kernel(Feature... missing) {
        EnumSet<Feature> none = EnumSet.noneOf(Feature.class);
        none.addAll(List.of(missing));
        return Features.of(
                f -> none.contains(f) ? new Support.Absent("tried, not there") : new Support.Present("there"));
    }

    private static UsdtProbe probe(String path, String name, long semaphore, int sites) {
        UsdtBinary binary = UsdtBinary.of(Path.of(path), Machine.X86_64, new FileIdentity(1, 2, 3, 4));
        UsdtSite site = UsdtSite.at(0x1000, 0x1000).withSemaphore(semaphore, semaphore);
        return UsdtProbe.of(binary, "p", name, java.util.Collections.nCopies(sites, site));
    }
}
