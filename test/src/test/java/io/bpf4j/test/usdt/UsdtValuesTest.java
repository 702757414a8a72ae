package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many events of several probes, all of which come, each with its probe's values. The report entries are the table of
 * events by strategy for the machine and kernel that it runs on.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(Strategy.class)
@Tag("usdt")
@Requires({BPF, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
class UsdtValuesTest extends UsdtSuite {
    private static final int ROUNDS = 20;
    private static final int SITES = 20;

    UsdtValuesTest(Strategy strategy) {
        super(strategy);
    }

    /** The first values of an event of a probe; text at an address that nobody knows comes after them. */
    private record Expected(String probe, List<Long> values) {}

    @ParameterizedTest
    @ValueSource(strings = {"-O0", "-O2", "-O2 -no-pie"})
    void everyEventComesWithEveryValue(String flags, TestReporter reporter) throws IOException {
        List<Expected> wanted = new ArrayList<>();
        List<Args12Event> events;
        List<UsdtProbe> probes = new ArrayList<>();
        try (TargetProgram target = TargetProgram.start((flags + " -DROUNDS=1").split(" "));
                BpfObject object = load("args12.bpf.o", target.pid());
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            for (String name : List.of("sizes", "memory", "forms", "many")) {
                probes.addAll(UsdtScan.ofFile(target.path())
                        .matching("target:" + name)
                        .probes());
            }
            try (UsdtLink link =
                    attachAll(object, probes, in(target).withCookies(probe -> 1 + probes.indexOf(probe)))) {
                assertThat(link.problems()).isEmpty();
                for (int round = 0; round < ROUNDS; round++) {
                    target.command("sizes");
                    target.command("forms");
                    target.command("many " + round);
                    wanted.addAll(List.of(
                            new Expected("sizes", SIZES),
                            new Expected("memory", MEMORY),
                            new Expected("forms", FORMS)));
                    for (long site = 0; site < SITES; site++) {
                        wanted.add(new Expected("many", List.of(site, (long) round)));
                    }
                }
            }
            events = events(ring);
            assertNothingLeft(object);
        }
        List<Expected> got = new ArrayList<>();
        for (int i = 0; i < events.size(); i++) {
            Args12Event event = events.get(i);
            String name = event.cookie() < 1 || event.cookie() > probes.size()
                    ? "no probe"
                    : probes.get((int) event.cookie() - 1).name();
            int known = i < wanted.size() ? wanted.get(i).values().size() : 0;
            got.add(new Expected(name, event.values().subList(0, known)));
        }
        int right = 0;
        for (int i = 0; i < Math.min(wanted.size(), got.size()); i++) {
            right += wanted.get(i).equals(got.get(i)) ? 1 : 0;
        }
        reporter.publishEntry(
                strategy + " " + flags, wanted.size() + " wanted, " + got.size() + " got, " + right + " right");
        assertThat(got).isEqualTo(wanted);
    }
}
