package io.bpf4j.insn;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Golden bytes are those of {@code llvm-mc -triple=bpfel} and {@code bpfeb} for the same program. */
class InstructionsTest {
    private static final List<Instruction> PROGRAM = Assembler.create()
            .mov(R0, 42)
            .ldx(4, R2, R1, 16)
            .stx(8, R10, -8, R2)
            .loadImm64(R1, 0x1122334455667788L)
            .call(1)
            .jump(Opcodes.JEQ, R0, 7, "out")
            .aluReg(Opcodes.ADD, R0, R2)
            .label("out")
            .exit()
            .assemble();

    private static final String LITTLE = """
            b7 00 00 00 2a 00 00 00
            61 12 10 00 00 00 00 00
            7b 2a f8 ff 00 00 00 00
            18 01 00 00 88 77 66 55
            00 00 00 00 44 33 22 11
            85 00 00 00 01 00 00 00
            15 00 01 00 07 00 00 00
            0f 20 00 00 00 00 00 00
            95 00 00 00 00 00 00 00
            """;

    private static final String BIG = """
            b7 00 00 00 00 00 00 2a
            61 21 00 10 00 00 00 00
            7b a2 ff f8 00 00 00 00
            18 10 00 00 55 66 77 88
            00 00 00 00 11 22 33 44
            85 00 00 00 00 00 00 01
            15 00 00 01 00 00 00 07
            0f 02 00 00 00 00 00 00
            95 00 00 00 00 00 00 00
            """;

    @Test
    void encodesToGoldenBytes() {
        assertThat(Instructions.encode(PROGRAM, ByteOrder.LITTLE_ENDIAN)).isEqualTo(bytes(LITTLE));
        assertThat(Instructions.encode(PROGRAM, ByteOrder.BIG_ENDIAN)).isEqualTo(bytes(BIG));
    }

    @Test
    void decodesGoldenBytes() {
        assertThat(Instructions.decode(view(bytes(LITTLE), ByteOrder.LITTLE_ENDIAN)))
                .isEqualTo(PROGRAM);
        assertThat(Instructions.decode(view(bytes(BIG), ByteOrder.BIG_ENDIAN))).isEqualTo(PROGRAM);
    }

    @Test
    void anySlotSurvivesTheRoundTrip() {
        Random random = new Random(Long.getLong("bpf4j.test.seed", 1));
        for (int i = 0; i < 10_000; i++) {
            int opcode = random.nextInt(256);
            Instruction slot = new Instruction(
                    opcode == Opcodes.LD_IMM64 ? 0 : opcode,
                    random.nextInt(16),
                    random.nextInt(16),
                    (short) random.nextInt(),
                    random.nextInt());
            for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
                byte[] encoded = Instructions.encode(List.of(slot), order);
                assertThat(Instructions.decode(view(encoded, order))).containsExactly(slot);
            }
        }
    }

    @Test
    void refusesCodeThatIsNoWholeNumberOfSlots() {
        byte[] cut = new byte[12];
        assertThatThrownBy(() -> Instructions.decode(view(cut, ByteOrder.LITTLE_ENDIAN)))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("12 bytes");
    }

    @Test
    void refusesHalfOfA64BitLoad() {
        byte[] half = bytes("18 01 00 00 88 77 66 55");
        assertThatThrownBy(() -> Instructions.decode(view(half, ByteOrder.LITTLE_ENDIAN)))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("ends inside a 64-bit load");
        byte[] wrong = bytes("18 01 00 00 88 77 66 55 95 00 00 00 00 00 00 00");
        assertThatThrownBy(() -> Instructions.decode(view(wrong, ByteOrder.LITTLE_ENDIAN)))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("second slot");
    }

    @Test
    void refusesFieldsThatDoNotFit() {
        assertThatThrownBy(() -> new Instruction(256, 0, 0, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Instruction(0, 16, 0, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Instruction(0, 0, 0, 40_000, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("offset is 40000");
    }

    @Test
    void tellsCallsApart() {
        Instruction call = new Instruction(Opcodes.JMP | Opcodes.CALL, 0, 0, 0, 1);
        assertThat(call.isHelperCall()).isTrue();
        assertThat(call.withSrc(Opcodes.PSEUDO_CALL).isSubprogramCall()).isTrue();
        assertThat(call.withSrc(Opcodes.PSEUDO_KFUNC_CALL).isKernelFunctionCall())
                .isTrue();
        assertThat(call.withSrc(Opcodes.PSEUDO_CALL).isHelperCall()).isFalse();
        assertThat(PROGRAM.get(3).imm64(PROGRAM.get(4))).isEqualTo(0x1122334455667788L);
    }

    @Test
    void assemblerBindsLabelsBothWays() {
        List<Instruction> program = Assembler.create()
                .label("again")
                .jump(Opcodes.JNE, R1, 0, "again")
                .callLabel("sub")
                .exit()
                .label("sub")
                .mov(R0, 0)
                .exit()
                .assemble();
        assertThat(program.get(0).offset()).isEqualTo(-1);
        assertThat(program.get(1).imm()).isEqualTo(1);
        assertThat(program.get(1).isSubprogramCall()).isTrue();
    }

    @Test
    void assemblerNamesTheLabelThatIsMissing() {
        Assembler assembler = Assembler.create().jump("nowhere");
        assertThatThrownBy(assembler::assemble)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("nowhere");
        assertThatThrownBy(() -> assembler.label("a").label("a")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void helpersHaveTheKernelsNumbers() {
        assertThat(new Helper(1).name()).isEqualTo("bpf_map_lookup_elem");
        assertThat(new Helper(130).name()).isEqualTo("bpf_ringbuf_output");
        assertThat(new Helper(211).name()).isEqualTo("bpf_cgrp_storage_delete");
        assertThat(new Helper(212).name()).isEqualTo("unknown");
        assertThat(Helper.named("bpf_get_attach_cookie")).isEqualTo(new Helper(174));
        assertThat(Helper.find("bpf_no_such")).isEmpty();
    }

    private static ByteView view(byte[] bytes, ByteOrder order) {
        return ByteView.of("test", bytes, order);
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
    }
}
