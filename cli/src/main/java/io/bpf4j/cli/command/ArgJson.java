package io.bpf4j.cli.command;

import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.usdt.site.UsdtArg;
import java.util.List;

/**
 * Arguments as JSON: {@code {"size","signed","kind","value","register","offset","index","scale","symbol","float",
 * "reason"}}, with only the keys that apply to the kind.
 *
 * <p>Tested by {@code ArgsCommandTest}.
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
        switch (arg.operand()) {
            case UsdtArg.Constant c -> line.field("kind", "constant").field("value", c.value());
            case UsdtArg.Register r -> line.field("kind", "register").field("register", r.name());
            case UsdtArg.Memory m -> memory(line, m);
            case UsdtArg.Unsupported _ -> line.field("kind", "unsupported");
        }
        line.field("float", arg.isFloat());
        if (arg.operand() instanceof UsdtArg.Unsupported u) {
            line.field("reason", u.reason());
        }
        line.endObject();
    }

    private static void memory(JsonLine line, UsdtArg.Memory m) {
        line.field("kind", m.index().isPresent() ? "sib" : "dereference")
                .field("register", m.base())
                .field("offset", m.offset());
        m.index().ifPresent(register -> line.field("index", register).field("scale", m.scale()));
        if (m.indexSize() != 8) {
            line.field("index_size", m.indexSize());
        }
        m.symbol().ifPresent(name -> line.field("symbol", name));
    }
}
