package io.bpf4j.usdt.internal.spec;

import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Translates arguments into the form that the BPF side reads.
 *
 * <p>An argument that can't be translated is replaced by one of type {@link ArgSpec.Type#INVALID}, so that the others
 * keep their numbers.
 *
 * <p><b>Symbols.</b> The BPF side has registers, but no symbols. But when the probe fires, the instruction pointer is
 * the probe's own address, and code and data of one file move together: {@code sym} is always {@code sym - probe} bytes
 * from there, whatever the load address. So {@code -4@8+sym(%rip)} at probe 0x1000 with sym at 0x5000 becomes "4 bytes
 * at ip + 0x4008". The offset does not count from the end of an instruction, because the argument string is not an
 * instruction: for the assembler {@code sym(%rip)} is the address of sym.
 *
 * <p><b>Files for 32-bit machines.</b> Their processes compute addresses modulo 2^32, the BPF side modulo 2^64, with
 * registers that the kernel has saved zero-extended. So an index of -1 would be 4,294,967,295, and lead beyond the 4
 * GiB of the process, where {@code bpf_usdt_arg()} returns an error. A register with a scale, or beside a symbol, is an
 * index, so its sign is extended. Of two registers without a scale either may be the pointer, which is large and must
 * not become negative: in that case a negative index remains an error. No value is ever wrong.
 */
public final class SpecBuilder {
    private final Machine machine;
    private final SpecLayout layout;

    public SpecBuilder(Machine machine, SpecLayout layout) {
        this.machine = machine;
        this.layout = layout;
    }

    /**
     * Translates the arguments of one site, as many as the layout has room for.
     *
     * @param address of the probe, as the file has it
     * @param symbols virtual addresses of symbols of the file, before the load address is added. A symbol without an
     *     address, or with several, is missing
     */
    public List<ArgSpec> build(List<UsdtArg> arguments, long address, Map<String, Long> symbols) {
        return arguments.stream()
                .limit(layout.maxArgs())
                .map(argument -> translate(argument, address, symbols))
                .toList();
    }

    private ArgSpec translate(UsdtArg argument, long address, Map<String, Long> symbols) {
        return switch (argument.operand()) {
            // libbpf's header truncates a constant to its size like all values, bpf4j's header does not.
            case UsdtArg.Constant c -> plain(argument, ArgSpec.Type.CONSTANT, argument.cut(c.value()), 0);
            case UsdtArg.Register r -> {
                OptionalInt offset = machine.registerOffset(r.name());
                yield offset.isEmpty()
                        ? noSuchRegister(r.name())
                        : plain(argument, ArgSpec.Type.REGISTER, 0, offset.getAsInt());
            }
            case UsdtArg.Memory m -> memory(argument, m, address, symbols);
            case UsdtArg.Unsupported u -> ArgSpec.unreadable(u.reason());
        };
    }

    private ArgSpec memory(UsdtArg argument, UsdtArg.Memory m, long address, Map<String, Long> symbols) {
        OptionalInt base = machine.registerOffset(m.base());
        if (base.isEmpty()) {
            return noSuchRegister(m.base());
        }
        long distance = m.offset();
        if (m.symbol().isPresent()) {
            Long symbol = symbols.get(m.symbol().get());
            if (symbol == null) {
                return ArgSpec.unreadable("the file's symbol tables don't have exactly one address for '"
                        + m.symbol().get() + "'");
            }
            distance += symbol - address;
        }
        if (m.index().isEmpty()) {
            return plain(argument, ArgSpec.Type.DEREFERENCE, distance, base.getAsInt());
        }
        OptionalInt index = machine.registerOffset(m.index().get());
        if (index.isEmpty()) {
            return noSuchRegister(m.index().get());
        }
        if (!layout.hasIndex()) {
            return ArgSpec.unreadable(
                    "the BPF object was built with a usdt.bpf.h of libbpf 1.6 or earlier, which can't read"
                            + " base + index; rebuild it with 1.7 or later");
        }
        if (m.indexSize() != 8 && !layout.hasIndexSize()) {
            return ArgSpec.unreadable(
                    "the BPF object was built with libbpf's usdt.bpf.h, which can't read half of an index"
                            + " register; bpf4j's own usdt.h can");
        }
        boolean surelyIndex = m.scale() > 1 || m.symbol().isPresent();
        boolean extended = machine.wordSize() == 4 && surelyIndex && layout.hasIndexSize();
        return new ArgSpec(
                ArgSpec.Type.SIB,
                distance,
                base.getAsInt(),
                index.getAsInt(),
                Integer.numberOfTrailingZeros(m.scale()),
                extended ? -4 : m.indexSize(),
                argument.signed(),
                bitShift(argument),
                null);
    }

    private static ArgSpec plain(UsdtArg argument, ArgSpec.Type type, long valueOrOffset, int registerOffset) {
        return new ArgSpec(type, valueOrOffset, registerOffset, 0, 0, argument.signed(), bitShift(argument));
    }

    private static int bitShift(UsdtArg argument) {
        return Long.SIZE - Byte.SIZE * argument.size();
    }

    private ArgSpec noSuchRegister(String name) {
        return ArgSpec.unreadable(machine.machineName() + " has no register '" + name + "' in struct pt_regs");
    }
}
