package io.bpf4j.loader.dryrun;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.EnumValue;
import io.bpf4j.btf.BtfType.Member;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * BTF as text that a person can read and change, and that is read back in either byte order: for the kinds that fields
 * are made of.
 *
 * <pre>
 *   1 int "unsigned int" 4 0         size in bytes; encoding: 1 signed, 2 character, 4 boolean
 *   2 ptr 0                          type
 *   3 array 1 1 16                   type of elements, type of index, count
 *   4 struct "task_struct" 9408      size in bytes, and for each member:
 *     "pid" 1 17856                  type, offset in bits
 *     "in_iowait" 1 17344:1          the same of a bit-field, with its width
 *   5 enum "pid_type" 4 unsigned     size in bytes; also enum64 and signed. For each value:
 *     "PIDTYPE_PID" 0
 *   6 typedef "u32" 1                also const, volatile and restrict, without a name
 *   7 fwd "mm_struct" struct         or union
 * </pre>
 */
final class BtfListing {
    private static final Pattern TYPE = Pattern.compile("(\\d+) (\\w+)(?: \"([^\"]*)\")?((?: \\S+)*)");
    private static final Pattern PART = Pattern.compile("  \"([^\"]*)\" (-?\\d+)(?: (\\d+)(?::(\\d+))?)?");

    private BtfListing() {}

    static String write(Btf btf) {
        StringBuilder text = new StringBuilder();
        for (int id = 1; id < btf.typeCount(); id++) {
            text.append(id).append(' ').append(line(btf.type(id))).append('\n');
            switch (btf.type(id)) {
                case BtfType.Composite composite -> composite.members().forEach(member -> text.append(line(member)));
                case BtfType.Enumeration enumeration ->
                    enumeration
                            .values()
                            .forEach(value -> text.append("  \"%s\" %d%n".formatted(value.name(), value.value())));
                default -> {}
            }
        }
        return text.toString();
    }

    private static String line(BtfType type) {
        return switch (type) {
            case BtfType.Int integer ->
                "int \"%s\" %d %d".formatted(integer.name(), integer.size(), integer.encoding());
            case BtfType.FloatingPoint real -> "float \"%s\" %d".formatted(real.name(), real.size());
            case BtfType.Ptr pointer -> "ptr " + pointer.type();
            case BtfType.Array array -> "array " + array.elementType() + " " + array.indexType() + " " + array.count();
            case BtfType.Struct struct -> "struct \"%s\" %d".formatted(struct.name(), struct.size());
            case BtfType.Union union -> "union \"%s\" %d".formatted(union.name(), union.size());
            case BtfType.Enum32 e -> "enum \"%s\" %d %s".formatted(e.name(), e.size(), sign(e));
            case BtfType.Enum64 e -> "enum64 \"%s\" %d %s".formatted(e.name(), e.size(), sign(e));
            case BtfType.Typedef typedef -> "typedef \"%s\" %d".formatted(typedef.name(), typedef.type());
            case BtfType.Fwd fwd -> "fwd \"%s\" %s".formatted(fwd.name(), fwd.isUnion() ? "union" : "struct");
            case BtfType.Const modifier -> "const " + modifier.type();
            case BtfType.Volatile modifier -> "volatile " + modifier.type();
            case BtfType.Restrict modifier -> "restrict " + modifier.type();
            default -> throw new IllegalArgumentException(type + " has no place in a listing");
        };
    }

    private static String sign(BtfType.Enumeration enumeration) {
        return enumeration.signed() ? "signed" : "unsigned";
    }

    private static String line(Member member) {
        String width = member.isBitField() ? ":" + member.bitSize() : "";
        return "  \"%s\" %d %d%s%n".formatted(member.name(), member.type(), member.bitOffset(), width);
    }

    static Btf read(String name, String text, ByteOrder order) {
        BtfBuilder builder = BtfBuilder.create();
        List<String> lines = text.lines().filter(line -> !line.startsWith("#")).toList();
        for (int i = 0; i < lines.size(); ) {
            Matcher head = matched(TYPE, lines.get(i++));
            List<Matcher> parts = new ArrayList<>();
            while (i < lines.size() && lines.get(i).startsWith("  ")) {
                parts.add(matched(PART, lines.get(i++)));
            }
            int id = builder.add(type(head, parts));
            if (id != Integer.parseInt(head.group(1))) {
                throw new IllegalArgumentException("type " + head.group(1) + " is number " + id);
            }
        }
        return builder.build(name, order);
    }

    private static Matcher matched(Pattern pattern, String line) {
        Matcher matcher = pattern.matcher(line);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("no line of a BTF listing: " + line);
        }
        return matcher;
    }

    private static BtfType type(Matcher head, List<Matcher> parts) {
        String name = head.group(3);
        String[] rest = head.group(4).strip().split(" ");
        return switch (head.group(2).toLowerCase(Locale.ROOT)) {
            case "int" -> BtfType.Int.of(name, number(rest, 0), number(rest, 1));
            case "float" -> new BtfType.FloatingPoint(name, number(rest, 0));
            case "ptr" -> new BtfType.Ptr(number(rest, 0));
            case "array" -> new BtfType.Array(number(rest, 0), number(rest, 1), number(rest, 2));
            case "struct" -> new BtfType.Struct(name, number(rest, 0), members(parts));
            case "union" -> new BtfType.Union(name, number(rest, 0), members(parts));
            case "enum" -> new BtfType.Enum32(name, number(rest, 0), rest[1].equals("signed"), values(parts));
            case "enum64" -> new BtfType.Enum64(name, number(rest, 0), rest[1].equals("signed"), values(parts));
            case "typedef" -> new BtfType.Typedef(name, number(rest, 0));
            case "fwd" -> new BtfType.Fwd(name, rest[0].equals("union"));
            case "const" -> new BtfType.Const(number(rest, 0));
            case "volatile" -> new BtfType.Volatile(number(rest, 0));
            case "restrict" -> new BtfType.Restrict(number(rest, 0));
            default -> throw new IllegalArgumentException("no kind of type: " + head.group(2));
        };
    }

    private static int number(String[] words, int index) {
        return Integer.parseInt(words[index]);
    }

    private static List<Member> members(List<Matcher> parts) {
        return parts.stream()
                .map(part -> new Member(
                        part.group(1),
                        Integer.parseInt(part.group(2)),
                        Long.parseLong(part.group(3)),
                        part.group(4) == null ? 0 : Integer.parseInt(part.group(4))))
                .toList();
    }

    private static List<EnumValue> values(List<Matcher> parts) {
        return parts.stream()
                .map(part -> new EnumValue(part.group(1), Long.parseLong(part.group(2))))
                .toList();
    }
}
