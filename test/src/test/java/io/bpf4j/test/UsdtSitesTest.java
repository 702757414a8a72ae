package io.bpf4j.test;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Many sites, and what is left after many rounds. */
@Requires({BPF, GCC, SDT_H, X86_64})
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
}
