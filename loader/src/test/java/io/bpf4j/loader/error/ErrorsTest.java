package io.bpf4j.loader.error;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ErrorsTest {
    @Test
    void theVerifiersReasonIsShownWithoutItsFigures() {
        String log = """
            0: R1=ctx() R10=fp0
            ; return *p; @ x.bpf.c:12
            0: (61) r0 = *(u32 *)(r2 +0)
            R2 !read_ok
            processed 1 insns (limit 1000000) max_states_per_insn 0 total_states 0
            """;
        VerifierException e = new VerifierException("on_gc", Errno.EACCES.number(), log);
        assertThat(e).hasMessage("""
            load program "on_gc": EACCES (Permission denied)
                0: R1=ctx() R10=fp0
                ; return *p; @ x.bpf.c:12
                0: (61) r0 = *(u32 *)(r2 +0)
                R2 !read_ok\
            """);
        assertThat(e.log()).isEqualTo(log);
        assertThat(e.program()).isEqualTo("on_gc");
    }

    /** As Linux 5.10 and 6.18 have it. */
    @Test
    void howTheVerifierLooksBackIsLeftOut() {
        String log = """
            ; sum += all[i]; @ x.bpf.c:12
            5: (0c) w0 += w1
            last_idx 5 first_idx 2
            regs=2 stack=0 before 4: (05) goto pc-4
            parent didn't have regs=2 stack=0 marks
            parent already had regs=2 stack=0 marks
            mark_precise: frame0: last_idx 5 first_idx 2 subseq_idx -1
            mark_precise: frame0: regs=r1 stack= before 4: (05) goto pc-4
            R0 is wrong
            """;
        assertThat(new VerifierException("p", Errno.EINVAL.number(), log)).hasMessage("""
            load program "p": EINVAL (Invalid argument)
                ; sum += all[i]; @ x.bpf.c:12
                5: (0c) w0 += w1
                R0 is wrong\
            """);
    }

    @Test
    void aLongLogIsCutInFrontAndSaysSo() {
        String log = IntStream.range(0, 1000).mapToObj(i -> "line " + i).collect(Collectors.joining("\n"));
        assertThat(new VerifierException("p", Errno.EINVAL.number(), log).getMessage())
                .contains("(988 lines left out)", "line 999")
                .doesNotContain("line 987\n");
    }

    @Test
    void aLineOfAMegabyteIsCut() {
        assertThat(new VerifierException("p", Errno.EINVAL.number(), "x".repeat(1 << 20)).getMessage())
                .hasSizeLessThan(1000);
    }

    @Test
    void theSourceLineIsThereEvenIfItIsFurtherUp() {
        String code = IntStream.range(0, 20)
                .mapToObj(i -> i + ": (07) r0 += 1\n")
                .collect(Collectors.joining("", "; sum += all[i]; @ x.bpf.c:12\n", "R0 is wrong\n"));
        assertThat(Objects.requireNonNull(new VerifierException("p", Errno.EINVAL.number(), code).getMessage())
                        .lines())
                .startsWith(
                        "load program \"p\": EINVAL (Invalid argument)",
                        "    (10 lines left out)",
                        "    ; sum += all[i]; @ x.bpf.c:12",
                        "    9: (07) r0 += 1")
                .hasSize(15);
    }

    @Test
    void thePlaceComesBeforeTheLog() {
        VerifierException e = new VerifierException("p", 22, "R0 !read_ok\n", "set it", "instruction 3 of main");
        assertThat(e).hasMessage("""
            load program "p": EINVAL (Invalid argument): set it
                at instruction 3 of main
                R0 !read_ok\
            """);
        assertThat(e.place()).isEqualTo("instruction 3 of main");
    }

    @Test
    void controlCharactersAreShownAndNotObeyed() {
        VerifierException e = new VerifierException("p", 22, "; \u001b[2Jx\b@ y.c:1\n", "\u0007", "f (\u009bx)");
        assertThat(e.getMessage())
                .contains("; \\x1b[2Jx\\x08@ y.c:1", ": \\x07", "f (\\x9bx)")
                .doesNotContain("\u001b", "\u0007", "\u009b");
        assertThat(e.log()).contains("\u001b");
    }

    @Test
    void noLogIsSaid() {
        assertThat(new VerifierException("p", Errno.EPERM.number(), "", "advice", ""))
                .hasMessage(
                        "load program \"p\": EPERM (Operation not permitted): advice (the verifier returned no log)");
    }

    @Test
    void aSyscallNamesCallErrorAndHint() {
        SyscallException e = new SyscallException("bpf(BPF_MAP_CREATE) for map \"events\"", 1, "run as root");
        assertThat(e)
                .hasMessage(
                        "bpf(BPF_MAP_CREATE) for map \"events\" failed: EPERM (Operation not permitted): run as root");
        assertThat(e.errno()).isEqualTo(Errno.EPERM);
        assertThat(new SyscallException("x", 999, null).errnoNumber()).isEqualTo(999);
    }

    @Test
    void aMissingFeatureNamesTheVersion() {
        assertThat(new UnsupportedFeatureException("attach gc__begin", Feature.BPF_COOKIE, "pass a pid"))
                .hasMessage("attach gc__begin: BPF cookies not supported (requires Linux >= 5.15); pass a pid");
    }

    @Test
    void anUnknownNameComesWithTheNearest() {
        List<String> many = IntStream.range(0, 40).mapToObj(i -> "map" + i).toList();
        UnknownNameException e = new UnknownNameException("map", "mop39", "tracer.bpf.o", many);
        assertThat(e).hasMessage("no map 'mop39' in tracer.bpf.o; the nearest is 'map39' among 40");
        assertThat(e.nearest()).contains("map39");
    }

    @Test
    void aFewNamesAreAllShown() {
        assertThat(new UnknownNameException("map", "evnts", "x.o", List.of("events", "counts")))
                .hasMessage("no map 'evnts' in x.o; the nearest is 'events' among 'counts', 'events'");
        assertThat(new UnknownNameException("map", "evnts", "x.o", List.of("events")))
                .hasMessage("no map 'evnts' in x.o; the only one is 'events'");
        assertThat(new UnknownNameException("map", "evnts", "x.o", List.of()))
                .hasMessage("no map 'evnts' in x.o, which has none")
                .satisfies(e -> assertThat(e.nearest()).isEmpty());
    }

    @Test
    void withoutANearNameTheOthersAreShown() {
        UnknownNameException e = new UnknownNameException("event", "nomap", "x.o", List.of(".bss", "counts"));
        assertThat(e).hasMessage("no event 'nomap' in x.o; there are '.bss', 'counts'");
        assertThat(e.nearest()).isEmpty();
    }
}
