package io.bpf4j.usdt.internal.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.usdt.internal.note.SiteColumns;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SpecTableTest {
    private final List<Integer> written = new ArrayList<>();

    private static SpecTable table(SharedSpecs shared) {
        return new SpecTable(SpecLayout.of304(ByteOrder.LITTLE_ENDIAN), shared);
    }

    @Test
    void idsAreGivenInOrderAndComeBackLastFirst() {
        SpecIdPool pool = new SpecIdPool(4);
        assertThat(List.of(pool.acquire(), pool.acquire(), pool.acquire())).containsExactly(0, 1, 2);
        pool.release(0);
        pool.release(2);
        assertThat(pool.inUse()).isEqualTo(1);
        assertThat(List.of(pool.acquire(), pool.acquire(), pool.acquire(), pool.acquire()))
                .containsExactly(2, 0, 3, -1);
    }

    @Test
    void anIdGoesBackOnce() {
        SpecIdPool pool = new SpecIdPool(4);
        int id = pool.acquire();
        pool.release(id);
        assertThatThrownBy(() -> pool.release(id)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> pool.release(3)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void equalSpecsShareAnIdAndAWrite() {
        SpecIdPool pool = new SpecIdPool(4);
        SpecTable table = table(new SharedSpecs(pool, this::write));
        assertThat(table.idOf(new byte[] {1, 2})).isZero();
        assertThat(table.idOf(new byte[] {1, 3})).isEqualTo(1);
        assertThat(table.idOf(new byte[] {1, 2})).isZero();
        assertThat(table.size()).isEqualTo(2);
        assertThat(written).containsExactly(0, 1);
        table.releaseAll();
        table.releaseAll();
        assertThat(pool.inUse()).isZero();
    }

    @Test
    void sitesWithEqualArgumentsShareAnIdUnlessASymbolTellsThemApart() {
        SpecTable table = table(new SharedSpecs(new SpecIdPool(8), this::write));
        SiteColumns sites = SiteColumns.of(List.of(
                site(0x1000, "8@%rax"),
                site(0x1001, "8@%eax"),
                site(0x1002, "-4@sym(%rip)"),
                site(0x1003, "-4@sym(%rip)"),
                site(0x1004, "8f@%xmm0 8@%rax")));
        long[] ids = new long[7];
        List<String> refused = new ArrayList<>();
        SpecTable.Refusals refusals = (site, argument, reason) -> refused.add(site + " " + argument + " " + reason);
        table.idsOf(Machine.X86_64, sites, 1, ids, 2, refusals);
        assertThat(ids).containsExactly(0, 0, 0, 0, 1, 2, 3);
        assertThat(refused).singleElement().asString().startsWith("4 0 %xmm0 is a vector register");
        table.idsOf(Machine.X86_64, sites.subList(0, 2), 2, ids, 0, refusals);
        assertThat(ids).as("another cookie").startsWith(4, 4);
        assertThat(written).containsExactly(0, 1, 2, 3, 4);
    }

    private static UsdtSite site(long address, String arguments) {
        return UsdtSite.at(address, address)
                .withArguments(
                        arguments,
                        UsdtArg.parse(Machine.X86_64, arguments),
                        arguments.contains("sym") ? Map.of("sym", 0x5000L) : Map.of());
    }

    @Test
    void tablesShareTheIdsOfEqualSpecsUntilTheLastGivesThemBack() {
        SpecIdPool pool = new SpecIdPool(4);
        SharedSpecs shared = new SharedSpecs(pool, this::write);
        SpecTable first = table(shared);
        SpecTable second = table(shared);
        assertThat(first.idOf(new byte[] {1})).isZero();
        assertThat(second.idOf(new byte[] {2})).isEqualTo(1);
        assertThat(second.idOf(new byte[] {1})).isZero();
        assertThat(written).containsExactly(0, 1);
        first.releaseAll();
        assertThat(pool.inUse()).isEqualTo(2);
        assertThat(table(shared).idOf(new byte[] {3})).isEqualTo(2);
        second.releaseAll();
        assertThat(pool.inUse()).isEqualTo(1);
    }

    @Test
    void aFullMapIsNamedWithItsSizeAndTheWayOut() {
        SpecIdPool pool = new SpecIdPool(2);
        SharedSpecs shared = new SharedSpecs(pool, this::write);
        table(shared).idOf(new byte[] {9});
        SpecTable table = table(shared);
        table.idOf(new byte[] {1});
        assertThatExceptionOfType(SpecMapFullException.class)
                .isThrownBy(() -> table.idOf(new byte[] {2}))
                .withMessageContaining("'__bpf_usdt_specs' is full (E2BIG)")
                .withMessageContaining("its 2 entries")
                .withMessageContaining("BPF_USDT_MAX_SPEC_CNT");
        table.releaseAll();
        assertThat(pool.inUse()).isEqualTo(1);
        assertThat(table.idOf(new byte[] {2})).isEqualTo(1);
    }

    @Test
    void aFailedWriteLeavesNothingBehind() {
        SpecIdPool pool = new SpecIdPool(2);
        SpecTable table = table(new SharedSpecs(pool, (spec, id) -> {
            throw new IllegalStateException("no");
        }));
        assertThatThrownBy(() -> table.idOf(new byte[] {1})).hasMessage("no");
        table.releaseAll();
        assertThat(pool.inUse()).isZero();
    }

    private void write(byte[] spec, int id) {
        written.add(id);
    }
}
