package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.kernel.Feature;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class AttachPlannerTest {
    private static final OptionalInt ALL = OptionalInt.empty();
    private static final OptionalInt ONE = OptionalInt.of(42);

    @Test
    void theKernelDecidesWhatAProgramIsLoadedFor() {
        assertThat(AttachPlanner.forLoading(kernel())).isEqualTo(AttachStrategy.MULTI);
        assertThat(AttachPlanner.forLoading(kernel(Feature.UPROBE_MULTI_LINK))).isEqualTo(AttachStrategy.COOKIE);
        assertThat(AttachPlanner.forLoading(kernel(Feature.UPROBE_MULTI_PROCESS)))
                .isEqualTo(AttachStrategy.COOKIE);
        assertThat(AttachPlanner.forLoading(kernel(Feature.BPF_COOKIE))).isEqualTo(AttachStrategy.IP_MAP);
        assertThat(AttachPlanner.forLoading(kernel(Feature.UPROBE_MULTI_LINK, Feature.BPF_COOKIE)))
                .isEqualTo(AttachStrategy.IP_MAP);
    }

    @Test
    void sitesAreGroupedByFile() {
        UsdtProbe a1 = probe("/a", "one", 0, 2);
        UsdtProbe b1 = probe("/b", "one", 0, 1);
        UsdtProbe a2 = probe("/a", "two", 0, 1);
        AttachPlan plan = AttachPlanner.plan("attach", kernel(), true, List.of(a1, b1, a2), ONE);
        assertThat(plan.strategy()).isEqualTo(AttachStrategy.MULTI);
        assertThat(plan.reasons()).isNotEmpty();
        assertThat(plan.siteCount()).isEqualTo(4);
        assertThat(plan.files()).extracting(f -> f.binary().path()).containsExactly(Path.of("/a"), Path.of("/b"));
        assertThat(plan.files().getFirst().sites())
                .extracting(AttachPlan.Site::probe)
                .containsExactly(a1, a1, a2);
    }

    @Test
    void withoutMultiLinksTheMessageSaysSinceWhenTheyAre() {
        assertThatExceptionOfType(UnsupportedFeatureException.class)
                .isThrownBy(() -> plan(false, ALL, 0, Feature.UPROBE_MULTI_LINK))
                .withMessageContaining(
                        "attach p:n in /a: one link for many uprobes not supported (requires Linux >= 6.6)")
                .satisfies(e -> assertThat(e.feature()).isEqualTo(Feature.UPROBE_MULTI_LINK));
        assertThatExceptionOfType(UnsupportedFeatureException.class)
                .isThrownBy(() -> plan(true, ALL, 0, Feature.UPROBE_MULTI_LINK));
    }

    @Test
    void aProgramLoadedForSomethingElseIsRefused() {
        assertThatExceptionOfType(UnsupportedFeatureException.class)
                .isThrownBy(() -> plan(false, ALL, 0))
                .withMessageContaining("not loaded for it");
    }

    @Test
    void aPidThatWouldMeanOneThreadIsRefused() {
        assertThatExceptionOfType(UnsupportedFeatureException.class)
                .isThrownBy(() -> plan(true, ONE, 0, Feature.UPROBE_MULTI_PROCESS))
                .withMessageContaining("without a pid");
        assertThat(plan(true, ALL, 0, Feature.UPROBE_MULTI_PROCESS).siteCount()).isEqualTo(1);
    }

    @Test
    void aSemaphoreThatNobodyWouldRaiseIsRefused() {
        assertThatExceptionOfType(UnsupportedFeatureException.class)
                .isThrownBy(() -> plan(true, ALL, 0x5000, Feature.UPROBE_REF_COUNTER))
                .withMessageContaining("semaphore");
        assertThat(plan(true, ALL, 0, Feature.UPROBE_REF_COUNTER).siteCount()).isEqualTo(1);
    }

    private static AttachPlan plan(boolean loadedForMulti, OptionalInt pid, long semaphore, Feature... missing) {
        return AttachPlanner.plan(
                "attach p:n in /a", kernel(missing), loadedForMulti, List.of(probe("/a", "n", semaphore, 1)), pid);
    }

    private static Features kernel(Feature... missing) {
        EnumSet<Feature> none = EnumSet.noneOf(Feature.class);
        none.addAll(List.of(missing));
        return Features.of(f -> none.contains(f) ? Support.no("tried, not there") : Support.yes("there"));
    }

    private static UsdtProbe probe(String path, String name, long semaphore, int sites) {
        UsdtBinary binary = new UsdtBinary(Path.of(path), path, Machine.X86_64, false);
        UsdtSite site = new UsdtSite(0x1000, 0x1000, semaphore, semaphore, "", List.of(), Map.of());
        return new UsdtProbe(binary, "p", name, java.util.Collections.nCopies(sites, site));
    }
}
