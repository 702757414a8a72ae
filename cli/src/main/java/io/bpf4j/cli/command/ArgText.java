package io.bpf4j.cli.command;

import io.bpf4j.usdt.UsdtArg;

/** An argument in words: what its value is, and where it is when the probe fires. */
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
        return (arg.signed() ? "signed " : "unsigned ") + arg.size() + (arg.size() == 1 ? " byte" : " bytes");
    }

    /** {@code memory at rbp-20}. */
    static String place(UsdtArg arg) {
        return switch (arg) {
            case UsdtArg.Constant c -> "constant " + c.value() + (c.read() == c.value() ? "" : ", read as " + c.read());
            case UsdtArg.Register r -> "register " + r.register();
            case UsdtArg.Dereference d -> {
                String symbol = d.symbol();
                yield "memory at " + (symbol == null ? d.register() : symbol) + offset(d.offset());
            }
            case UsdtArg.Sib s -> {
                String symbol = s.symbol();
                yield "memory at " + (symbol == null ? s.register() : symbol) + "+" + index(s) + "*" + s.scale()
                        + offset(s.offset());
            }
            case UsdtArg.Unsupported u -> "can't be read: " + u.reason();
        };
    }

    /** Half of a register with its extension, as size and sign of an argument are told. */
    private static String index(UsdtArg.Sib s) {
        return s.indexSize() == 8
                ? s.index()
                : "(" + (s.indexSize() < 0 ? "signed" : "unsigned") + " 4 bytes of " + s.index() + ")";
    }

    private static String offset(long offset) {
        if (offset == 0) {
            return "";
        }
        return (offset > 0 ? "+" : "") + offset;
    }
}
