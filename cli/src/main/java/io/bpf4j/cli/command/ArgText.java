package io.bpf4j.cli.command;

import io.bpf4j.usdt.site.UsdtArg;

/**
 * An argument as text: the type of its value, and its location when the probe fires.
 *
 * <p>Tested by {@code ArgsCommandTest}.
 */
final class ArgText {
    private ArgText() {}

    /** {@code signed 4 bytes}, {@code double}. */
    static String type(UsdtArg arg) {
        if (arg.isFloat()) {
            return switch (arg.size()) {
                case Float.BYTES -> "float";
                case Double.BYTES -> "double";
                default -> "float of " + arg.size() + " bytes";
            };
        }
        if (arg.size() == Integer.MAX_VALUE) {
            return "no size"; // the number was too large, as the following reason says
        }
        return (arg.signed() ? "signed " : "unsigned ") + arg.size() + (arg.size() == 1 ? " byte" : " bytes");
    }

    /** {@code memory at rbp-20}. */
    static String place(UsdtArg arg) {
        return switch (arg.operand()) {
            case UsdtArg.Constant c -> {
                long read = arg.cut(c.value());
                yield "constant " + c.value() + (read == c.value() ? "" : ", read as " + read);
            }
            case UsdtArg.Register r -> "register " + r.name();
            case UsdtArg.Memory m -> "memory at " + m.symbol().orElse(m.base()) + index(m) + offset(m.offset());
            case UsdtArg.Unsupported u -> "can't be read: " + u.reason();
        };
    }

    /** The index register. For half of a register, the text also says how it is extended. */
    private static String index(UsdtArg.Memory m) {
        if (m.index().isEmpty()) {
            return "";
        }
        String register = m.indexSize() == 8
                ? m.index().get()
                : "(" + (m.indexSize() < 0 ? "signed" : "unsigned") + " 4 bytes of "
                        + m.index().get() + ")";
        return "+" + register + "*" + m.scale();
    }

    private static String offset(long offset) {
        if (offset == 0) {
            return "";
        }
        return (offset > 0 ? "+" : "") + offset;
    }
}
