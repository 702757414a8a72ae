package io.bpf4j.loader.binding;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The facts about an object that a generated class relies on, as lines of text: the types of its maps, and the offset
 * and size of each member that the class reads or writes. An object is compared with them before anything is loaded.
 * <i>Immutable.</i>
 *
 * <pre>
 *   map counts: hash
 *   map counts key: u32, 4 bytes
 *   map counts value: struct, 16 bytes
 *   map counts value.sum: u64, 8 bytes at 0
 *   map counts value.last: u64, 8 bytes at 8
 *   global target_pid: constant, s32, 4 bytes
 *   type event: struct, 24 bytes
 *   type event .flags: u32, 3 bits at bit 67
 *   program on_close: kprobe
 * </pre>
 *
 * <p>Further parts of the object do not matter, nor do names of types and enumerators.
 *
 * <p>Tested by {@code ObjectLayoutTest}.
 */
public final class ObjectLayout {
    private static final int MAX_NESTING = 16;

    /** Limits the members of one map, variable or type; of a larger one the whole size is compared. */
    private static final int MAX_MEMBERS = 2_000;

    /** Limits the characters of their names, each with the names of the structs around it. */
    private static final int MAX_CHARACTERS = 500_000;

    private static final int MAX_SHOWN = 10;

    private final List<String> lines;

    private ObjectLayout(List<String> lines) {
        this.lines = lines;
    }

    /** The lines of a generated class. */
    public static ObjectLayout of(String... lines) {
        return new ObjectLayout(List.of(lines));
    }

    /**
     * The lines about parts of an object.
     *
     * @param parts {@code map NAME}, {@code global NAME}, {@code type NAME} for a struct, union or typedef, {@code
     *     program NAME}; a part that the object does not have gives no line
     */
    public static List<String> lines(ObjectSpec spec, List<String> parts) {
        List<String> lines = new ArrayList<>();
        for (String part : parts) {
            facts(spec, part).forEach((name, fact) -> lines.add(name + ": " + fact));
        }
        return lines;
    }

    /**
     * Compares an object with these lines.
     *
     * @param user the class that relies on them, for the message
     * @throws InvalidObjectException if the object differs, and the message lists the differences; or if it has no BTF
     */
    public void check(ObjectSpec spec, Class<?> user) {
        Map<String, Map<String, String>> actual = new LinkedHashMap<>();
        List<String> differences = new ArrayList<>();
        for (String line : lines) {
            int colon = line.lastIndexOf(": "); // a name may have one, too
            String[] sides = {line.substring(0, colon), line.substring(colon + 2)};
            String part = part(sides[0]);
            Map<String, String> facts = actual.computeIfAbsent(part, name -> facts(spec, name));
            String found = facts.get(sides[0]);
            if (facts.isEmpty()) {
                // Reported once, by its first line.
                if (sides[0].equals(part)) {
                    differences.add("it has no " + part);
                }
            } else if (!sides[1].equals(found)) {
                differences.add(sides[0] + " is " + (found == null ? "missing" : found) + ", but the class expects "
                        + sides[1]);
            }
        }
        if (!differences.isEmpty() && spec.btf().isEmpty()) {
            throw new InvalidObjectException(spec.source() + " has no BTF, so it can't be compared with "
                    + user.getName() + "; compile it with clang -g, and don't strip .BTF");
        }
        if (!differences.isEmpty()) {
            int more = differences.size() - MAX_SHOWN;
            throw new InvalidObjectException(spec.source() + " is not the object that " + user.getName()
                    + " was generated from: "
                    + String.join("; ", differences.subList(0, Math.min(MAX_SHOWN, differences.size())))
                    + (more > 0 ? "; and " + more + " more differences" : "")
                    + ". Generate the class from this object, or load the object of the class");
        }
    }

    /** The part that a line is about: {@code map counts} of {@code map counts value.sum}. */
    private static String part(String name) {
        String[] words = name.split(" ", 3);
        return words[0] + " " + words[1];
    }

    private static Map<String, String> facts(ObjectSpec spec, String part) {
        Map<String, String> facts = new LinkedHashMap<>();
        String name = part.substring(part.indexOf(' ') + 1);
        switch (part.substring(0, part.indexOf(' '))) {
            case "map" -> spec.findMap(name).ifPresent(map -> ofMap(spec, map, part, facts));
            case "global" ->
                spec.globals().stream()
                        .filter(global -> global.name().equals(name))
                        .findFirst()
                        .ifPresent(global -> ofGlobal(spec, global, part, facts));
            case "type" -> type(spec, name).ifPresent(id -> ofType(spec.btf().orElseThrow(), id, part, "", facts));
            case "program" ->
                spec.findProgram(name)
                        .ifPresent(program ->
                                facts.put(part, lowerCase(program.type().name())));
            default ->
                throw new IllegalArgumentException(
                        "'" + part + "' does not name a kind of part: map, global, type or program");
        }
        return facts;
    }

    private static String lowerCase(String constant) {
        return constant.toLowerCase(Locale.ROOT);
    }

    /** The id of a struct, union or typedef; empty if the object has none of that name. */
    private static OptionalInt type(ObjectSpec spec, String name) {
        for (BtfKind kind : List.of(BtfKind.STRUCT, BtfKind.UNION, BtfKind.TYPEDEF)) {
            OptionalInt id = spec.btf().map(types -> types.find(name, kind)).orElse(OptionalInt.empty());
            if (id.isPresent()) {
                return id;
            }
        }
        return OptionalInt.empty();
    }

    private static void ofMap(ObjectSpec spec, MapSpec map, String part, Map<String, String> facts) {
        facts.put(
                part,
                map.type().map(type -> lowerCase(type.name())).orElseGet(() -> "a map of type " + map.typeNumber()));
        ofElement(spec, map.keyTypeId(), map.keySize(), part + " key", facts);
        ofElement(spec, map.valueTypeId(), map.valueSize(), part + " value", facts);
    }

    private static void ofElement(ObjectSpec spec, int typeId, int size, String name, Map<String, String> facts) {
        if (spec.declaredType(typeId, size).isPresent()) {
            ofType(spec.btf().orElseThrow(), typeId, name, "", facts);
        } else if (size > 0) {
            facts.put(name, "bytes, " + count(size, "byte"));
        }
    }

    private static void ofGlobal(ObjectSpec spec, GlobalSpec global, String part, Map<String, String> facts) {
        boolean constant =
                spec.map(global.map()).data().filter(DataSection::readOnly).isPresent();
        String kind = constant ? "constant, " : "variable, ";
        ofElement(spec, global.typeId(), global.size(), part, facts);
        facts.computeIfPresent(part, (_, fact) -> kind + fact);
    }

    /**
     * The lines of one type. What was visited is counted, not the lines: members may be without a name or have equal
     * ones, so that a small file has many of them and few lines.
     */
    private static final class Facts {
        private final Map<String, String> lines = new LinkedHashMap<>();
        private int members;
        private int characters;

        void put(String name, String fact) {
            characters += name.length();
            lines.put(name, fact);
        }

        boolean isFull() {
            return ++members > MAX_MEMBERS || characters > MAX_CHARACTERS;
        }
    }

    private static void ofType(Btf types, int id, String name, String place, Map<String, String> facts) {
        Facts all = new Facts();
        boolean whole = addType(types, id, name, place, 0, all);
        if (whole) {
            facts.putAll(all.lines);
        } else {
            facts.put(name, "bytes, " + count(types.size(id), "byte") + place);
        }
    }

    /** Adds the lines of a type and of what is in it. Returns false if they are too many. */
    private static boolean addType(Btf types, int id, String name, String place, int depth, Facts facts) {
        if (depth > MAX_NESTING) {
            return false;
        }
        BtfType type = types.type(types.resolve(id));
        String size = ", " + count(size(types, id), "byte") + place;
        switch (type) {
            case BtfType.Composite composite -> {
                facts.put(name, (type instanceof BtfType.Union ? "union" : "struct") + size);
                return addMembers(types, composite, below(name) + ".", 0, depth, facts);
            }
            case BtfType.Array array -> {
                BtfType element = types.type(types.resolve(array.elementType()));
                boolean plain = !(element instanceof BtfType.Composite) && !(element instanceof BtfType.Array);
                facts.put(name, (plain ? plain(element) : "array") + "[" + array.count() + "]" + size);
                return plain || addType(types, array.elementType(), below(name) + "[]", "", depth + 1, facts);
            }
            default -> facts.put(name, plain(type) + size);
        }
        return true;
    }

    /** The beginning of names below a name. That of a part, such as {@code type event}, may have dots itself. */
    private static String below(String name) {
        return part(name).equals(name) ? name + " " : name;
    }

    private static boolean addMembers(
            Btf types, BtfType.Composite composite, String prefix, long base, int depth, Facts facts) {
        for (BtfType.Member member : composite.members()) {
            if (facts.isFull()) {
                return false;
            }
            BtfType type = types.type(types.resolve(member.type()));
            long bit = base + member.bitOffset();
            if (member.name().isEmpty()) {
                if (type instanceof BtfType.Composite inner
                        && (depth > MAX_NESTING || !addMembers(types, inner, prefix, bit, depth + 1, facts))) {
                    return false;
                }
            } else if (member.isBitField()) {
                facts.put(
                        prefix + member.name(), plain(type) + ", " + count(member.bitSize(), "bit") + " at bit " + bit);
            } else if (!addType(types, member.type(), prefix + member.name(), " at " + bit / 8, depth + 1, facts)) {
                return false;
            }
        }
        return true;
    }

    private static String plain(BtfType type) {
        return switch (type) {
            case BtfType.Int integer when integer.isBool() -> "bool";
            case BtfType.Int integer -> (integer.isSigned() ? "s" : "u") + integer.bits();
            case BtfType.FloatingPoint _ -> "floating point";
            case BtfType.Enumeration enumeration -> enumeration.signed() ? "signed enum" : "enum";
            case BtfType.Ptr _ -> "pointer";
            default -> lowerCase(type.kind().name());
        };
    }

    private static long size(Btf types, int id) {
        try {
            return types.size(id);
        } catch (MalformedDataException e) {
            return 0; // a function or void, which no value has
        }
    }

    private static String count(long number, String unit) {
        return number + " " + unit + (number == 1 ? "" : "s");
    }
}
