package io.bpf4j.usdt.internal.spec;

import io.bpf4j.usdt.internal.arg.ArgGrammar;
import io.bpf4j.usdt.internal.arg.Argument;
import io.bpf4j.usdt.internal.arg.Operand;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Translates understood arguments into a spec.
 *
 * <p>An argument that can't be translated costs only itself: its place holds {@link ArgSpec#UNREADABLE}, so that the
 * others keep their numbers, and the reason is in the result.
 *
 * <p><b>Symbols.</b> The BPF side knows registers, no symbols. But when the probe fires, the instruction pointer is
 * the probe's own address, and code and data of one file move together: {@code sym} is always {@code sym - probe}
 * bytes from there, whatever the load address. So {@code -4@8+sym(%rip)} at probe 0x1000 with sym at 0x5000 becomes
 * "4 bytes at ip + 0x4008". Not the address that the text suggests at first sight, which counts from an instruction's
 * end: there is no instruction, the assembler's meaning of {@code sym(%rip)} is just the address of sym.
 */
public final class SpecBuilder {
    private final ArgGrammar grammar;
    private final SpecLayout layout;

    /** A translated site: the spec, and what it can't express, one reason for each argument concerned. */
    public record Result(UsdtSpec spec, List<Refusal> refusals) {
        public Result {
            refusals = List.copyOf(refusals);
        }
    }

    /** Why the argument with this index, counted from 0, can't be read. */
    public record Refusal(int argument, String reason) {}

    /** Why one argument can't be put into a spec. */
    private record Outcome(
            ArgSpec spec, @org.jspecify.annotations.Nullable String refusal) {
        static Outcome refused(String reason) {
            return new Outcome(ArgSpec.UNREADABLE, reason);
        }
    }

    public SpecBuilder(ArgGrammar grammar, SpecLayout layout) {
        this.grammar = grammar;
        this.layout = layout;
    }

    /**
     * Translates the arguments of one site.
     *
     * @param address of the probe, as the file has it
     * @param cookie the user's
     */
    public Result build(List<Argument> arguments, long address, SymbolResolver symbols, long cookie) {
        List<ArgSpec> specs = new ArrayList<>();
        List<Refusal> refusals = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            if (i >= layout.maxArgs()) {
                refusals.add(
                        new Refusal(i, "a BPF program can read the first " + layout.maxArgs() + " arguments only"));
                break;
            }
            Outcome outcome = translate(arguments.get(i), address, symbols);
            specs.add(outcome.spec());
            if (outcome.refusal() != null) {
                refusals.add(new Refusal(i, outcome.refusal()));
            }
        }
        return new Result(new UsdtSpec(specs, cookie), refusals);
    }

    private Outcome translate(Argument argument, long address, SymbolResolver symbols) {
        boolean signed = argument.signed();
        int bitShift = 64 - 8 * argument.size();
        return switch (argument.operand()) {
            case Operand.Constant c -> {
                // libbpf's header cuts a constant to its size as it does all values, ours takes it as it is.
                long top = c.value() << bitShift;
                long value = signed ? top >> bitShift : top >>> bitShift;
                yield new Outcome(new ArgSpec(ArgSpec.Type.CONSTANT, value, 0, 0, 0, signed, bitShift), null);
            }
            case Operand.Register r -> {
                OptionalInt offset = grammar.offsetOf(r.name());
                yield offset.isEmpty()
                        ? noSuchRegister(r.name())
                        : new Outcome(
                                new ArgSpec(ArgSpec.Type.REGISTER, 0, offset.getAsInt(), 0, 0, signed, bitShift), null);
            }
            case Operand.Memory m -> memory(m, address, symbols, signed, bitShift);
            case Operand.Unsupported u -> Outcome.refused(u.reason());
        };
    }

    private Outcome memory(Operand.Memory m, long address, SymbolResolver symbols, boolean signed, int bitShift) {
        OptionalInt base = grammar.offsetOf(m.base());
        if (base.isEmpty()) {
            return noSuchRegister(m.base());
        }
        long distance = m.displacement();
        if (m.symbol() != null) {
            OptionalLong symbol = symbols.address(m.symbol());
            if (symbol.isEmpty()) {
                return Outcome.refused("the file's symbol tables have no one address for '" + m.symbol() + "'");
            }
            distance += symbol.getAsLong() - address;
        }
        if (m.index() == null) {
            return new Outcome(
                    new ArgSpec(ArgSpec.Type.DEREFERENCE, distance, base.getAsInt(), 0, 0, signed, bitShift), null);
        }
        OptionalInt index = grammar.offsetOf(m.index());
        if (index.isEmpty()) {
            return noSuchRegister(m.index());
        }
        if (!layout.hasIndex()) {
            return Outcome.refused(
                    "the BPF object was built with a usdt.bpf.h of libbpf 1.6 or earlier, which can't read"
                            + " base + index; rebuild it with 1.7 or later");
        }
        if (m.indexSize() != 8 && !layout.hasIndexSize()) {
            return Outcome.refused(
                    "the BPF object was built with libbpf's usdt.bpf.h, which can't read half of an index"
                            + " register; bpf4j's own usdt.h can");
        }
        int scaleShift = Integer.numberOfTrailingZeros(m.scale());
        return new Outcome(
                new ArgSpec(
                        ArgSpec.Type.SIB,
                        distance,
                        base.getAsInt(),
                        index.getAsInt(),
                        scaleShift,
                        m.indexSize(),
                        signed,
                        bitShift),
                null);
    }

    private Outcome noSuchRegister(String name) {
        return Outcome.refused(grammar.machine() + " has no register '" + name + "' in struct pt_regs");
    }
}
