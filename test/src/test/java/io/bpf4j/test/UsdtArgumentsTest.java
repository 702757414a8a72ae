package io.bpf4j.test;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CLANG;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.LIBBPF_HEADERS;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.Options;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Argument values of a C program, as an object reads them that was made with libbpf. */
@Requires({BPF, GCC, SDT_H, X86_64})
@ExtendWith(LeakCheck.class)
class UsdtArgumentsTest {
    private static final long COOKIE = 0x1122334455667788L;

    /** Fires one probe and gives its one event. */
    private static Args12Event fire(BpfObject object, TargetProgram target, String probe, String command)
            throws IOException {
        Options options = Options.defaults().pid(target.pid()).cookie(COOKIE);
        try (UsdtLink link = Usdt.of(object)
                        .attach(object.programs().iterator().next(), target.path(), "target", probe, options);
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            assertThat(link.siteCount()).isPositive();
            target.command(command);
            List<Args12Event> events =
                    Bpf.recordsNow(ring).stream().map(Args12Event::of).toList();
            assertThat(events).hasSize(1);
            Args12Event event = events.getFirst();
            assertThat(event.cookie()).isEqualTo(COOKIE);
            assertThat(event.pid()).isEqualTo(target.pid());
            return event;
        }
    }

    private static void assertSizes(Args12Event event) {
        assertThat(event.argCount()).isEqualTo(12);
        assertThat(event.results()).containsOnly(0L);
        List<Long> values = event.values();
        assertThat(values.subList(0, 10))
                .containsExactly(
                        -5L,
                        250L,
                        -30000L,
                        60000L,
                        -2000000000L,
                        4000000000L,
                        -9000000000000000000L,
                        Long.parseUnsignedLong("18000000000000000000"),
                        42L,
                        -7L);
        assertThat(values.get(10)).as("address of \"hello\"").isNotZero();
        assertThat(values.get(11)).isZero();
    }

    @Test
    @Requires({CLANG, LIBBPF_HEADERS})
    void anObjectThatWasCompiledAgainstLibbpfsOwnHeader() throws IOException, InterruptedException {
        Path source = TargetProgram.testModule().resolve("src/test/c/bpf/libbpf_args12.c");
        Path compiled = TargetProgram.temporaryFolder().resolve("libbpf_args12.bpf.o");
        Commands.check(List.of(
                Commands.clang().orElseThrow().toString(),
                "-g",
                "-O2",
                "-target",
                "bpf",
                "-mcpu=v3",
                "-D__TARGET_ARCH_x86",
                "-D__x86_64__",
                "-DSECTION=\"usdt\"",
                "-I/usr/include/x86_64-linux-gnu",
                "-c",
                source.toString(),
                "-o",
                compiled.toString()));
        ObjectSpec spec = ObjectSpec.read(compiled);
        for (Strategy strategy : Strategy.values()) {
            try (TargetProgram target = TargetProgram.start("-O2");
                    BpfObject object = Bpf.ownNumbers(BpfLoader.of(spec))
                            .features(strategy.features())
                            .load()) {
                assertSizes(fire(object, target, "sizes", "sizes"));
            }
        }
    }
}
