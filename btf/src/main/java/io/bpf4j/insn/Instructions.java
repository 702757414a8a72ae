package io.bpf4j.insn;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Decodes and encodes instructions.
 *
 * <p>The two byte orders differ in more than the order of {@code offset} and {@code imm}: {@code struct bpf_insn}
 * declares the registers as two bit-fields, so the register byte is {@code src << 4 | dst} on a little-endian machine
 * and {@code dst << 4 | src} on a big-endian one.
 */
public final class Instructions {
    private Instructions() {}

    /**
     * Decodes every slot of {@code code}, in the byte order of the view.
     *
     * @return an unmodifiable list with one element per 8-byte slot
     * @throws MalformedDataException if the size isn't a multiple of 8 or the last slot is half of a 64-bit load
     */
    public static List<Instruction> decode(ByteView code) {
        long size = code.size();
        if (size % Instruction.SIZE != 0) {
            throw code.malformed(
                    size - size % Instruction.SIZE,
                    "code of " + size + " bytes, which is not a multiple of the 8 bytes of an instruction");
        }
        boolean little = code.order() == ByteOrder.LITTLE_ENDIAN;
        List<Instruction> slots = new ArrayList<>(Math.toIntExact(size / Instruction.SIZE));
        boolean second = false;
        for (long at = 0; at < size; at += Instruction.SIZE) {
            int registers = code.u8(at + 1);
            int low = registers & 0xf;
            int high = registers >> 4;
            Instruction slot = new Instruction(
                    code.u8(at), little ? low : high, little ? high : low, code.s16(at + 2), code.s32(at + 4));
            if (second && slot.opcode() != 0) {
                throw code.malformed(at, "the second slot of a 64-bit load has opcode " + slot.opcode() + ", not 0");
            }
            second = !second && slot.isLoadImm64();
            slots.add(slot);
        }
        if (second) {
            throw code.malformed(size - Instruction.SIZE, "the code ends inside a 64-bit load");
        }
        return List.copyOf(slots);
    }

    /** The code as text, a line for each instruction; a 64-bit load of two slots is one line. */
    public static List<String> disassemble(List<Instruction> slots) {
        return Disassembler.lines(slots);
    }

    /** Encodes slots in the given byte order, 8 bytes per slot. */
    public static byte[] encode(List<Instruction> slots, ByteOrder order) {
        ByteBuffer bytes = ByteBuffer.allocate(Math.multiplyExact(slots.size(), Instruction.SIZE))
                .order(order);
        boolean little = order == ByteOrder.LITTLE_ENDIAN;
        for (Instruction slot : slots) {
            bytes.put((byte) slot.opcode());
            bytes.put((byte) (little ? slot.src() << 4 | slot.dst() : slot.dst() << 4 | slot.src()));
            bytes.putShort((short) slot.offset());
            bytes.putInt(slot.imm());
        }
        return bytes.array();
    }
}
