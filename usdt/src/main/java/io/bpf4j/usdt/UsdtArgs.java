package io.bpf4j.usdt;

import io.bpf4j.usdt.internal.arg.ArgumentString;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import java.util.List;

/** Parses and prints argument strings: {@code -4@-20(%rbp) 8@%rax}. */
public final class UsdtArgs {
    private UsdtArgs() {}

    /**
     * Parses an argument string. Never throws: an argument that can't be read is {@link UsdtArg.Unsupported}, with its
     * reason.
     *
     * @param machine the machine of the file that the string is from
     * @return the arguments in the order of the text, without a limit. BPF programs can read the first 12
     */
    public static List<UsdtArg> parse(Machine machine, String arguments) {
        return ArgumentString.parse(machine, arguments);
    }

    /**
     * Writes arguments in their machine's syntax. Parsing the text again gives equal arguments. Unsupported ones are
     * written as the file had them.
     *
     * @throws IllegalArgumentException if the machine's assembler can't express an argument, such as a register of
     *     another machine
     */
    public static String print(Machine machine, List<UsdtArg> arguments) {
        return ArgumentString.print(machine, arguments);
    }
}
