package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.site.NopForm;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sites with a second, long nop: seen, shown, and attached at the nop that the note gives unless asked otherwise. */
@Requires({BPF, GCC, SDT_H, X86_64})
@ExtendWith(LeakCheck.class)
class NopFormsTest {
    /** More than enough for a kernel to replace a nop by a call, if it does. */
    private static final int ROUNDS = 100;

    @Test
    void theCodeIsSeenInTheFile() throws IOException, InterruptedException {
        String program = TargetProgram.compile("-O2").toString();
        assertThat(UsdtScan.ofFile(TargetProgram.compile("-O2"))
                        .matching("nops:*")
                        .probes())
                .flatExtracting(UsdtProbe::sites)
                .extracting(UsdtSite::code)
                .containsExactly(NopForm.NOP, NopForm.NOP_NOP5, NopForm.NOP_NOP10);
        assertThat(Cli.check("list", "-v", program, "nops:*"))
                .containsPattern("nops:one .* nop ")
                .containsPattern("nops:five .* nop,nop5 ")
                .containsPattern("nops:ten .* nop,nop10 ");
        assertThat(Cli.check("list", program, "nops:*")).doesNotContain("nop5");
        assertThat(Cli.check("list", "--json", program, "nops:ten")).contains("\"code\":\"nop,nop10\"");
        assertThat(Cli.check("list", program, "target:unsupported"))
                .contains("arg1 can't be read: %xmm0 is a vector register");
    }

    @ParameterizedTest
    @EnumSource(Strategy.class)
    void bothNopsFireWithTheSameArguments(Strategy strategy) throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = strategy.loader("args12.bpf.o", target.pid()).load();
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            for (UsdtProbe probe :
                    UsdtScan.ofFile(target.path()).matching("nops:*").probes()) {
                fires(object, ring, target, probe);
                UsdtProbe moved = atOptimisableNops(probe);
                assertThat(moved.equals(probe)).isEqualTo(probe.name().equals("one"));
                if (probe.name().equals("ten")) {
                    firesOrIsRefused(object, ring, target, moved);
                } else {
                    fires(object, ring, target, moved);
                }
            }
        }
    }

    private static UsdtProbe atOptimisableNops(UsdtProbe probe) {
        return UsdtProbe.of(
                probe.binary(),
                probe.provider(),
                probe.name(),
                probe.sites().stream().map(UsdtSite::atOptimisableNop).toList());
    }

    private static void fires(BpfObject object, RingBuffer ring, TargetProgram target, UsdtProbe probe)
            throws IOException {
        AttachOptions options = AttachOptions.defaults().withPid(target.pid());
        try (UsdtLink link = Usdt.of(object).attach(object.program("args12"), List.of(probe), options)) {
            assertThat(link.siteCount()).isEqualTo(1);
            target.command("nops " + ROUNDS);
            List<Args12Event> events =
                    Bpf.recordsNow(ring).stream().map(Args12Event::of).toList();
            assertThat(events)
                    .extracting(e -> e.arguments().get(0))
                    .containsExactlyElementsOf(
                            LongStream.rangeClosed(1, ROUNDS).boxed().toList());
            // The symbol counts from the probe, which is elsewhere now.
            assertThat(events).extracting(e -> e.arguments().get(1)).containsOnly(0x600df00dL);
        }
    }

    /** Only kernels that replace 10-byte nops take a probe on one; the others say so, and nothing is left. */
    private static void firesOrIsRefused(BpfObject object, RingBuffer ring, TargetProgram target, UsdtProbe probe)
            throws IOException {
        try {
            fires(object, ring, target, probe);
        } catch (UsdtException e) {
            assertThat(e).hasMessageContaining("nops:ten").hasMessageContaining("ENOTSUPP");
            assertThat(Usdt.of(object).specIdsInUse()).isZero();
        }
    }
}
