package io.bpf4j.core;

import io.bpf4j.btf.BtfType;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import java.util.List;

/**
 * Writes a relocation's value into its instruction.
 *
 * <pre>
 *   r1 = 16, r1 += 16        ALU, ALU64 with immediate    the value goes into imm
 *   r1 = 0x100000000 ll      LD_IMM64, two slots          into both imms
 *   r1 = *(u32 *)(r2 +16)    LDX                          into offset, and the size of
 *   *(u32 *)(r2 +16) = r1    STX, ST                      the access follows the field's
 * </pre>
 *
 * <p>The access size may change only if zero extension keeps the value: between pointers (a 32-bit kernel has 4-byte
 * pointers, a BPF program 8-byte ones) and between unsigned integers. If a signed field changed its size, the
 * instruction is poisoned.
 *
 * <p>Tested by {@code CoreRelocatorTest} and {@code CoreMatchingTest}.
 */
final class InstructionPatcher {
    private final AccessPath path;
    private final CoreValue from;
    private final CoreValue to;
    /** The types of the accessed fields. */
    private final Types target;

    InstructionPatcher(AccessPath path, CoreValue from, CoreValue to, Types target) {
        this.path = path;
        this.from = from;
        this.to = to;
        this.target = target;
    }

    /** @param slots the instruction: one slot, or the two of a 64-bit load */
    CoreFixup patch(List<Instruction> slots) {
        Instruction first = slots.getFirst();
        return switch (first.opClass()) {
            case Opcodes.ALU, Opcodes.ALU64 -> immediate(first);
            case Opcodes.LDX, Opcodes.ST, Opcodes.STX -> memory(first);
            case Opcodes.LD -> wide(slots);
            default -> throw invalid(first, "this kind of instruction can't be relocated");
        };
    }

    private CoreFixup immediate(Instruction slot) {
        if ((slot.opcode() & Opcodes.SOURCE_MASK) != Opcodes.K) {
            throw invalid(slot, "it has no immediate to relocate");
        }
        if (from.checked() && slot.imm() != from.value()) {
            throw unexpected(slot, slot.imm());
        }
        return fixup(List.of(slot), List.of(slot.withImm((int) to.value())), slot.imm());
    }

    private CoreFixup wide(List<Instruction> slots) {
        Instruction first = slots.getFirst();
        if (slots.size() != 2
                || first.src() != Opcodes.PSEUDO_NUMBER
                || first.offset() != 0
                || slots.get(1).opcode() != 0
                || slots.get(1).src() != 0
                || slots.get(1).dst() != 0
                || slots.get(1).offset() != 0) {
            throw invalid(first, "it is not a plain 64-bit load");
        }
        long value = first.imm64(slots.get(1));
        if (from.checked() && value != from.value()) {
            throw unexpected(first, value);
        }
        return fixup(
                slots,
                List.of(first.withImm((int) to.value()), slots.get(1).withImm((int) (to.value() >>> 32))),
                value);
    }

    private CoreFixup memory(Instruction slot) {
        if (from.checked() && slot.offset() != from.value()) {
            throw unexpected(slot, slot.offset());
        }
        if (to.value() < 0 || to.value() > Short.MAX_VALUE) {
            throw invalid(
                    slot,
                    "offset " + to.value() + " doesn't fit into an instruction, whose limit is " + Short.MAX_VALUE);
        }
        Instruction patched = slot.withOffset((int) to.value());
        if (from.accessBytes() != to.accessBytes()) {
            if (!zeroExtensionKeepsValue()) {
                return CoreFixup.Poison.of(
                        1,
                        path + " has " + from.accessBytes() + " bytes in the program and " + to.accessBytes() + " in "
                                + target.btf().source()
                                + "; only pointers and unsigned integers can be read directly in another size,"
                                + " use BPF_CORE_READ_BITFIELD or bpf_core_field_size for others");
            }
            int bytes = Opcodes.accessBytes(slot.opcode());
            if (bytes != from.accessBytes()) {
                throw invalid(slot, "it accesses " + bytes + " bytes, but the field has " + from.accessBytes());
            }
            if (to.accessBytes() > 8 || Long.bitCount(to.accessBytes()) != 1) {
                throw invalid(slot, "a field of " + to.accessBytes() + " bytes can't be accessed by one instruction");
            }
            patched =
                    patched.withOpcode((slot.opcode() & ~Opcodes.SIZE_MASK) | Opcodes.sizeBits((int) to.accessBytes()));
        }
        return fixup(List.of(slot), List.of(patched), slot.offset());
    }

    private boolean zeroExtensionKeepsValue() {
        BtfType before = path.types().type(from.accessType());
        BtfType after = target.type(to.accessType());
        return (before instanceof BtfType.Ptr && after instanceof BtfType.Ptr)
                || (before instanceof BtfType.Int one
                        && after instanceof BtfType.Int other
                        && one.encoding() != BtfType.Int.SIGNED
                        && other.encoding() != BtfType.Int.SIGNED);
    }

    private CoreFixup fixup(List<Instruction> before, List<Instruction> after, long value) {
        return before.equals(after) ? new CoreFixup.Keep(value) : new CoreFixup.Patch(after, value, to.value());
    }

    private CoreException unexpected(Instruction slot, long found) {
        return invalid(
                slot,
                "it has the value " + found + ", but the program's own types give " + from.value()
                        + "; the object's code and its .BTF do not match");
    }

    private CoreException invalid(Instruction slot, String problem) {
        return new CoreException(
                "CO-RE " + path.kind().text() + " of " + path + ": instruction \"" + slot + "\": " + problem);
    }
}
