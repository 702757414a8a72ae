package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.event.TracedProbe;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProbeTableTest {
    private static final UsdtBinary BINARY = UsdtBinary.of(Path.of("/x"), Machine.X86_64, new FileIdentity(1, 2, 3, 4));
    private static final UsdtArg INT = UsdtArg.signed(4, new UsdtArg.Register("rax"));
    private static final UsdtArg POINTER = UsdtArg.unsigned(8, new UsdtArg.Register("rax"));
    private static final UsdtArg DOUBLE =
            UsdtArg.unsigned(8, new UsdtArg.Register("rax")).withFloat();

    private final ProbeTable table = new ProbeTable(Catalog.builtIn());

    @Test
    void sitesOfOneTypeShareANumber() {
        List<UsdtProbe> added =
                table.add(List.of(probe("a", site(1, INT, DOUBLE), site(2, INT, DOUBLE)), probe("b", site(3))));
        assertThat(added).extracting(p -> p.sites().size()).containsExactly(2, 1);
        assertThat(added).extracting(table::number).containsExactly(1L, 2L);
        assertThat(table.probe(1))
                .isEqualTo(new TracedProbe("/x", "p", "a", List.of(ValueType.Int.S64, new ValueType.FloatingPoint(8))));
        assertThat(table.probe(2)).isEqualTo(new TracedProbe("/x", "p", "b", List.of()));
        assertThat(table.probe(3)).isNull();
        assertThat(table.probe(0)).as("the cookie of a record without a spec").isNull();
        assertThat(table.probe(-1)).isNull();
    }

    @Test
    void sitesOfDifferentTypesAreSplit() {
        List<UsdtProbe> added = table.add(List.of(probe("a", site(1, INT), site(2, POINTER), site(3, INT))));
        assertThat(added).extracting(p -> p.sites().size()).containsExactly(2, 1);
        assertThat(table.probe(2)).isNotNull().extracting(p -> p.type(0)).isEqualTo(ValueType.Int.U64);
    }

    @Test
    void aProbeKeepsItsNumberInAnotherProcess() {
        UsdtProbe probe = probe("a", site(1, INT));
        assertThat(table.add(List.of(probe, probe))).hasSize(1);
        List<UsdtProbe> again = table.add(List.of(probe));
        assertThat(again).hasSize(1).extracting(table::number).containsExactly(1L);
    }

    private static UsdtProbe probe(String name, UsdtSite... sites) {
        return UsdtProbe.of(BINARY, "p", name, List.of(sites));
    }

    private static UsdtSite site(long address, UsdtArg... args) {
        return UsdtSite.at(address, address).withArguments("", List.of(args), Map.of());
    }
}
