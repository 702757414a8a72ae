package io.bpf4j.usdt.internal.note;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.usdt.StapsdtElf;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtSite;
import java.util.List;
import org.junit.jupiter.api.Test;

class SiteColumnsTest {
    /** Three probes, the notes of which come mixed. */
    private final List<SiteColumns> parts = columns(StapsdtElf.x86_64()
            .note("p", "a", "8@%rax", 0x1010, 0)
            .note("p", "b", "8@%rbx", 0x1020, 0x5000)
            .note("p", "a", "8@%rax", 0x1030, 0)
            .note("p", "c", "", 0x1040, 0)
            .note("p", "b", "8@%rax", 0x1050, 0x5000));

    @Test
    void sitesAreSortedByProbe() {
        assertThat(parts).hasSize(3);
        assertThat(parts.get(0)).extracting(UsdtSite::address).containsExactly(0x1010L, 0x1030L);
        assertThat(parts.get(1)).extracting(UsdtSite::address).containsExactly(0x1020L, 0x1050L);
        assertThat(parts.get(2)).extracting(UsdtSite::address).containsExactly(0x1040L);
        assertThat(parts.get(1).haveSemaphores()).isTrue();
        assertThat(parts.get(0).haveSemaphores()).isFalse();
    }

    @Test
    void aSliceHasItsPartOfTheColumns() {
        SiteColumns b = parts.get(1);
        assertThat(b.fileOffsets()).containsExactly(0x1020, 0x1050);
        assertThat(b.semaphoreOffsets()).containsExactly(0x3000, 0x3000);
        assertThat(b.subList(1, 2).getFirst()).isEqualTo(b.get(1));
        assertThat(b.arguments(1))
                .as("equal text is understood once")
                .isSameAs(parts.get(0).arguments(0));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> b.address(2));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> b.subList(1, 3));
    }

    @Test
    void allSitesOfAFileAreItsColumnsThemselves() {
        SiteColumns all = SiteColumns.join(parts);
        assertThat(all.fileOffsets())
                .containsExactly(0x1010, 0x1030, 0x1020, 0x1050, 0x1040)
                .isSameAs(SiteColumns.join(parts).fileOffsets());
    }

    @Test
    void sitesThatAreNoNeighboursAreCopied() {
        SiteColumns mixed = SiteColumns.join(List.of(parts.get(2), parts.get(0)));
        assertThat(mixed.fileOffsets()).containsExactly(0x1040, 0x1010, 0x1030);
        assertThat(mixed.subList(1, 3)).isEqualTo(parts.get(0));
    }

    @Test
    void sitesOfAnyListBecomeColumns() {
        List<UsdtSite> list = List.copyOf(SiteColumns.join(parts));
        SiteColumns columns = SiteColumns.of(list);
        assertThat(columns).isEqualTo(list);
        assertThat(columns.arguments(3)).isSameAs(columns.arguments(0));
        assertThat(SiteColumns.of(columns)).isSameAs(columns);
    }

    private static List<SiteColumns> columns(StapsdtElf file) {
        try (ElfFile elf = ElfFile.parse("test", file.build())) {
            return StapsdtReader.read(elf, Machine.X86_64).probes().stream()
                    .map(NoteScan.Probe::sites)
                    .toList();
        }
    }
}
