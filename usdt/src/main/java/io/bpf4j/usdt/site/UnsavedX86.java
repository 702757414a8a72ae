package io.bpf4j.usdt.site;

import java.util.Optional;

/**
 * Registers of x86 that a compiler may use, but that the kernel doesn't save in {@code struct pt_regs}.
 *
 * <p>Tested by {@code UsdtArgTest}.
 */
final class UnsavedX86 {
    private UnsavedX86() {}

    /**
     * The reason why the register can't be read; empty if x86 has no such register.
     *
     * @param name without the percent sign
     */
    static Optional<String> reason(String name) {
        return kind(name).map(kind -> "%" + name + " is " + kind + ", and struct pt_regs has only general registers");
    }

    private static Optional<String> kind(String name) {
        if (ArgGrammar.isNumbered(name, "xmm", "ymm", "zmm")) {
            return Optional.of("a vector register");
        }
        if (name.equals("st") || name.startsWith("st(") || ArgGrammar.isNumbered(name, "st", "mm")) {
            return Optional.of("a floating point register");
        }
        if (ArgGrammar.isNumbered(name, "k")) {
            return Optional.of("a mask register");
        }
        return switch (name) {
            case "cs", "ds", "es", "fs", "gs", "ss" -> Optional.of("a segment register");
            default -> extended(name) ? Optional.of("a register of APX") : Optional.empty();
        };
    }

    /** r16 to r31, optionally with a letter for a part of the register. */
    private static boolean extended(String name) {
        String plain = name.endsWith("d") || name.endsWith("w") || name.endsWith("b")
                ? name.substring(0, name.length() - 1)
                : name;
        if (plain.length() != 3 || !ArgGrammar.isNumbered(plain, "r")) {
            return false;
        }
        int number = Integer.parseInt(plain.substring(1));
        return number >= 16 && number <= 31;
    }
}
