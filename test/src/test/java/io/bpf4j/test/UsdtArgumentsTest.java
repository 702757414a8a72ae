package io.bpf4j.test;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CLANG;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.LIBBPF_HEADERS;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Argument values of a C program, as a BPF program reads them: every size and sign, every form, both spec layouts. */
@Requires({BPF, UPROBE_MULTI, GCC, SDT_H, X86_64})
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

    @ParameterizedTest
    @CsvSource({
        "args12.bpf.o, -O0, MULTI", "args12.bpf.o, -O2, MULTI", "args12_208.bpf.o, -O0, MULTI",
        "args12_208.bpf.o, -O2, MULTI", "args12.bpf.o, -O2, COOKIE", "args12.bpf.o, -O2, IP_MAP",
        "args12_208.bpf.o, -O0, COOKIE", "args12_208.bpf.o, -O0, IP_MAP"
    })
    void twelveArgumentsOfEverySizeAndSign(String name, String optimisation, Strategy strategy) throws IOException {
        try (TargetProgram target = TargetProgram.start(optimisation);
                BpfObject object = strategy.loader(name, target.pid()).load()) {
            assertSizes(fire(object, target, "sizes", "sizes"));
            assertThat(Usdt.of(object).specIdsInUse()).isZero();
        }
    }

    @ParameterizedTest
    // Not 208 bytes at -O2: gcc indexes by a register there, which that layout has no words for.
    @CsvSource({"args12.bpf.o, -O0", "args12.bpf.o, -O2", "args12_208.bpf.o, -O0"})
    void argumentsInMemory(String name, String optimisation) throws IOException {
        try (TargetProgram target = TargetProgram.start(optimisation);
                BpfObject object = Strategy.MULTI.loader(name, target.pid()).load()) {
            Args12Event event = fire(object, target, "memory", "sizes");
            assertThat(event.arguments()).containsExactly(0L, 65003L, -99997L, 0x1122334455667788L + 3, 9L);
        }
    }

    @Test
    void everyFormThatAnAssemblerTakes() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object =
                        Strategy.MULTI.loader("args12.bpf.o", target.pid()).load()) {
            Args12Event event = fire(object, target, "forms", "forms");
            assertThat(event.results()).containsOnly(0L);
            assertThat(event.arguments())
                    .containsExactly(
                            (long) (byte) 0xf0,
                            0xf0L,
                            (long) (short) 0xc3f0,
                            0xc3f0L,
                            (long) (int) 0x8765c3f0L,
                            0x8765c3f0L,
                            0x89abcdef8765c3f0L,
                            -9L,
                            0xfffffff0L, // 4(%rcx,%r9,8): target_words[5]
                            -102L,
                            0xabcdef0123456789L,
                            -4L);
        }
    }

    @Test
    void anArgumentThatCantBeReadCostsItselfOnly() throws IOException {
        for (String name : List.of("args12.bpf.o", "args12_208.bpf.o")) {
            try (TargetProgram target = TargetProgram.start("-O2");
                    BpfObject object = Strategy.MULTI.loader(name, target.pid()).load()) {
                Args12Event event = fire(object, target, "unsupported", "unsupported");
                assertThat(event.argCount()).isEqualTo(3);
                assertThat(event.arguments()).containsExactly(77L, 0L, -3L);
                assertThat(event.results().get(0)).isZero();
                assertThat(event.results().get(1)).isNegative();
                assertThat(event.results().get(2)).isZero();
            }
        }
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
