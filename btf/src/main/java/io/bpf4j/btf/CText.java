package io.bpf4j.btf;

import io.bpf4j.elf.MalformedDataException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The text of C declarations.
 *
 * <p>C writes a type around the name that it declares: {@code int (*handlers[4])(void *)} is an array of 4 pointers to
 * functions. So a declaration is built from the name outwards, while the chain of BTF types is followed: an array adds
 * {@code [4]} after the text so far, a pointer {@code *} before it, and parentheses if an array or a function follows.
 * The type at the end of the chain stands before all. <i>Confined.</i>
 */
final class CText {
    private static final int MAX_NESTING = 64;

    /** A gap of more than this is an array of bytes, not bit-fields of {@code long}. */
    private static final long MAX_BIT_FIELDS = 64;

    /** The words that make up C's names of integers. Other languages have other names, such as {@code usize}. */
    private static final Set<String> INTEGER_WORDS =
            Set.of("signed", "unsigned", "char", "short", "int", "long", "__int128", "_Bool");

    private final Btf btf;
    private final CLayout layout;
    private final CNames tags = new CNames();
    /** The names of typedefs, constants and functions. */
    private final CNames names = new CNames();

    private final Map<Integer, String> nameOfType = new HashMap<>();
    /** Anonymous enumerations whose constants are declared already. */
    private final Set<Integer> declaredConstants = new HashSet<>();

    /**
     * The number of characters that may still be written. An anonymous type is written wherever it is used, so a small
     * file could cause an endless text. The types of a kernel take less space as text than as BTF.
     */
    private long room;

    CText(Btf btf) {
        this.btf = btf;
        this.layout = new CLayout(btf);
        this.room = 1 << 20;
        for (Btf part = btf; part != null; part = part.base().orElse(null)) {
            room += 16L * part.bytes().array().length;
        }
    }

    // Names

    /** The tag or the name of a typedef, with that name in BTF. */
    String name(int id) {
        String known = nameOfType.get(id);
        if (known == null) {
            String name = btf.name(id);
            known = btf.type(id) instanceof BtfType.Typedef ? names.unique(name) : tags.unique(name);
            nameOfType.put(id, known);
        }
        return known;
    }

    /** The type that a forward declaration declares, if the BTF has it. */
    int definition(int fwd) {
        BtfType.Fwd type = (BtfType.Fwd) btf.type(fwd);
        OptionalInt found = btf.find(type.name(), type.isUnion() ? BtfKind.UNION : BtfKind.STRUCT);
        return found.orElse(fwd);
    }

    private String keywordAndTag(int id) {
        int target = btf.kind(id) == BtfKind.FWD ? definition(id) : id;
        return keyword(btf.type(target)) + " " + name(target);
    }

    private static String keyword(BtfType type) {
        return switch (type) {
            case BtfType.Struct _ -> "struct";
            case BtfType.Union _ -> "union";
            case BtfType.Fwd fwd -> fwd.isUnion() ? "union" : "struct";
            default -> "enum";
        };
    }

    // Statements

    String forward(int id) {
        return spend(keywordAndTag(id) + ";");
    }

    /** The definition of a struct, union or enumeration with a name. */
    String definitionOf(int id) {
        return spend(body(id, keywordAndTag(id), 0, 0) + ";");
    }

    /** An enumeration without a name that only declares its constants. */
    String constants(int id) {
        return spend(body(id, "enum", 0, 0) + ";");
    }

    String typedef(int id) {
        BtfType.Typedef type = (BtfType.Typedef) btf.type(id);
        return spend("typedef " + declare(type.type(), name(id), 0, 0) + ";");
    }

    /** A declaration of a variable, or only a type if the name is empty. */
    String variable(int id, String name) {
        return spend(declare(id, name, 0, 0));
    }

    private String spend(String text) {
        room -= text.length();
        if (room < 0) {
            throw new MalformedDataException(
                    btf.source(),
                    0,
                    "its C declarations would be more than 16 times as large as its BTF; no compiler emits such types");
        }
        return text;
    }

    // Types around names

    private String declare(int id, String name, int indent, int nesting) {
        checkNesting(id, nesting);
        StringBuilder declarator = new StringBuilder(name);
        // Qualifiers of the type that follows; C has them before a name, and after a pointer's star.
        String qualifiers = "";
        int current = id;
        boolean afterPointer = false;
        for (int step = 0; ; step++) {
            if (step > 4 * MAX_NESTING) {
                throw new MalformedDataException(
                        btf.source(), 0, "type " + id + " is a chain of too many types; it may refer to itself");
            }
            BtfType type = btf.type(current);
            switch (type) {
                case BtfType.Ptr ptr -> {
                    String space = qualifiers.isEmpty() || declarator.isEmpty() ? "" : " ";
                    declarator.insert(0, "*" + qualifiers.stripTrailing() + space);
                    qualifiers = "";
                    afterPointer = true;
                    current = ptr.type();
                }
                case BtfType.Array array -> {
                    parenthesize(declarator, afterPointer);
                    declarator.append('[').append(array.count()).append(']');
                    afterPointer = false;
                    current = array.elementType();
                }
                case BtfType.FuncProto proto -> {
                    parenthesize(declarator, afterPointer);
                    declarator.append(parameters(proto, indent, nesting));
                    afterPointer = false;
                    qualifiers = "";
                    current = proto.returnType();
                }
                case BtfType.Modifier modifier -> {
                    // An array's qualifier is that of its elements, which may have it, too.
                    String qualifier = qualifier(modifier);
                    qualifiers = qualifiers.contains(qualifier) ? qualifiers : qualifier + qualifiers;
                    current = modifier.type();
                }
                case BtfType.Typedef typedef when isBuiltIn(typedef) -> current = typedef.type();
                default -> {
                    String specifier = qualifiers + specifier(current, type, indent, nesting);
                    return declarator.isEmpty() ? specifier : specifier + " " + declarator;
                }
            }
        }
    }

    /** Whether compilers define this type themselves, in another form for each machine. */
    static boolean isBuiltIn(BtfType.Typedef type) {
        return type.name().equals("__builtin_va_list");
    }

    private static void parenthesize(StringBuilder declarator, boolean afterPointer) {
        if (afterPointer) {
            declarator.insert(0, '(').append(')');
        }
    }

    private static String qualifier(BtfType.Modifier modifier) {
        return switch (modifier) {
            case BtfType.Const _ -> "const ";
            case BtfType.Volatile _ -> "volatile ";
            case BtfType.Restrict _ -> "restrict ";
            case BtfType.TypeTag tag -> {
                boolean plain = tag.name().codePoints().allMatch(CNames::isIdentifier);
                // Another attribute would take effect: aligned, for instance, changes the layout.
                yield plain && !tag.attribute() ? "__attribute__((btf_type_tag(\"" + tag.name() + "\"))) " : "";
            }
        };
    }

    private String parameters(BtfType.FuncProto proto, int indent, int nesting) {
        if (proto.parameters().isEmpty()) {
            return "(void)";
        }
        List<String> all = new ArrayList<>();
        for (BtfType.Parameter parameter : proto.parameters()) {
            boolean variadic = parameter.type() == 0 && parameter.name().isEmpty();
            String name = parameter.name().isEmpty() ? "" : CNames.identifier(parameter.name());
            all.add(variadic ? "..." : spend(declare(parameter.type(), name, indent, nesting + 1)));
        }
        // Before C23 a parameter must precede the dots.
        return all.size() == 1 && all.getFirst().equals("...") ? "()" : "(" + String.join(", ", all) + ")";
    }

    private String specifier(int id, BtfType type, int indent, int nesting) {
        return switch (type) {
            case BtfType.Int integer -> integer(integer);
            case BtfType.FloatingPoint number -> floatingPoint(number);
            case BtfType.Typedef _ -> name(id);
            case BtfType.Composite composite ->
                composite.name().isEmpty() ? body(id, keyword(composite), indent, nesting + 1) : keywordAndTag(id);
            case BtfType.Enumeration enumeration -> {
                if (!enumeration.name().isEmpty()) {
                    yield keywordAndTag(id);
                }
                // A second use of the type must not declare its constants again.
                yield declaredConstants.contains(id)
                        ? integer(enumeration.size(), enumeration.signed())
                        : body(id, "enum", indent, nesting + 1);
            }
            case BtfType.Fwd _ -> keywordAndTag(id);
            default -> "void";
        };
    }

    private static String integer(BtfType.Int type) {
        String name = type.name().equals("bool") ? "_Bool" : type.name();
        List<String> words = List.of(name.split(" ", 6));
        if (INTEGER_WORDS.containsAll(words) && size(words) == type.size()) {
            return name;
        }
        return type.isBool() && type.size() == 1 ? "_Bool" : integer(type.size(), type.isSigned());
    }

    /** Whether a type becomes {@code _Bool}, whose bit-fields have one bit at most. */
    static boolean isTruth(BtfType.Int type) {
        return integer(type).equals("_Bool");
    }

    /** The bytes of an integer on a 64-bit machine, by its words. */
    private static int size(List<String> words) {
        return words.contains("char") || words.contains("_Bool")
                ? 1
                : words.contains("short") ? 2 : words.contains("long") ? 8 : words.contains("__int128") ? 16 : 4;
    }

    private static String integer(int size, boolean signed) {
        return (signed ? "" : "unsigned ")
                + switch (size) {
                    case 1 -> signed ? "signed char" : "char";
                    case 2 -> "short";
                    case 4 -> "int";
                    case 8 -> "long long";
                    default -> "__int128";
                };
    }

    private static String floatingPoint(BtfType.FloatingPoint type) {
        return switch (type.size()) {
            case 2 -> "_Float16";
            case 4 -> "float";
            case 8 -> "double";
            default -> "long double";
        };
    }

    // Bodies

    private String body(int id, String start, int indent, int nesting) {
        checkNesting(id, nesting);
        return btf.type(id) instanceof BtfType.Composite composite
                ? start + " " + members(id, composite, indent, nesting)
                : enumeration(id, start, indent);
    }

    private String members(int id, BtfType.Composite type, int indent, int nesting) {
        CLayout.@Nullable Layout plan = layout.of(id, 0);
        String inner = "\t".repeat(indent + 1);
        StringBuilder text = new StringBuilder("{\n");
        if (plan == null) {
            text.append(inner)
                    .append("/* C can't express the members of this type. */\n")
                    .append(inner)
                    .append("unsigned char __bytes[" + type.size() + "];\n");
            return text.append("\t".repeat(indent)).append('}').toString();
        }
        boolean isStruct = type instanceof BtfType.Struct;
        int index = 0;
        for (BtfType.Member member : type.members()) {
            if (isStruct) {
                gap(text, plan.gaps().get(index++), inner);
            }
            text.append(inner).append(member(member, indent + 1, nesting)).append(";\n");
            spend(inner);
        }
        if (isStruct) {
            gap(text, plan.gaps().getLast(), inner);
        } else if (!plan.gaps().getLast().isEmpty()) {
            text.append(inner).append("unsigned char __padding[" + type.size() + "];\n");
        }
        text.append("\t".repeat(indent)).append('}');
        return spend(
                text.append(plan.packed() ? " __attribute__((packed))" : "").toString());
    }

    private String member(BtfType.Member member, int indent, int nesting) {
        String name = member.name().isEmpty() ? "" : CNames.identifier(member.name());
        int bits = layout.bits(member).bitFieldBits();
        int plain = btf.skipModifiers(member.type());
        if (name.isEmpty() && bits == 0) {
            // The kernel's compilers take "struct list_head;" as a member without a name (-fms-extensions), others do
            // not.
            return btf.type(btf.resolve(plain)) instanceof BtfType.Composite composite
                    ? body(btf.resolve(plain), keyword(composite), indent, nesting + 1)
                    : declare(member.type(), names.unique("__unnamed"), indent, nesting);
        }
        return declare(member.type(), name, indent, nesting) + (bits == 0 ? "" : ": " + bits);
    }

    /** Unnamed bit-fields, none of which crosses a multiple of {@code long}; an array of bytes for a large gap. */
    private void gap(StringBuilder text, CLayout.Gap gap, String indent) {
        long unit = 8L * btf.pointerSize();
        String type = unit == 64 ? "long" : "int";
        if (gap.to() - gap.from() > MAX_BIT_FIELDS * unit) {
            if (gap.from() % 8 != 0) {
                text.append(indent).append("char: " + (8 - gap.from() % 8) + ";\n");
            }
            text.append(indent)
                    .append("unsigned char " + names.unique("__padding") + "[" + (gap.to() / 8 - (gap.from() + 7) / 8)
                            + "];\n");
            if (gap.to() % 8 != 0) {
                text.append(indent).append("char: " + gap.to() % 8 + ";\n");
            }
            return;
        }
        long at = gap.from();
        while (at < gap.to()) {
            long width = Math.min(unit - at % unit, gap.to() - at);
            text.append(indent).append(type + ": " + width + ";\n");
            at += width;
        }
    }

    private String enumeration(int id, String start, int indent) {
        BtfType.Enumeration type = (BtfType.Enumeration) btf.type(id);
        declaredConstants.add(id);
        String inner = "\t".repeat(indent + 1);
        StringBuilder text = new StringBuilder(start).append(" {\n");
        boolean wide = false;
        for (BtfType.EnumValue value : type.values()) {
            text.append(inner)
                    .append(names.unique(value.name()))
                    .append(" = ")
                    .append(number(value.value(), type.signed()))
                    .append(",\n");
            wide |= type.signed() ? value.value() != (int) value.value() : value.value() >>> 32 != 0;
        }
        if (type.values().isEmpty()) {
            // C has no enumeration without values; compilers write this if only a declaration was seen.
            text.append(inner).append(names.unique("__no_values")).append(",\n");
        }
        text.append("\t".repeat(indent)).append('}');
        String mode = switch (type.size()) {
            case 1 -> "QI";
            case 2 -> "HI";
            case 8 -> wide ? "" : "DI";
            default -> "";
        };
        return spend(text.append(mode.isEmpty() ? "" : " __attribute__((mode(" + mode + ")))")
                .toString());
    }

    private static String number(long value, boolean signed) {
        if (!signed) {
            return Long.toUnsignedString(value) + (value >>> 32 != 0 ? "ULL" : "");
        }
        // C has no negative constants: -9223372036854775808 would be the negative of a number that is too large.
        return value == Long.MIN_VALUE ? "-9223372036854775807LL - 1" : value + (value == (int) value ? "" : "LL");
    }

    private void checkNesting(int id, int nesting) {
        if (nesting > MAX_NESTING) {
            throw new MalformedDataException(
                    btf.source(),
                    0,
                    "type " + id + " has more than " + MAX_NESTING + " levels of types without a name");
        }
    }
}
