package io.bpf4j.loader.internal.dryrun;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R6;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each program calls helper 99 where it matters. */
class ReachabilityTest {
    private static final int MARK = 99;
    private static final int RODATA = 1;
    private static final int DATA = 2;
    private static final int KCONFIG = 3;

    /** Read-only bytes 7, 0, 0, 0, ff, ff, ff, ff. */
    private static final ReadOnlyData CONSTANTS = new ReadOnlyData(
            Map.of(RODATA, ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, 0xffff_ffff_0000_0007L)),
            KCONFIG);

    @ParameterizedTest
    @CsvSource({
        "JEQ, 1, 1, true", "JEQ, 1, 2, false", "JNE, 1, 1, false", "JNE, 0, 1, true",
        "JGT, -1, 1, true", "JSGT, -1, 1, false", "JGE, 2, 2, true", "JSGE, 1, 2, false",
        "JLT, 1, -1, true", "JSLT, 1, -1, false", "JLE, 2, 1, false", "JSLE, -3, -3, true",
        "JSET, 6, 4, true", "JSET, 6, 1, false"
    })
    void aJumpOnNumbersGoesOneWay(String operation, int left, int right, boolean taken) {
        int code = switch (operation) {
            case "JEQ" -> Opcodes.JEQ;
            case "JNE" -> Opcodes.JNE;
            case "JGT" -> Opcodes.JGT;
            case "JGE" -> Opcodes.JGE;
            case "JLT" -> Opcodes.JLT;
            case "JLE" -> Opcodes.JLE;
            case "JSGT" -> Opcodes.JSGT;
            case "JSGE" -> Opcodes.JSGE;
            case "JSLT" -> Opcodes.JSLT;
            case "JSLE" -> Opcodes.JSLE;
            default -> Opcodes.JSET;
        };
        List<Instruction> program = Assembler.create()
                .mov(R1, left)
                .jump(code, R1, right, "there")
                .mov(R0, 0)
                .exit()
                .label("there")
                .call(MARK)
                .exit()
                .assemble();
        assertThat(reachesMark(program)).isEqualTo(taken);
        assertThat(reached(program, true).get(2)).isEqualTo(!taken);
    }

    @Test
    void whatIsOnlyKnownWhenItRunsGoesBothWays() {
        assertThat(reachesMark(guarded(Assembler.create().ldx(4, R1, R1, 0)))).isTrue();
        assertThat(reachesMark(guarded(Assembler.create().call(7).movReg(R1, R0))))
                .isTrue();
    }

    @Test
    void numbersAreWorkedOut() {
        // (5 - 2 << 3 | 1) ^ 25 = 0
        assertThat(reachesMark(guarded(Assembler.create()
                        .mov(R1, 5)
                        .alu(Opcodes.SUB, R1, 2)
                        .alu(Opcodes.LSH, R1, 3)
                        .alu(Opcodes.OR, R1, 1)
                        .alu(Opcodes.XOR, R1, 25))))
                .isFalse();
        // 32 bits: the upper half goes.
        assertThat(reachesMark(
                        guarded(Assembler.create().loadImm64(R1, 0x1_0000_0000L).alu32(Opcodes.ADD, R1, 0))))
                .isFalse();
        assertThat(reachesMark(guarded(Assembler.create().loadImm64(R1, 0x1_0000_0000L))))
                .isTrue();
    }

    @Test
    void readOnlyDataIsConstantAndOtherDataIsNot() {
        Assembler byteSeven = Assembler.create().loadMapValue(R1, RODATA, 0).ldx(1, R1, R1, 1);
        assertThat(reachesMark(guarded(byteSeven))).isFalse();
        Assembler seven = Assembler.create().loadMapValue(R1, RODATA, 0).ldx(4, R1, R1, 0);
        assertThat(reachesMark(guarded(seven))).isTrue();
        Assembler moved = Assembler.create()
                .loadMapValue(R2, RODATA, 8)
                .alu(Opcodes.SUB, R2, 6)
                .ldx(2, R1, R2, 0);
        assertThat(reachesMark(guarded(moved))).isFalse();
        Assembler variable = Assembler.create().loadMapValue(R1, DATA, 0).ldx(1, R1, R1, 1);
        assertThat(reachesMark(guarded(variable))).isTrue();
        Assembler beyond = Assembler.create().loadMapValue(R1, RODATA, 8).ldx(1, R1, R1, 0);
        assertThat(reachesMark(guarded(beyond))).isTrue();
    }

    @Test
    void anAddressIsNotNull() {
        List<Instruction> program = Assembler.create()
                .loadImm64(R1, Opcodes.PSEUDO_BTF_ID, 77, 0)
                .jump(Opcodes.JEQ, R1, 0, "missing")
                .mov(R0, 0)
                .exit()
                .label("missing")
                .call(MARK)
                .exit()
                .assemble();
        assertThat(reachesMark(program)).isFalse();
    }

    @Test
    void statesThatMeetKeepWhatTheyAgreeOn() {
        List<Instruction> program = Assembler.create()
                .mov(R6, 0)
                .mov(R2, 0)
                .ldx(4, R1, R1, 0)
                .jump(Opcodes.JEQ, R1, 1, "other")
                .mov(R2, 1)
                .label("other")
                .jump(Opcodes.JNE, R6, 0, "mark") // 0 on both ways
                .jump(Opcodes.JNE, R2, 0, "out") // 0 on one of them
                .label("out")
                .exit()
                .label("mark")
                .call(MARK)
                .exit()
                .assemble();
        assertThat(reachesMark(program)).isFalse();
    }

    @Test
    void aLoopEnds() {
        List<Instruction> program = Assembler.create()
                .mov(R6, 0)
                .label("again")
                .alu(Opcodes.ADD, R6, 1)
                .jump(Opcodes.JLT, R6, 1_000_000, "again")
                .call(MARK)
                .exit()
                .assemble();
        assertThat(reachesMark(program)).isTrue();
    }

    @Test
    void aSubprogramKnowsItsArgumentsAndACallbackNothing() {
        for (int argument : new int[] {0, 1}) {
            List<Instruction> program = Assembler.create()
                    .mov(R1, argument)
                    .callLabel("function")
                    .exit()
                    .label("function")
                    .jump(Opcodes.JNE, R1, 0, "mark")
                    .exit()
                    .label("mark")
                    .call(MARK)
                    .exit()
                    .assemble();
            assertThat(reachesMark(program)).isEqualTo(argument != 0);
        }
        List<Instruction> callback = Assembler.create()
                .mov(R1, 0)
                .loadImm64(R2, Opcodes.PSEUDO_FUNC, 3, 0)
                .call(181)
                .exit()
                .jump(Opcodes.JNE, R1, 0, "mark")
                .exit()
                .label("mark")
                .call(MARK)
                .exit()
                .assemble();
        assertThat(reachesMark(callback)).isTrue();
    }

    @Test
    void kconfigIsAssumed() {
        List<Instruction> program = guarded(Assembler.create()
                .loadMapValue(R1, KCONFIG, 0)
                .ldx(4, R1, R1, 0)
                .alu(Opcodes.AND, R1, 1));
        assertThat(marked(program, reached(program, true))).isFalse();
        assertThat(marked(program, reached(program, false))).isTrue();
    }

    @Test
    void jumpsOutOfTheProgramAreLeftToTheVerifier() {
        assertThat(reached(
                                List.of(
                                        new Instruction(Opcodes.JMP | Opcodes.JA, 0, 0, 5, 0),
                                        new Instruction(Opcodes.LD_IMM64, 0, 0, 0, 0)),
                                true)
                        .cardinality())
                .isEqualTo(1);
        assertThat(reached(List.of(new Instruction(Opcodes.LD_IMM64, 12, 9, 0, 0)), true)
                        .cardinality())
                .isEqualTo(1);
    }

    /** {@code if (r1) mark();} */
    private static List<Instruction> guarded(Assembler start) {
        return start.jump(Opcodes.JEQ, R1, 0, "out")
                .call(MARK)
                .label("out")
                .mov(R0, 0)
                .exit()
                .assemble();
    }

    private static boolean reachesMark(List<Instruction> program) {
        return marked(program, reached(program, true));
    }

    /** What two indirect jumps bring to a target is merged, whichever target each of them has. */
    @Test
    void indirectJumpsGoToEachTargetWithWhatAnyOfThemBrings() {
        List<Instruction> program = Assembler.create()
                .jump(Opcodes.JEQ, R2, 0, "other")
                .mov(R1, 1)
                .raw(Opcodes.JMP | Opcodes.JA | Opcodes.X, R2, 0, 0, 0)
                .label("other")
                .mov(R1, 2)
                .raw(Opcodes.JMP | Opcodes.JA | Opcodes.X, R2, 0, 0, 0)
                .jump(Opcodes.JEQ, R1, 1, "one") // slot 5, the target
                .call(MARK)
                .exit()
                .label("one")
                .mov(R0, 0)
                .exit()
                .assemble();
        BitSet targets = new BitSet();
        targets.set(5);
        BitSet reached = Reachability.of(program, targets, CONSTANTS, true);
        assertThat(marked(program, reached)).isTrue();
        assertThat(reached.get(8)).isTrue();
    }

    private static BitSet reached(List<Instruction> program, boolean optionsTaken) {
        return Reachability.of(program, new BitSet(), CONSTANTS, optionsTaken);
    }

    private static boolean marked(List<Instruction> program, BitSet reached) {
        return reached.stream()
                .anyMatch(slot ->
                        program.get(slot).isHelperCall() && program.get(slot).imm() == MARK);
    }
}
