package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.ProgramType;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is asked of the verifier, and what is made of what it says; its true words are in a test on the real kernel. */
class VerifierRefusalTest {
    private static final String OK =
            "processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0" + " peak_states 0 mark_read 0\n";

    private final ScriptedKernel kernel = new ScriptedKernel();

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    private BpfLoader loader(String program) {
        return ScriptedLoads.loader(kernel, ScriptedLoads.spec("verdicts.bpf.o"))
                .program(program, p -> p.withAutoload(true));
    }

    /** What the verifier says of a program, if it is asked for a log; every time. */
    private void verdict(Errno errno, String log) {
        kernel.answer(
                ProgCommand.Load.class,
                load -> ScriptedKernel.refused(errno, load.log().level() == 0 ? "" : log));
    }

    private VerifierException refused(String program) {
        return catchThrowableOfType(
                VerifierException.class, () -> loader(program).load());
    }

    private List<Integer> levels() {
        return kernel.commands(ProgCommand.Load.class).stream()
                .map(load -> load.log().level())
                .toList();
    }

    // What is asked

    @Test
    void aProgramThatIsTakenIsLoadedOnceWithoutALog() {
        try (BpfObject object = loader("short_and_good").load()) {
            assertThat(object.program("short_and_good").verifierLog()).isEmpty();
            assertThat(object.program("short_and_good").verifierStatistics()).isEmpty();
        }
        assertThat(levels()).containsExactly(0);
    }

    @Test
    void aProgramThatIsRefusedIsLoadedAgainForItsLog() {
        verdict(Errno.EACCES, "0: (b7) r0 = 0\nR2 !read_ok\n");
        assertThat(refused("null_pointer").log()).isEqualTo("0: (b7) r0 = 0\nR2 !read_ok\n");
        assertThat(levels()).containsExactly(0, 1);
    }

    @Test
    void whatIsRefusedAndThenTakenIsLoaded() {
        kernel.failNth(1, ProgCommand.Load.class, Errno.ENOMEM);
        try (BpfObject object = loader("short_and_good").load()) {
            assertThat(object.programs()).hasSize(1);
            assertThat(object.program("short_and_good").verifierLog()).isEmpty();
        }
        assertThat(levels()).containsExactly(0, 1);
    }

    @ParameterizedTest
    @CsvSource({"1", "2", "4", "5", "6"})
    void aLogThatIsAskedForComesWithTheFirstLoad(int level) {
        kernel.answer(
                ProgCommand.Load.class,
                load -> new LoadResult.Loaded(
                        kernel.newFd("p"), "level " + load.log().level()));
        try (BpfObject object = loader("short_and_good").verifierLog(level).load()) {
            assertThat(object.program("short_and_good").verifierLog()).isEqualTo("level " + level);
        }
        assertThat(levels()).containsExactly(level);
    }

    @Test
    void aProgramMayHaveALevelOfItsOwn() {
        try (BpfObject _ = loader("short_and_good")
                .program("many_paths", p -> p.withAutoload(true))
                .verifierLog(2)
                .program("many_paths", program -> program.withVerifierLog(0))
                .load()) {
            assertThat(levels()).containsExactlyInAnyOrder(2, 0);
        }
    }

    @Test
    void thereAreNoOtherLevels() {
        assertThatThrownBy(() -> loader("deep").verifierLog(8)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> loader("deep").verifierLog(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> loader("deep").program("deep", program -> program.withVerifierLog(9)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void figuresAloneExplainNoRefusal() {
        kernel.answer(
                ProgCommand.Load.class,
                load -> ScriptedKernel.refused(
                        Errno.EACCES,
                        switch (load.log().level()) {
                            case 1 -> "8: (7b) *(u64 *)(r0 +0) = r1\nR0 invalid mem access 'map_value_or_null'\n";
                            case 4 -> "R0 invalid mem access 'map_value_or_null'\nverification time 3 usec\n";
                            default -> "";
                        }));
        VerifierException e = catchThrowableOfType(
                VerifierException.class,
                () -> loader("null_pointer").verifierLog(4).load());
        assertThat(e.log()).startsWith("8: (7b)");
        assertThat(e.place()).isEqualTo("instruction 8 of null_pointer (./verdicts.bpf.c:46: *first_value() = 1;)");
        assertThat(levels()).containsExactly(4, 0, 1);
    }

    @Test
    void aRefusalWithTheLogThatWasAskedForTakesNoOtherTry() {
        verdict(Errno.EACCES, "0: (b7) r0 = 0\nR2 !read_ok\n");
        assertThatThrownBy(() -> loader("null_pointer").verifierLog(2).load()).isInstanceOf(VerifierException.class);
        assertThat(levels()).containsExactly(2);
    }

    @Test
    void aKernelThatDoesNotKnowTheLevelLoadsWithout() {
        kernel.answer(
                ProgCommand.Load.class,
                load -> load.log().level() == 4
                        ? ScriptedKernel.refused(Errno.EINVAL, "")
                        : new LoadResult.Loaded(kernel.newFd("p"), ""));
        try (BpfObject object = loader("short_and_good").verifierLog(4).load()) {
            assertThat(object.program("short_and_good").verifierLog()).isEmpty();
        }
        assertThat(levels()).containsExactly(4, 0);
    }

    @Test
    void aLogThatDoesNotFitIsNoReasonToRefuse() {
        kernel.answer(
                ProgCommand.Load.class,
                load -> load.log().size() > 0
                        ? new LoadResult.Refused(Errno.ENOSPC.number(), "cut\nto exit\n" + OK, 1 << 30)
                        : new LoadResult.Loaded(kernel.newFd("program"), ""));
        try (BpfObject loaded = loader("short_and_good").verifierLog(2).load()) {
            assertThat(loaded.program("short_and_good").verifierLog())
                    .startsWith("(the first ")
                    .endsWith(" bytes of the log did not fit)\nto exit\n" + OK);
        }
    }

    @Test
    void norIsItTheReasonOfARefusal() {
        kernel.answer(
                ProgCommand.Load.class,
                load -> load.log().size() > 0
                        ? new LoadResult.Refused(Errno.ENOSPC.number(), "cut\n8: (7b) x\nR0 invalid\n", 1 << 30)
                        : ScriptedKernel.refused(Errno.EACCES, ""));
        VerifierException e = refused("null_pointer");
        assertThat(e.errno()).isEqualTo(Errno.EACCES);
        assertThat(e).hasMessageContaining("R0 invalid");
        assertThat(e.place()).startsWith("instruction 8 of null_pointer");
    }

    /** Before Linux 6.4: of a log without end the beginning and the reason are known, and not the place. */
    @Test
    void theBeginningOfALogThatDoesNotFitIsNotTakenForItsEnd() {
        kernel.answer(ProgCommand.Load.class, load -> switch (load.log().level()) {
            case 1 -> new LoadResult.Refused(Errno.ENOSPC.number(), "; sum += i;\n2: (0c) w0 += w1\n3: (04) w1 +", 0);
            case 4 -> ScriptedKernel.refused(Errno.EACCES, "R0 invalid mem access 'map_value_or_null'\n" + OK);
            default -> ScriptedKernel.refused(Errno.EACCES, "");
        });
        VerifierException e = refused("null_pointer");
        assertThat(e.place()).isEmpty();
        assertThat(e.log()).startsWith("; sum += i;\n2: (0c) w0 += w1\n(the log is longer than ");
        assertThat(e)
                .message()
                .matches("load program \"null_pointer\": EACCES \\(Permission denied\\): the pointer may be NULL here;"
                        + " compare it with NULL before it is used\n"
                        + "    \\(2 lines left out\\)\n"
                        + "    \\(the log is longer than \\d+ bytes, and the rest of it did not fit\\)\n"
                        + "    R0 invalid mem access 'map_value_or_null'");
    }

    @Test
    void figuresAreRead() {
        kernel.answer(ProgCommand.Load.class, _ -> new LoadResult.Loaded(kernel.newFd("p"), """
            verification time 71704 usec
            stack depth 320+8
            processed 76387 insns (limit 1000000) max_states_per_insn 4 total_states 8021 peak_states 50 mark_read 0
            """));
        try (BpfObject object = loader("short_and_good").verifierLog(4).load()) {
            assertThat(object.program("short_and_good").verifierStatistics())
                    .contains(new VerifierStatistics(
                            76_387,
                            1_000_000,
                            4,
                            8_021,
                            50,
                            Optional.of(Duration.ofNanos(71_704_000)),
                            List.of(320, 8)));
        }
        assertThat(VerifierStatistics.of("x".repeat(10_000) + "\n" + OK)).hasValueSatisfying(s -> {
            assertThat(s.instructions()).isEqualTo(2);
            assertThat(s.time()).isEmpty();
            assertThat(s.stackDepths()).isEmpty();
        });
        assertThat(VerifierStatistics.of("processed 99999999999999999999 insns (limit 1) max_states_per_insn 0"))
                .isEmpty();
    }

    // What is said

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        R0 invalid mem access 'map_value_or_null'                     | may be NULL
        R1 invalid mem access 'scalar'                                | bpf_probe_read_kernel
        R1 invalid mem access 'inv'                                   | bpf_probe_read_kernel
        R7 unbounded memory access, make sure to bounds check         | mask it
        R2 min value is negative, either use unsigned or 'var &= const' | mask it
        R0 !read_ok                                                   | returns no value
        R2 !read_ok                                                   | r1 to r5
        infinite loop detected at insn 3                              | bpf_loop
        back-edge from insn 4 to 2                                    | unrolled
        BPF program is too large. Processed 1000001 insn              | not static
        The sequence of 8193 jumps is too complex.                    | not static
        combined stack size of 2 calls is 640. Too large              | 512 bytes
        Unreleased reference id=2 alloc_insn=4                        | must be released
        cannot call GPL-restricted function from non-GPL compatible program | SEC("license")
        invalid func unknown#9999                                     | no helper with number 9999
        invalid func bpf_cgrp_storage_get#210                         | no helper bpf_cgrp_storage_get (210)
        unknown func bpf_probe_read#4                                 | SOCKET_FILTER can't call bpf_probe_read (4)
        program of this type cannot use helper bpf_override_return#58 | can't call bpf_override_return (58)
        calling kernel function bpf_task_release is not allowed       | can't call bpf_task_release
        invalid bpf_context access off=400 size=4                     | SOCKET_FILTER
        invalid access to packet, off=0 size=14, R1(id=0,off=0,r=0)   | end of the packet
        invalid access to map value, value_size=8 off=8 size=8        | within the value
        At program exit the register R0 has smin=2 smax=2 should have been in [0, 1] | certain values
        """)
    void commonVerdictsComeWithAdvice(String verdict, String advice) {
        verdict(Errno.EACCES, "0: (b7) r0 = 0\n" + verdict + "\n" + OK);
        assertThat(refused("null_pointer"))
                .hasMessageStartingWith("load program \"null_pointer\": EACCES (Permission denied): ")
                .message()
                .satisfies(message ->
                        assertThat(message.lines().findFirst().orElseThrow()).contains(advice));
    }

    @Test
    void otherVerdictsSpeakForThemselves() {
        verdict(Errno.EINVAL, "0: (b7) r0 = 0\nsomething new is wrong\n" + OK);
        assertThat(refused("null_pointer")).hasMessage("""
            load program "null_pointer": EINVAL (Invalid argument)
                at instruction 0 of null_pointer (./verdicts.bpf.c:44: int null_pointer(void *ctx))
                0: (b7) r0 = 0
                something new is wrong\
            """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        8: (7b) *(u64 *)(r0 +0) = r1;R0 invalid mem access                            | instruction 8 of null_pointer
        0: (b4) w1 = 0;from 0 to 2: R1=0;2: (bf) r2 = r10;R2 is wrong                 | instruction 2 of null_pointer
        func#0 @0;back-edge from insn 7 to 4                                          | instruction 7 of null_pointer
        8: (7b) x;infinite loop detected at insn 4;cur state: R0=1;old state: R0=1    | instruction 4 of null_pointer
        unreachable insn 9                                                            | instruction 9 of null_pointer
        """)
    void thePlaceIsThatOfTheVerdict(String log, String place) {
        verdict(Errno.EINVAL, log.replace(';', '\n') + "\n" + OK);
        assertThat(refused("null_pointer").place()).startsWith(place + " (./verdicts.bpf.c:");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        last insn is not an exit or jmp
        combined stack size of 2 calls is 640. Too large
        BPF program is too large. Processed 1000001 insn
        99999999: (b7) r0 = 0
        """)
    void whereTheLogNamesNoInstructionThereIsNoPlace(String log) {
        verdict(Errno.EINVAL, log + "\n" + OK);
        assertThat(refused("null_pointer").place()).isEmpty();
    }

    @Test
    void instructionsOfSubprogramsAreInThem() {
        verdict(Errno.EINVAL, "4: (85) call unknown#195896080\ninvalid func unknown#195896080\n");
        assertThat(refused("missing_type").place())
                .startsWith("instruction 1 of size_of_missing_type (./verdicts.bpf.c:");
    }

    @Test
    void whereOtherInstructionsWerePutInTheNumbersMeanNothing() {
        verdict(Errno.EINVAL, "1: (95) exit\nR0 !read_ok\n");
        VerifierException e = catchThrowableOfType(
                VerifierException.class,
                () -> loader("null_pointer")
                        .instructions("null_pointer", code -> List.of(new Instruction(0x95, 0, 0, 0, 0)))
                        .load());
        assertThat(e.place()).isEmpty();
    }

    @Test
    void withoutLineInformationTheInstructionIsNamed() {
        verdict(Errno.EINVAL, "0: (95) exit\nR0 !read_ok\n");
        io.bpf4j.loader.spec.TestObject object = new io.bpf4j.loader.spec.TestObject();
        object.program("socket", "main", new Instruction(0x95, 0, 0, 0, 0));
        assertThatThrownBy(() -> ScriptedLoads.loader(kernel, object.parse()).load())
                .hasMessageContaining("\n    at instruction 0 of main\n");
    }

    // What is said where there is no log

    private void refuse(Errno errno) {
        kernel.fail(ProgCommand.Load.class, errno);
    }

    @Test
    void whatTheKernelDoesNotKnowIsDescribed() {
        refuse(Errno.EINVAL);
        assertThatThrownBy(() -> loader("short_and_good")
                        .program(
                                "short_and_good",
                                program -> program.withType(ProgramType.XDP)
                                        .withAttachType(AttachType.XDP_CPUMAP)
                                        .withFlags(ProgramSpec.F_XDP_HAS_FRAGS | ProgramSpec.F_ANY_ALIGNMENT)
                                        .withIfindex(7))
                        .load())
                .isInstanceOf(VerifierException.class)
                .hasMessage("load program \"short_and_good\": EINVAL (Invalid argument): the kernel refused it before"
                        + " checking any instruction, so it does not support something that was requested: a program"
                        + " of type XDP, for attach type XDP_CPUMAP, with XDP fragments, flags 0x22, for network"
                        + " device 7, described by BTF (the verifier returned no log)");
    }

    @Test
    void aMissingFeatureIsNamedInstead() {
        int multi = AttachType.TRACE_UPROBE_MULTI.number();
        kernel.fail(
                command -> command instanceof ProgCommand.Load load
                        && load.attachment().type() == multi,
                Errno.EINVAL);
        assertThatThrownBy(() -> ScriptedLoads.loader(kernel, ScriptedLoads.spec("links.bpf.o"))
                        .features(ScriptedLoads.everything().without(Feature.UPROBE_MULTI_LINK))
                        .load())
                .isInstanceOf(UnsupportedFeatureException.class);
    }

    @Test
    void tooManyInstructionsAreCounted() {
        refuse(Errno.E2BIG);
        assertThatThrownBy(() -> loader("short_and_good").load())
                .isInstanceOf(VerifierException.class)
                .hasMessageContaining("it has 2 instructions; a kernel accepts 1,000,000")
                .hasMessageContaining("4,096");
        assertThatThrownBy(() -> loader("short_and_good")
                        .instructions("short_and_good", _ -> List.of())
                        .load())
                .hasMessageContaining("it has no instructions");
    }

    @Test
    void aPolicyIsSuspected() {
        refuse(Errno.EACCES);
        assertThatThrownBy(() -> loader("short_and_good").load())
                .isInstanceOf(VerifierException.class)
                .hasMessageContaining("LSM");
    }

    @Test
    void theCompilerIsSuspected() {
        refuse(Errno.ENOTSUPP);
        assertThatThrownBy(() -> loader("short_and_good").load())
                .hasMessageContaining("the kernel's BPF JIT compiler refuses it");
        verdict(Errno.ENOTSUPP, OK);
        assertThatThrownBy(() -> loader("short_and_good").load())
                .hasMessageContaining("the kernel's BPF JIT compiler refuses it");
    }

    /** These say nothing about the program. */
    @ParameterizedTest
    @EnumSource(
            value = Errno.class,
            names = {"EPERM", "ENOMEM", "EMFILE", "ENFILE", "EAGAIN", "EINTR", "ENOSYS"})
    void theStateOfTheProcessIsNoVerdict(Errno errno) {
        refuse(errno);
        SyscallException e = catchThrowableOfType(
                SyscallException.class, () -> loader("short_and_good").load());
        assertThat(e.errno()).isEqualTo(errno);
        assertThat(e)
                .hasMessageStartingWith("bpf(BPF_PROG_LOAD) for program \"short_and_good\" failed: " + errno)
                .message()
                .as("what to do")
                .matches("(?s)[^:]*failed: [^:]*: .{20,}");
    }

    // BTF

    @Test
    void aProgramThatIsRefusedAfterItsBtfSaysSo() {
        String types = "[1] INT int size=4\n".repeat(20_000);
        kernel.answer(ProgCommand.LoadBtf.class, longBtfLog(types + "[20001] PTR (anon) type_id=9 Invalid type_id\n"));
        verdict(Errno.EINVAL, "0: (95) exit\nsomething\n");
        assertThatThrownBy(() -> loader("short_and_good").load())
                .isInstanceOf(VerifierException.class)
                .hasMessageContaining("the kernel did not accept the object's BTF, which this program may need: EINVAL"
                        + " (Invalid argument): [20001] PTR (anon) type_id=9 Invalid type_id");
        assertThat(kernel.commands(ProgCommand.LoadBtf.class).stream()
                        .map(load -> load.log().size()))
                .containsExactly(0, 256 << 10, 2 << 20);
    }

    /** As kernels before 6.4 have it. */
    private static Function<ProgCommand.LoadBtf, LoadResult> longBtfLog(String log) {
        return load -> load.log().size() == 0 || load.log().size() > log.length()
                ? ScriptedKernel.refused(Errno.EINVAL, load.log().size() == 0 ? "" : log)
                : new LoadResult.Refused(
                        Errno.ENOSPC.number(), log.substring(0, load.log().size()), 0);
    }

    @Test
    void btfThatIsRefusedForWantOfRightsEndsTheLoad() {
        kernel.fail(ProgCommand.LoadBtf.class, Errno.EPERM);
        assertThatThrownBy(() -> loader("short_and_good").load())
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("BPF_BTF_LOAD");
    }

    @Test
    void btfThatIsRefusedAndThenTakenIsUsed() {
        kernel.failNth(1, ProgCommand.LoadBtf.class, Errno.ENOMEM);
        try (BpfObject _ = loader("short_and_good").load()) {
            assertThat(kernel.commands(ProgCommand.Load.class)
                            .getFirst()
                            .types()
                            .btf())
                    .isNotNull();
        }
    }

    // Whatever the log says

    @ParameterizedTest
    @CsvSource({"''", "'\n\n\n'", "':'", "'99999999999: (85) call'", "'insn 99999999999'", "'invalid func unknown#'"})
    void oddLogsAreShownAsTheyAre(String log) {
        verdict(Errno.EINVAL, log);
        BpfException e = catchThrowableOfType(
                BpfException.class, () -> loader("missing_member").load());
        assertThat(e).hasMessageContaining("missing_member");
    }
}
