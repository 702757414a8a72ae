package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ByteView;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.VerifierStatistics;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.spec.ChangedObject;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.KernelVersion;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the kernel's verifier says, and what of it a person gets to read. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class VerdictsOnKernelTest {
    private static final Instruction EXIT = new Instruction(0x95, 0, 0, 0, 0);

    private static BpfLoader loader(String program) {
        return BpfLoader.of(Bpf.spec("verdicts.bpf.o")).program(program, p -> p.withAutoload(true));
    }

    private static VerifierException refused(String program) {
        return catchThrowableOfType(
                VerifierException.class, () -> loader(program).load());
    }

    /** Each says what to do on the first line, where on the second, and after that what the verifier says. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        null_pointer   | the pointer may be NULL here               | ; *first_value() = 1;
        beyond_the_end | compare it with its bounds, or mask it           | ; return value[index];
        no_pointer     | as a number, not as a pointer              | ; return *pointer;
        endless        | can't prove that this loop ends            | ; while (bpf_get_prandom_u32() != 7)
        unknown_helper | this kernel has no helper with number 9999 | ; return helper_of_tomorrow();
        foreign_helper | SOCKET_FILTER can't call bpf_override_return (58) | ; return bpf_override_return(ctx, 0);
        """)
    void verdictsComeWithAdviceAPlaceAndASourceLine(String program, String advice, String source) {
        VerifierException e = refused(program);
        List<String> lines = Objects.requireNonNull(e.getMessage()).lines().toList();
        assertThat(lines.getFirst())
                .startsWith("load program \"" + program + "\": " + e.errno().name())
                .contains(advice);
        assertThat(lines.get(1))
                .matches("    at instruction \\d+ of " + program + " \\(\\./verdicts\\.bpf\\.c:\\d+: .*\\)")
                .isEqualTo("    at " + e.place());
        assertThat(lines).hasSizeBetween(5, 17).anyMatch(line -> line.startsWith("    " + source));
        assertThat(e.log()).contains(lines.getLast().strip());
    }

    @Test
    @Requires(KERNEL_BTF)
    void whatThisKernelLacksIsNamedWhereTheVerifierMeetsIt() {
        assertThat(refused("missing_member"))
                .hasMessageContaining("no_such_member")
                .hasMessageContaining("at instruction 0 of missing_member (./verdicts.bpf.c:");
        assertThat(refused("missing_type"))
                .hasMessageContaining("has no struct no_such_type")
                .hasMessageContaining("at instruction 1 of size_of_missing_type (./verdicts.bpf.c:");
        assertThat(refused("missing_function"))
                .hasMessageContaining("kernel function bpf4j_no_such_function, called by missing_function")
                .hasMessageContaining("; return bpf4j_no_such_function(1);");
        assertThat(refused("missing_variable"))
                .hasMessageContaining("the address of bpf4j_no_such_variable is 0; compare it with 0 first")
                .hasMessageContaining("; return bpf4j_no_such_variable;");
    }

    @Test
    void aVerdictAboutTheWholeProgramHasNoPlace() {
        VerifierException e = refused("deep");
        assertThat(e.place()).isEmpty();
        assertThat(e)
                .hasMessageContaining("share 512 bytes of stack")
                .hasMessageContaining("combined stack size of 2 calls is");
    }

    /**
     * One path of 600,000 instructions: 40 to 100 MB of log. Before Linux 6.4 there is its beginning and the reason,
     * which do not say where the one came from.
     */
    @Test
    void ofALongLogThereIsAllOrItsEnd() {
        VerifierException e = refused("long_way");
        assertThat(e.errno()).isEqualTo(Errno.EACCES);
        assertThat(e.log().length()).isBetween(16 << 20, (64 << 20) + 1000);
        assertThat(e)
                .hasMessageContaining("the pointer may be NULL here")
                .message()
                .hasSizeLessThan(4_000);
        assertThat(e).message().endsWith("invalid mem access 'map_value_or_null'");
        assertThat(VerifierStatistics.of(e.log()))
                .hasValueSatisfying(s -> assertThat(s.instructions()).isGreaterThan(600_000));
        assertIsAtTheEnd(e, "*first_value() = sum;");
    }

    @Test
    void aProgramThatIsGivenUpOnSaysSo() {
        VerifierException e = refused("too_long");
        assertThat(e.errno()).isEqualTo(Errno.E2BIG);
        assertThat(e)
                .hasMessageContaining("the program has more paths, or longer ones")
                .hasMessageContaining("Processed 1000001 insn");
        assertIsAtTheEnd(e, "for (__u32 i = 0; i < 1000000; i++) {");
    }

    private static void assertIsAtTheEnd(VerifierException e, String source) {
        boolean cut = e.log().contains("\n(the log is longer than ");
        if (cut) {
            assertThat(e.place()).isEmpty();
        } else {
            assertThat(e.place()).contains(source);
            assertThat(e).hasMessageContaining("    ; " + source);
        }
        assertThat(cut && isAtLeast(6, 4)).as("the end is kept since Linux 6.4").isFalse();
    }

    private static boolean isAtLeast(int major, int minor) {
        return KernelVersion.parse(System.getProperty("os.version")).compareTo(KernelVersion.of(major, minor)) >= 0;
    }

    @Test
    void everyPathOfAProgramThatIsTaken() {
        try (BpfObject object = loader("many_paths").verifierLog(2).load()) {
            Program program = object.program("many_paths");
            assertThat(program.verifierLog().length()).isBetween(16 << 20, (64 << 20) + 1000);
            assertThat(program.verifierLog()).contains("(95) exit");
            assertThat(program.verifierStatistics())
                    .hasValueSatisfying(s -> assertThat(s.instructions()).isGreaterThan(100_000));
        }
    }

    @Test
    void figuresOfAProgramThatIsTaken() {
        try (BpfObject object = loader("many_paths").verifierLog(4).load()) {
            Program program = object.program("many_paths");
            assertThat(program.verifierLog().lines().count()).isLessThan(10);
            VerifierStatistics statistics = program.verifierStatistics().orElseThrow();
            assertThat(statistics.instructions()).isBetween(100_000L, statistics.limit());
            assertThat(statistics.time())
                    .hasValueSatisfying(time -> assertThat(time.toNanos()).isPositive());
            assertThat(statistics.stackDepths()).hasSize(1);
            assertThat(statistics.peakStates()).isBetween(1L, statistics.totalStates());
        }
        VerifierException e = catchThrowableOfType(
                VerifierException.class,
                () -> loader("null_pointer").verifierLog(4).load());
        assertThat(e).as("figures alone explain nothing").hasMessageContaining("; *first_value() = 1;");
    }

    /** A load without one is the first, so nothing is slower for it. */
    @Test
    void noLogUnlessAskedFor() {
        try (BpfObject object = loader("many_paths").load()) {
            assertThat(object.program("many_paths").verifierLog()).isEmpty();
            assertThat(object.program("many_paths").verifierStatistics()).isEmpty();
        }
    }

    private static ObjectSpec changed(String license, Optional<Btf> types) {
        return ChangedObject.of(Bpf.spec("verdicts.bpf.o"), license, types);
    }

    private static VerifierException refused(ObjectSpec spec, Instruction... code) {
        return catchThrowableOfType(
                VerifierException.class,
                () -> BpfLoader.of(spec)
                        .program("short_and_good", p -> p.withAutoload(true))
                        .instructions("short_and_good", _ -> List.of(code))
                        .load());
    }

    @Test
    void whatIsRefusedBeforeTheVerifierLooksIsDescribed() {
        BpfLoader strange = loader("short_and_good").program("short_and_good", program -> program.withFlags(1 << 30));
        VerifierException e = catchThrowableOfType(VerifierException.class, strange::load);
        assertThat(e.errno()).isEqualTo(Errno.EINVAL);
        assertThat(e.log()).isEmpty();
        assertThat(e)
                .hasMessageContaining("a program of type SOCKET_FILTER, flags 0x40000000")
                .hasMessageContaining("(the verifier returned no log)");
        Instruction nothing = new Instruction(0xb7, 0, 0, 0, 0);
        assertThat(refused(
                        changed("GPL", Optional.empty()),
                        Collections.nCopies(1_000_001, nothing).toArray(Instruction[]::new)))
                .hasMessageContaining("E2BIG")
                .hasMessageContaining("it has 1000001 instructions; a kernel accepts 1,000,000");
        assertThat(refused(changed("GPL", Optional.empty()))).hasMessageContaining("it has no instructions");
    }

    @Test
    void functionsForTheGplNeedALicense() {
        Instruction tracePrintk = new Instruction(0x85, 0, 0, 0, 6);
        assertThat(refused(changed("Proprietary", Bpf.spec("verdicts.bpf.o").btf()), tracePrintk, EXIT))
                .hasMessageContaining("SEC(\"license\")")
                .hasMessageContaining("at instruction 0 of short_and_good\n");
    }

    @Test
    void btfThatTheKernelRefusesIsNamedIfAProgramIsRefusedAfterIt() {
        BtfBuilder types = BtfBuilder.create();
        types.add(new BtfType.Struct("wrong", 4, List.of(new BtfType.Member("nothing", 0, 0, 0))));
        Btf btf = Btf.parse(ByteView.of("wrong", types.toBytes(ByteOrder.nativeOrder()), ByteOrder.nativeOrder()));
        assertThat(refused(changed("GPL", Optional.of(btf)), EXIT))
                .hasMessageContaining("returns no value")
                .hasMessageContaining("the kernel did not accept the object's BTF, which this program may need: EINVAL")
                .hasMessageContaining("STRUCT wrong size=4 vlen=1, nothing type_id=0 bits_offset=0 Invalid");
    }
}
