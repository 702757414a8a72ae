package io.bpf4j.usdt;

import io.bpf4j.usdt.internal.arg.ArgGrammar;
import io.bpf4j.usdt.internal.arg.Argument;
import io.bpf4j.usdt.internal.arg.ArgumentString;
import io.bpf4j.usdt.internal.arg.Blanks;
import io.bpf4j.usdt.internal.arg.Operand;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Reads and prints argument strings: {@code -4@-20(%rbp) 8@%rax}. */
public final class UsdtArgs {
    private UsdtArgs() {}

    /**
     * Reads an argument string. Never throws: what can't be read is {@link UsdtArg.Unsupported}, with its reason.
     *
     * @param machine the machine of the file that the string is from
     * @return the arguments in the order of the text, in any number. BPF programs see the first 12
     */
    public static List<UsdtArg> parse(Machine machine, String arguments) {
        Optional<ArgGrammar> grammar = machine.grammar();
        if (grammar.isEmpty()) {
            String reason = "argument strings of machine " + machine.machineName() + " can't be read";
            String text = Blanks.strip(arguments);
            return text.isEmpty() || arguments.startsWith(":")
                    ? List.of()
                    : List.of(new UsdtArg.Unsupported(machine.wordSize(), false, false, reason, text));
        }
        return ArgumentString.parse(grammar.get(), arguments).stream()
                .map(UsdtArgs::fromArgument)
                .toList();
    }

    /**
     * Writes arguments in their machine's syntax. Parsing the text again gives equal arguments.
     *
     * Unsupported ones are written as the file had them.
     *
     * @throws IllegalArgumentException if the machine's assembler has no words for an argument, such as a register of
     *     another machine
     */
    public static String print(Machine machine, List<UsdtArg> arguments) {
        String text = arguments.stream().map(a -> print(machine, a)).collect(Collectors.joining(" "));
        // A colon at the very beginning would mean that there are no arguments.
        return text.startsWith(":") ? " " + text : text;
    }

    private static String print(Machine machine, UsdtArg argument) {
        if (argument instanceof UsdtArg.Unsupported u) {
            return u.raw();
        }
        ArgGrammar grammar = machine.grammar()
                .orElseThrow(() -> new IllegalArgumentException("machine " + machine.machineName() + " has no syntax"));
        return ArgumentString.print(grammar, toArgument(argument));
    }

    private static UsdtArg fromArgument(Argument a) {
        int size = a.size();
        boolean signed = a.signed();
        boolean isFloat = a.isFloat();
        return switch (a.operand()) {
            case Operand.Constant c -> new UsdtArg.Constant(size, signed, isFloat, c.value());
            case Operand.Register r -> new UsdtArg.Register(size, signed, isFloat, r.name());
            case Operand.Memory m -> {
                String index = m.index();
                yield index == null
                        ? new UsdtArg.Dereference(size, signed, isFloat, m.base(), m.displacement(), m.symbol())
                        : new UsdtArg.Sib(
                                size,
                                signed,
                                isFloat,
                                m.base(),
                                m.displacement(),
                                index,
                                m.scale(),
                                m.symbol(),
                                m.indexSize());
            }
            case Operand.Unsupported u -> new UsdtArg.Unsupported(size, signed, isFloat, u.reason(), a.raw());
        };
    }

    static Argument toArgument(UsdtArg arg) {
        Operand operand = switch (arg) {
            case UsdtArg.Constant c -> new Operand.Constant(c.value());
            case UsdtArg.Register r -> new Operand.Register(r.register());
            case UsdtArg.Dereference d -> new Operand.Memory(d.register(), d.offset(), d.symbol(), null, 1);
            case UsdtArg.Sib s ->
                new Operand.Memory(s.register(), s.offset(), s.symbol(), s.index(), s.scale(), s.indexSize());
            case UsdtArg.Unsupported u -> new Operand.Unsupported(u.reason());
        };
        String raw = arg instanceof UsdtArg.Unsupported u ? u.raw() : "";
        return new Argument(arg.size(), arg.signed(), arg.isFloat(), operand, raw);
    }
}
