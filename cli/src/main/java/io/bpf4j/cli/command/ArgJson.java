package io.bpf4j.cli.command;

import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.usdt.UsdtArg;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Arguments as JSON: {@code {"size","signed","kind","value","register","offset","index","scale","symbol","float",
 * "reason"}}, of which only those stand that apply to the kind.
 */
final class ArgJson {
    private ArgJson() {}

    static void write(JsonLine line, List<UsdtArg> args) {
        line.beginArray();
        args.forEach(arg -> write(line, arg));
        line.endArray();
    }

    private static void write(JsonLine line, UsdtArg arg) {
        line.beginObject().field("size", arg.size()).field("signed", arg.signed());
        switch (arg) {
            case UsdtArg.Constant c -> line.field("kind", "constant").field("value", c.value());
            case UsdtArg.Register r -> line.field("kind", "register").field("register", r.register());
            case UsdtArg.Dereference d -> {
                line.field("kind", "dereference")
                        .field("register", d.register())
                        .field("offset", d.offset());
                symbol(line, d.symbol());
            }
            case UsdtArg.Sib s -> {
                line.field("kind", "sib").field("register", s.register()).field("offset", s.offset());
                line.field("index", s.index()).field("scale", s.scale());
                if (s.indexSize() != 8) {
                    line.field("index_size", s.indexSize());
                }
                symbol(line, s.symbol());
            }
            case UsdtArg.Unsupported _ -> line.field("kind", "unsupported");
        }
        line.field("float", arg.isFloat());
        if (arg instanceof UsdtArg.Unsupported u) {
            line.field("reason", u.reason());
        }
        line.endObject();
    }

    private static void symbol(JsonLine line, @Nullable String symbol) {
        if (symbol != null) {
            line.field("symbol", symbol);
        }
    }
}
