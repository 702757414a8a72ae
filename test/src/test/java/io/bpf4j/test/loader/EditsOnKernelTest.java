package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CORPUS;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.IteratorLink;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What an embedder says of programs and maps before the load, the kernel goes by. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class EditsOnKernelTest {
    private static final TestRun PACKET = TestRun.onData(new byte[64]);

    private static BpfLoader loader() {
        return BpfLoader.of(Bpf.spec("edits.bpf.o"));
    }

    @Test
    void aMapThatIsLeftOutIsNotMadeAndCodeThatIsRuledOutMayNameIt() {
        try (BpfObject object =
                loader().map("extra", map -> map.withAutocreate(false)).load()) {
            assertThat(object.findMap("extra")).isEmpty();
            assertThat(object.program("guarded").test(PACKET).returned()).isEqualTo(7);
        }
    }

    @Test
    void aProgramThatComesToAMapThatWasLeftOutIsRefusedWithItsName() {
        BpfLoader reaching = loader().global("use_extra", true).map("extra", map -> map.withAutocreate(false));
        assertThatThrownBy(reaching::load)
                .isInstanceOf(VerifierException.class)
                .hasMessageContaining("it reaches map \"extra\", which was left out, used by guarded")
                .hasMessageContaining("edits.bpf.c:");
    }

    @Test
    void aSectionThatNobodyKnowsGetsAType() {
        try (BpfObject object = loader().program("nameless", p -> p.withAutoload(true))
                .program("nameless", program -> program.withType(ProgramType.SCHED_CLS))
                .load()) {
            Program program = object.program("nameless");
            assertThat(program.test(PACKET).returned()).isEqualTo(3);
            assertThat(program.info().typeNumber()).isEqualTo(ProgramType.SCHED_CLS.number());
            assertThat(program.isAttachedBySection()).isFalse();
        }
        assertThatThrownBy(() ->
                        loader().program("nameless", p -> p.withAutoload(true)).load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("a section name without a known program type");
    }

    @Test
    void aSectionCanBeSaidAnew() {
        try (BpfObject object = loader().program("nameless", program -> program.withSection("cgroup_skb/egress"))
                .load()) {
            Program program = object.program("nameless");
            assertThat(program.info().typeNumber()).isEqualTo(ProgramType.CGROUP_SKB.number());
            assertThat(program.attachType()).contains(AttachType.CGROUP_INET_EGRESS);
        }
    }

    @Test
    void aTargetIsSaidInCodeAndThatIsWhereItIsAttached() {
        try (BpfObject object = loader().program("on_event", p -> p.withAutoload(true))
                        .program("on_event", program -> program.withTarget("sys_enter"))
                        .load();
                Link _ = object.program("on_event").attach()) {
            requireCallsAfterASystemCall(object);
        }
    }

    private static void requireCallsAfterASystemCall(BpfObject object) {
        assertThat(Files.exists(Path.of("/proc/self"))).isTrue();
        assertThat(Bpf.u64(object, "calls")).isPositive();
    }

    @Test
    void onesOwnTargetTakesThePlaceOfAWrongOne() {
        try (BpfObject object = loader().program("on_wrong_event", p -> p.withAutoload(true))
                        .program("on_wrong_event", program -> program.withTarget("sys_enter"))
                        .load();
                LinkGroup links = object.attachAll()) {
            assertThat(links.links()).hasSize(1);
            requireCallsAfterASystemCall(object);
        }
    }

    @Test
    void whatIsNotToBeAttachedIsLeft() {
        try (BpfObject object = loader().program("on_wrong_event", p -> p.withAutoload(true))
                        .program("on_wrong_event", program -> program.withAutoattach(false))
                        .load();
                LinkGroup links = object.attachAll()) {
            assertThat(links.links()).isEmpty();
        }
    }

    @Test
    @Requires(KERNEL_BTF)
    void aTracingProgramIsLoadedForTheFunctionThatIsSaidInCode() throws IOException {
        try (BpfObject object = loader().program("each", p -> p.withAutoload(true))
                        .program("each", program -> program.withTarget("bpf_map"))
                        .load();
                IteratorLink link = object.program("each").attach(Iter.all());
                InputStream maps = link.open()) {
            // At least those of this object, and the end.
            assertThat(maps.readAllBytes().length)
                    .isGreaterThan(object.maps().size())
                    .isLessThan(100_000);
        }
        assertThatThrownBy(() ->
                        loader().program("each", p -> p.withAutoload(true)).load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("does not name the function that it is for")
                .hasMessageContaining("withTarget");
    }

    @Test
    void oneProgramsLogIsAskedForAndAnothersIsNot() {
        try (BpfObject object = loader().program("unguarded", p -> p.withAutoload(true))
                .program("unguarded", program -> program.withVerifierLog(2))
                .load()) {
            assertThat(object.program("unguarded").verifierLog()).contains("bpf_map_lookup_elem");
            assertThat(object.program("guarded").verifierLog()).isEmpty();
        }
        try (BpfObject object = loader().verifierLog(1)
                .program("guarded", program -> program.withVerifierLog(0))
                .load()) {
            assertThat(object.program("guarded").verifierLog()).isEmpty();
        }
    }

    @Test
    void instructionsChangeRightBeforeTheVerifier() {
        try (BpfObject object =
                loader().instructions("guarded", EditsOnKernelTest::oneMore).load()) {
            assertThat(object.program("guarded").test(PACKET).returned()).isEqualTo(8);
        }
    }

    /** {@code r0 += 1} before the exit: more instructions than the line information is about. */
    private static List<Instruction> oneMore(List<Instruction> code) {
        // Only the last instruction of this program leaves it.
        int exit = code.size() - 1;
        List<Instruction> longer = new ArrayList<>(code);
        longer.add(exit, new Instruction(0x07, 0, 0, 0, 1));
        return longer;
    }

    @Test
    @Requires(CORPUS)
    void aFunctionGetsAnotherBodyOfAnotherLength() {
        List<Instruction> same = Assembler.create()
                .mov(Assembler.R0, 41)
                .mov(Assembler.R1, 1)
                .aluReg(Opcodes.ADD, Assembler.R0, Assembler.R1)
                .exit()
                .assemble();
        List<Instruction> other =
                Assembler.create().mov(Assembler.R0, 43).exit().assemble();
        ObjectSpec spec = Bpf.spec("corpus/subprograms.bpf.o");
        try (BpfObject passes = BpfLoader.of(spec)
                        .function("weak_answer", function -> function.withInstructions(same))
                        .load();
                BpfObject fails = BpfLoader.of(spec)
                        .function("weak_answer", function -> function.withInstructions(other))
                        .load()) {
            assertThat(passes.program("calls").test(PACKET).returned()).isZero();
            assertThat(fails.program("calls").test(PACKET).returned())
                    .as("the line of the check that failed")
                    .isNotZero();
        }
    }

    @Test
    void aReplacedFunctionIsNamedWhenTheVerifierRefusesIt() {
        List<Instruction> unset =
                Assembler.create().movReg(Assembler.R0, Assembler.R6).exit().assemble();
        BpfLoader refused = BpfLoader.of(Bpf.spec("corpus/subprograms.bpf.o"))
                .function("weak_answer", function -> function.withInstructions(unset));
        assertThatThrownBy(refused::load).isInstanceOf(VerifierException.class).hasMessageContaining("weak_answer");
    }

    @Test
    void flagsReachTheVerifier() {
        // Sleepable is not a word for programs of sockets.
        BpfLoader sleeping =
                loader().program("guarded", program -> program.withFlags(program.flags() | ProgramSpec.F_SLEEPABLE));
        assertThatThrownBy(sleeping::load).isInstanceOf(VerifierException.class).hasMessageContaining("sleepable");
        try (BpfObject object = loader().program(
                        "guarded", program -> program.withFlags(ProgramSpec.F_STRICT_ALIGNMENT))
                .load()) {
            assertThat(object.program("guarded").test(PACKET).returned()).isEqualTo(7);
        }
    }

    @Test
    void mapsOfGlobalDataBeginWithTheNameThatIsGiven() {
        try (BpfObject object = loader().objectName("watch").load()) {
            assertThat(object.map(".rodata").info().name()).isEqualTo("watch.rodata");
        }
        try (BpfObject object = loader().load()) {
            assertThat(object.map(".rodata").info().name()).isEqualTo("edits.rodata");
        }
    }
}
