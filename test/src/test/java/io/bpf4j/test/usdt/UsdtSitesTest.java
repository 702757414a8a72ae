package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.SitesProgram;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** More sites and argument strings than any program is known to have. */
@Tag("usdt")
@Requires({BPF, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
class UsdtSitesTest {
    private static final String SPECS = "__bpf_usdt_specs";

    @Test
    @SuppressWarnings("try") // closed in the middle, to see what comes after
    void tenThousandSitesWithTwoHundredArgumentStringsByOneLink() throws IOException {
        int strings = 200;
        int rounds = 50;
        try (SitesProgram program = SitesProgram.start(strings, rounds);
                BpfObject object = Strategy.MULTI
                        .loader("args12.bpf.o", program.pid())
                        .map("events", map -> map.withMaxEntries(1 << 22))
                        .load();
                UsdtLink link = Usdt.of(object).attach(object.program("args12"), sites(program, "many"));
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            assertThat(link.strategy()).isEqualTo(AttachStrategy.MULTI);
            assertThat(link.siteCount()).isEqualTo(strings * rounds);
            assertThat(link.specCount()).isEqualTo(strings);

            program.command("777");

            List<Args12Event> events =
                    Bpf.recordsNow(ring).stream().map(Args12Event::of).toList();
            assertThat(events).hasSize(strings * rounds);
            for (int i = 0; i < events.size(); i++) {
                assertThat(events.get(i).arguments()).containsExactly((long) (i % strings), 777L);
            }
            link.close();
            program.command("1");
            assertThat(Bpf.recordsNow(ring)).isEmpty();
            assertThat(link.specCount()).isZero();
            assertThat(Usdt.of(object).specIdsInUse()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Strategy.class)
    void threeHundredArgumentStringsAreMoreThanTheMapHasRoomFor(Strategy strategy) throws IOException {
        try (SitesProgram program = SitesProgram.start(300, 1)) {
            AttachOptions options = AttachOptions.defaults().withPid(program.pid());
            try (BpfObject object = load(strategy, program, UnaryOperator.identity())) {
                BpfMap specs = object.map(SPECS);
                assertThat(specs.maxEntries()).isEqualTo(256);
                Usdt usdt = Usdt.of(object);
                assertThatThrownBy(() -> usdt.attach(object.program("count"), sites(program, "many"), options))
                        .isInstanceOf(UsdtException.class)
                        .hasMessageContaining("attach sites:many in " + program.path())
                        .hasMessageContaining("map '__bpf_usdt_specs' is full (E2BIG): of its 256 entries")
                        .hasMessageContaining("Enlarge it before loading, by BpfLoader.map(\"__bpf_usdt_specs\"");
                assertThat(usdt.specIdsInUse()).isZero();

                // The object works on, and with the very number that was given back last.
                try (UsdtLink link = usdt.attach(object.program("count"), sites(program, "one"), options)) {
                    program.command("1");
                    assertThat(link.specCount()).isEqualTo(1);
                    assertThat(Bpf.u64(object, "total")).isEqualTo(1);
                    assertThat(Bpf.u64(object, "no_spec")).isZero();
                }
                assertThat(usdt.specIdsInUse()).isZero();
            }
        }
    }

    /** What the message of the full map says to do. */
    @Test
    void aLargerMapTakesThreeHundredArgumentStrings() throws IOException {
        try (SitesProgram program = SitesProgram.start(300, 1);
                BpfObject object =
                        load(Strategy.MULTI, program, loader -> loader.map(SPECS, map -> map.withMaxEntries(300)));
                UsdtLink link = Usdt.of(object).attach(object.program("count"), sites(program, "many"))) {
            program.command("1");
            assertThat(link.specCount()).isEqualTo(300);
            assertThat(Bpf.u64(object, "total")).isEqualTo(300);
            assertThat(Bpf.u64(object, "no_spec")).isZero();
        }
    }

    private static BpfObject load(Strategy strategy, SitesProgram program, UnaryOperator<BpfLoader> configuration) {
        return configuration
                .apply(strategy.loader("counters.bpf.o", program.pid()))
                .load();
    }

    private static UsdtScan sites(SitesProgram program, String name) throws IOException {
        return UsdtScan.ofFile(program.path()).matching("sites:" + name);
    }
}
