package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.MOUNT_NAMESPACES;
import static io.bpf4j.test.support.Requirement.PID_NAMESPACES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.LineProcess;
import io.bpf4j.test.support.OwnPidNamespace;
import io.bpf4j.test.support.PatchedNotes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A program with every kind of bad note, and a hundred thousand of them: its good probes attach, fire and detach. */
@Requires({BPF, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
class HostileNotesTest {
    private static final int MANY = 100_000;

    private static Path patched = Path.of("/nonexistent");

    private static final class Patched extends LineProcess {
        Patched(Path program) throws IOException {
            this(List.of(program.toString()));
        }

        Patched(List<String> command) throws IOException {
            super(new ProcessBuilder(command));
        }
    }

    @BeforeAll
    static void patch() throws IOException {
        Path program = TargetProgram.compile("-O2");
        long text = site(program, "target:text").address();
        long semaphore = site(program, "target:guarded").semaphoreAddress();
        assertThat(semaphore).isNotZero();
        PatchedNotes notes = PatchedNotes.of(program);
        byte[] unterminated = notes.description(text, 0, "x".repeat(40).getBytes(StandardCharsets.UTF_8));
        notes.note("hostile", "nowhere", "", 0x7000_0000_0000L, 0)
                .note("hostile", "top", "", -1, -1)
                .note("hostile", "in_data", "", semaphore, 0)
                .note("hostile", "semaphore_nowhere", "", text, 0x7000_0000_0000L)
                .note("hostile", "semaphore_in_code", "", text, text & ~1)
                .note("hostile", "semaphore_odd", "", text, semaphore + 1)
                .note("", "no_provider", "", text, 0)
                .note("hostile", "", "", text, 0)
                .note("p".repeat(1 << 20), "long_provider", "", text, 0)
                .note("hostile", "long_arguments", "8@%rax ".repeat(10_000), text, 0)
                .raw(8, unterminated.length, 3, unterminated)
                .raw(8, 4, 3, new byte[4])
                .raw(8, 0, 3, new byte[0])
                .note("hostile", "thirteen", "4@$7 ".repeat(13), text, 0)
                .note("hostile", "ten_thousand", "1@$7 ".repeat(10_000), text, 0)
                .note("hostile", "garbage", "8@((((( -4@ 99@%rax \u00e9 @@@ 8@%nope", text, 0);
        for (int i = 0; i < MANY; i++) {
            notes.note("hostile", "bad", "", 0x7000_0000_0000L + i, 0);
        }
        patched = notes.own()
                .note("hostile", "after", "8@$99", text, 0)
                .raw(-1, -4, 3, new byte[64])
                .note("hostile", "lost", "", text, 0)
                .writeTo(TargetProgram.temporaryFolder().resolve("patched"));
    }

    @Test
    void badNotesAreReportedAndTheGoodOnesAreThere() throws IOException, InterruptedException {
        UsdtScan scan = UsdtScan.ofFile(patched);
        List<Diagnostic> problems = scan.files().getFirst().problems();
        assertThat(problems).hasSize(101);
        assertThat(problems.getLast().message()).contains("more notes that can't be used");
        List<String> original =
                names(UsdtScan.ofFile(TargetProgram.compile("-O2")).probes());
        assertThat(names(scan.probes()))
                .containsAll(original)
                .contains("hostile:thirteen", "hostile:ten_thousand", "hostile:garbage", "hostile:after")
                .hasSize(original.size() + 4);
        Commands.Result listed = Cli.run("list", patched.toString(), "target:*");
        assertThat(listed.exitCode()).as(listed.err()).isZero();
        assertThat(listed.out()).contains("target:guarded");
        assertThat(listed.err().lines()).hasSize(101).noneMatch(line -> line.length() > 400);
    }

    @ParameterizedTest
    @EnumSource(Strategy.class)
    void theGoodProbesFire(Strategy strategy) throws IOException {
        try (LineProcess target = new Patched(patched);
                BpfObject object = strategy.loader("args12.bpf.o", target.pid()).load();
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            Args12Event sizes = fire(object, ring, target, "target:sizes", "sizes");
            assertThat(sizes.argCount()).isEqualTo(12);
            assertThat(sizes.values().subList(0, 2)).containsExactly(-5L, 250L);
            assertThat(fire(object, ring, target, "hostile:after", "text x").arguments())
                    .containsExactly(99L);
            assertThat(fire(object, ring, target, "hostile:thirteen", "text x").arguments())
                    .isEqualTo(Collections.nCopies(12, 7L));
            assertThat(fire(object, ring, target, "hostile:ten_thousand", "text x")
                            .arguments())
                    .isEqualTo(Collections.nCopies(12, 7L));
            Args12Event garbage = fire(object, ring, target, "hostile:garbage", "text x");
            assertThat(garbage.results().subList(0, garbage.argCount()))
                    .isNotEmpty()
                    .allSatisfy(result -> assertThat(result).isNegative());
            assertThat(fire(object, ring, target, "target:guarded", "guarded")).isNotNull();
            assertThat(target.command("semaphores")).isEqualTo("0 0");
            assertThat(Usdt.of(object).specIdsInUse()).isZero();
        }
    }

    /** All that is sound at once: by what uprobe_multi does, one bad site would cost them all. */
    @Test
    void allProbesOfTheFileAttachTogether() throws IOException {
        try (LineProcess target = new Patched(patched);
                BpfObject object =
                        Strategy.MULTI.loader("args12.bpf.o", target.pid()).load();
                UsdtLink link = Usdt.of(object)
                        .attach(
                                object.program("args12"),
                                UsdtScan.ofFile(patched),
                                AttachOptions.defaults().withPid(target.pid()))) {
            assertThat(link.probes()).hasSize(UsdtScan.ofFile(patched).probes().size());
        }
    }

    /**
     * Of two files whose probes don't fit together the larger one is named and left out, and the smaller one is shown.
     * In a pid namespace: two more such files, of another run of this test, would not fit either.
     */
    @Test
    @Requires({PID_NAMESPACES, MOUNT_NAMESPACES})
    @Timeout(600)
    void aFileWithTooManyProbesCostsNoOther() throws IOException, InterruptedException {
        Path larger = withSites("larger", 33_000);
        Path smaller = withSites("smaller", 30_000);
        try (OwnPidNamespace own = new OwnPidNamespace();
                LineProcess _ = new Patched(own.inside(List.of(larger.toString())));
                LineProcess _ = new Patched(own.inside(List.of(smaller.toString())))) {
            Map<Path, UsdtScan.File> files = UsdtScan.ofMachine(own.host()).files().stream()
                    .filter(file -> file.path().equals(larger) || file.path().equals(smaller))
                    .collect(Collectors.toMap(UsdtScan.File::path, file -> file));
            assertThat(files).containsOnlyKeys(larger, smaller);
            UsdtScan.File leftOut = Objects.requireNonNull(files.get(larger));
            assertThat(leftOut.probes()).isEmpty();
            assertThat(leftOut.problems())
                    .singleElement()
                    .asString()
                    .startsWith(larger + ": left out: the probes of all files exceed the memory limit");
            assertThat(names(Objects.requireNonNull(files.get(smaller)).probes()))
                    .contains("many:alike");
            Commands.Result listed = Commands.run(own.inside(Cli.command("list", "--all", "target:sizes")));
            assertThat(listed.out()).contains(smaller + ": 1 probe").doesNotContain(larger + ": 1 probe");
            assertThat(listed.err()).contains("bpf4j: " + larger + ": left out: ");
        }
    }

    /** A program that has so many sites more, of twelve arguments each: more than half of what fits. */
    private static Path withSites(String name, int count) throws IOException {
        Path program = TargetProgram.compile("-O2");
        long text = site(program, "target:text").address();
        PatchedNotes notes = PatchedNotes.of(program).own();
        for (int i = 0; i < count; i++) {
            notes.note("many", "alike", "8@$7 ".repeat(12), text, 0);
        }
        return notes.writeTo(TargetProgram.temporaryFolder().resolve(name));
    }

    private static UsdtSite site(Path program, String probe) throws IOException {
        return UsdtScan.ofFile(program)
                .matching(probe)
                .probes()
                .getFirst()
                .sites()
                .getFirst();
    }

    private static Args12Event fire(BpfObject object, RingBuffer ring, LineProcess target, String probe, String command)
            throws IOException {
        List<UsdtProbe> probes = UsdtScan.ofFile(patched).matching(probe).probes();
        assertThat(probes).as(probe).hasSize(1);
        AttachOptions options = AttachOptions.defaults().withPid(target.pid());
        try (UsdtLink link = Usdt.of(object).attach(object.program("args12"), probes, options)) {
            assertThat(link.siteCount()).isPositive();
            target.command(command);
            List<Args12Event> events =
                    Bpf.recordsNow(ring).stream().map(Args12Event::of).toList();
            assertThat(events).as(probe).hasSize(1);
            return events.getFirst();
        }
    }

    private static List<String> names(List<UsdtProbe> probes) {
        return probes.stream().map(UsdtProbe::fullName).toList();
    }
}
