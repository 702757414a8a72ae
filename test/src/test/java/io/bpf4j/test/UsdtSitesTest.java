package io.bpf4j.test;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.Options;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many sites, semaphores, cookies, and what is left after detaching. */
@Requires({BPF, UPROBE_MULTI, GCC, SDT_H, X86_64})
@ExtendWith(LeakCheck.class)
class UsdtSitesTest {
    private static final int SITES = 1000;
    private static final int STRINGS = 20;

    @Test
    @SuppressWarnings("try") // closed in the middle, to see what comes after
    void aThousandSitesWithTwentyArgumentStringsByOneLink() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object =
                        Strategy.MULTI.loader("args12.bpf.o", target.pid()).load();
                UsdtLink link = Usdt.of(object).attach(object.program("args12"), target.path(), "target", "many");
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            assertThat(link.strategy()).isEqualTo(AttachStrategy.MULTI);
            assertThat(link.siteCount()).isEqualTo(SITES);
            assertThat(link.specCount()).isEqualTo(STRINGS);

            target.command("many 777");

            List<Args12Event> events =
                    Bpf.recordsNow(ring).stream().map(Args12Event::of).toList();
            assertThat(events).hasSize(SITES);
            for (int i = 0; i < SITES; i++) {
                assertThat(events.get(i).arguments()).containsExactly((long) (i % STRINGS), 777L);
            }
            link.close();
            target.command("many 1");
            assertThat(Bpf.recordsNow(ring)).isEmpty();
            assertThat(link.specCount()).isZero();
            assertThat(Usdt.of(object).specIdsInUse()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Strategy.class)
    void semaphoresAreOneWhileAttachedAndZeroAfter(Strategy strategy) throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object =
                        strategy.loader("counters.bpf.o", target.pid()).load()) {
            Options options = Options.defaults().pid(target.pid()).cookie(3);
            assertThat(target.command("semaphores")).isEqualTo("0 0");
            assertThat(target.command("guarded")).isEqualTo("0");
            try (UsdtLink link =
                    Usdt.of(object).attach(object.program("count"), target.path(), "target", "guarded", options)) {
                assertThat(link.strategy().name()).isEqualTo(strategy.name());
                assertThat(target.command("semaphores")).isEqualTo("1 0");
                assertThat(target.command("guarded")).isEqualTo("1");
                assertThat(object.global("total").getLong()).isEqualTo(1);
            }
            assertThat(target.command("semaphores")).isEqualTo("0 0");
            assertThat(target.command("guarded")).isEqualTo("0");
            assertThat(object.global("total").getLong()).isEqualTo(1);
            assertThat(object.global("no_spec").getLong()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Strategy.class)
    void cookiesTellProbesApart(Strategy strategy) throws IOException {
        try (TargetProgram target = TargetProgram.start("-O0");
                BpfObject object = strategy.loader("args12.bpf.o", target.pid()).load()) {
            List<UsdtProbe> probes = List.of(
                    UsdtProbe.inFile(target.path(), "target:sizes").getFirst(),
                    UsdtProbe.inFile(target.path(), "target:text").getFirst());
            Options options = Options.defaults()
                    .pid(target.pid())
                    .cookies(probe -> probe.name().length());
            try (UsdtLink link = Usdt.of(object).attachAll(object.program("args12"), probes, options);
                    RingBuffer ring = RingBuffer.open(object.map("events"))) {
                assertThat(link.probes()).hasSize(2);
                target.command("sizes");
                target.command("text hello");
                assertThat(Bpf.recordsNow(ring).stream().map(Args12Event::of).map(Args12Event::cookie))
                        .containsExactly(5L, 4L);
            }
        }
    }

    @Test
    void otherProcessesOfTheFileDoNotFireUnlessAllAreAskedFor() throws IOException {
        try (TargetProgram watched = TargetProgram.start("-O2");
                TargetProgram other = TargetProgram.start("-O2");
                BpfObject object = Strategy.MULTI.loader("counters.bpf.o", 0).load()) {
            Usdt usdt = Usdt.of(object);
            try (UsdtLink one = usdt.attach(
                    object.program("count"),
                    watched.path(),
                    "target",
                    "text",
                    Options.defaults().pid(watched.pid()))) {
                assertThat(one.siteCount()).isEqualTo(1);
                other.command("text x");
                assertThat(object.global("total").getLong()).isZero();
                watched.command("text x");
                assertThat(object.global("total").getLong()).isEqualTo(1);
            }
            try (UsdtLink all = usdt.attach(object.program("count"), watched.path(), "target", "text")) {
                assertThat(all.isClosed()).isFalse();
                other.command("text x");
                watched.command("text x");
                assertThat(object.global("total").getLong()).isEqualTo(3);
            }
        }
    }

    @Test
    void aThousandRoundsLeaveNothingBehind() throws IOException, InterruptedException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object =
                        Strategy.MULTI.loader("counters.bpf.o", target.pid()).load()) {
            Usdt usdt = Usdt.of(object);
            List<UsdtProbe> probes = UsdtProbe.inFile(target.path(), "target:guarded");
            usdt.attachAll(object.program("count"), probes).close();
            var before = LeakCheck.open();
            for (int round = 0; round < 1000; round++) {
                try (UsdtLink link = usdt.attachAll(object.program("count"), probes)) {
                    assertThat(link.specCount()).isEqualTo(1);
                }
            }
            assertThat(usdt.specIdsInUse()).isZero();
            LeakCheck.assertNothingMoreOpenThan(before);
            assertThat(target.command("semaphores")).isEqualTo("0 0");
            // The last attachment works as the first did: no spec ID was used up.
            try (UsdtLink link = usdt.attachAll(object.program("count"), probes)) {
                assertThat(link.siteCount()).isEqualTo(1);
                target.command("guarded");
                assertThat(object.global("total").getLong()).isEqualTo(1);
            }
        }
    }

    /** Where cookies are missing, each site is an entry of a hash map: those have to go, too. */
    @ParameterizedTest
    @EnumSource(Strategy.class)
    void roundsOfEveryStrategyLeaveNoEntryOfAMap(Strategy strategy) throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object =
                        strategy.loader("counters.bpf.o", target.pid()).load()) {
            Usdt usdt = Usdt.of(object);
            List<UsdtProbe> probes = UsdtProbe.inFile(target.path(), "target:guarded");
            for (int round = 0; round < 50; round++) {
                try (UsdtLink link = usdt.attachAll(
                        object.program("count"), probes, Options.defaults().pid(target.pid()))) {
                    assertThat(link.specCount()).isEqualTo(1);
                    assertThat(object.map("__bpf_usdt_ip_to_spec_id").keys())
                            .hasSize(strategy == Strategy.IP_MAP ? 1 : 0);
                }
                assertThat(usdt.specIdsInUse()).isZero();
                assertThat(object.map("__bpf_usdt_ip_to_spec_id").keys()).isEmpty();
            }
        }
    }

    @Test
    void aFullSpecMapIsNamedAndTheObjectWorksOn() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Strategy.MULTI
                        .loader("counters.bpf.o", target.pid())
                        .map("__bpf_usdt_specs", map -> map.withMaxEntries(STRINGS - 1))
                        .load()) {
            Usdt usdt = Usdt.of(object);
            assertThatThrownBy(() -> usdt.attach(object.program("count"), target.path(), "target", "many"))
                    .isInstanceOf(BpfException.class)
                    .hasMessageContaining("__bpf_usdt_specs")
                    .hasMessageContaining(Integer.toString(STRINGS - 1));
            assertThat(usdt.specIdsInUse()).isZero();
            try (UsdtLink link = usdt.attach(object.program("count"), target.path(), "target", "text")) {
                target.command("text x");
                assertThat(link.specCount()).isEqualTo(1);
                assertThat(object.global("total").getLong()).isEqualTo(1);
            }
        }
    }

    @Test
    void whatCantBeAttachedLeavesNothing() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object =
                        Strategy.MULTI.loader("counters.bpf.o", target.pid()).load()) {
            Usdt usdt = Usdt.of(object);
            assertThatThrownBy(() -> usdt.attach(object.program("count"), target.path(), "target", "gaurded"))
                    .isInstanceOf(BpfException.class)
                    .hasMessageContaining("target:guarded");
            Options gone = Options.defaults().pid(0x3fffff);
            assertThatThrownBy(() -> usdt.attach(object.program("count"), target.path(), "target", "text", gone))
                    .isInstanceOf(BpfException.class)
                    .hasMessageContaining("target:text");
            assertThat(usdt.specIdsInUse()).isZero();
        }
    }
}
