package io.bpf4j.loader.map;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A C type from an object's BTF, for comparison with a {@link Codec}. <i>Immutable.</i>
 *
 * <p>Tested by {@code CodecTypesTest} and {@code TypedViewsOnKernelTest}.
 *
 * @param btf types of the object
 * @param id of the type in {@code btf}
 */
public record CType(Btf btf, int id) {
    private static final int MAX_NESTING = 16;

    /** Limits the work for malformed BTF: a struct may have 65,535 members, each of them the same struct again. */
    private static final int MAX_MEMBERS = 100_000;

    private static final int MAX_SHOWN_FIELDS = 32;

    /** The C types that a Java number may match. */
    enum NumberKind {
        /** Signed in Java; also for unsigned C numbers, enumerations and pointers. */
        INTEGER,
        /** Never negative in Java. */
        UNSIGNED,
        BOOLEAN,
        FLOATING_POINT
    }

    /**
     * A member of a struct or union; members of nested anonymous structs and unions count as its own.
     *
     * @param bitOffset from the start of the outermost struct
     * @param bits of a bit-field; 0 for others
     */
    record Field(String name, CType type, long bitOffset, int bits) {
        /** Size in bits. */
        long width() {
            return bits != 0 ? bits : type.size() * 8;
        }

        @Override
        public String toString() {
            String declared = name;
            CType element = type;
            while (element.plain() instanceof BtfType.Array array) {
                declared += "[" + array.count() + "]";
                element = element.with(array.elementType());
            }
            return element.shortName() + " " + declared + (bits == 0 ? "" : " : " + bits) + " @" + bitOffset / 8;
        }
    }

    /**
     * Size in bytes.
     *
     * @throws io.bpf4j.elf.MalformedDataException if the type has no size
     */
    public long size() {
        return btf.size(id);
    }

    private CType with(int other) {
        return new CType(btf, other);
    }

    /** The type without typedefs and modifiers. */
    BtfType plain() {
        return btf.type(btf.resolve(id));
    }

    /**
     * The member's type if this is a struct with a single member, applied repeatedly, such as a number in a wrapper
     * struct.
     */
    CType unwrapped() {
        CType inner = this;
        for (int i = 0; i < MAX_NESTING; i++) {
            if (!(inner.plain() instanceof BtfType.Struct struct)
                    || struct.members().size() != 1
                    || struct.members().getFirst().isBitField()
                    || struct.members().getFirst().bitOffset() != 0) {
                return inner;
            }
            inner = with(struct.members().getFirst().type());
        }
        return inner;
    }

    /** The element type of an array of any dimensions; empty if this is not an array. */
    Optional<CType> element() {
        CType element = this;
        for (int i = 0; i < MAX_NESTING; i++) {
            if (!(element.plain() instanceof BtfType.Array array)) {
                return i == 0 ? Optional.empty() : Optional.of(element);
            }
            element = with(array.elementType());
        }
        return Optional.empty();
    }

    /** The fields of a struct or union, in order. */
    List<Field> fields() {
        List<Field> fields = new ArrayList<>();
        addFields(0, 0, new int[] {MAX_MEMBERS}, fields);
        return fields;
    }

    private void addFields(long base, int depth, int[] budget, List<Field> fields) {
        if (!(plain() instanceof BtfType.Composite composite)) {
            return;
        }
        for (BtfType.Member member : composite.members()) {
            if (depth == MAX_NESTING || --budget[0] < 0) {
                throw new IllegalArgumentException(shortName() + " has more fields than a record can represent");
            }
            CType type = with(member.type());
            if (!member.name().isEmpty()) {
                fields.add(new Field(
                        member.name(),
                        type,
                        base + member.bitOffset(),
                        member.isBitField() ? Math.max(1, member.bitSize()) : 0));
            } else if (!member.isBitField()) {
                type.addFields(base + member.bitOffset(), depth + 1, budget, fields);
            }
        }
    }

    /** How its size differs from this number of bytes; empty if it is equal. */
    Optional<String> differenceInSize(long bytes) {
        return size() == bytes
                ? Optional.empty()
                : Optional.of(shortName() + " has " + size() + " bytes, not " + bytes);
    }

    /** How it differs from a number of this size; empty if it matches. */
    Optional<String> differenceToNumber(NumberKind number, long bytes) {
        CType inner = unwrapped();
        boolean same = switch (inner.plain()) {
            case BtfType.Int integer ->
                number == NumberKind.INTEGER
                        || number == NumberKind.BOOLEAN
                        || (number == NumberKind.UNSIGNED && !integer.isSigned());
            case BtfType.Enumeration enumeration ->
                number == NumberKind.INTEGER || (number == NumberKind.UNSIGNED && !enumeration.signed());
            case BtfType.Ptr _ -> number == NumberKind.INTEGER;
            case BtfType.FloatingPoint _ -> number == NumberKind.FLOATING_POINT;
            // The number may stand for any member.
            case BtfType.Union _ -> true;
            default -> false;
        };
        if (same) {
            return differenceInSize(bytes);
        }
        return Optional.of(inner.shortName() + " is not "
                + switch (number) {
                    case INTEGER -> "an integer";
                    case UNSIGNED -> "an unsigned integer";
                    case BOOLEAN -> "a boolean";
                    case FLOATING_POINT -> "a floating-point number";
                });
    }

    /** How it differs from {@code char[bytes]}; empty if it matches. */
    Optional<String> differenceToText(long bytes) {
        boolean characters =
                unwrapped().element().map(CType::plain).orElseGet(this::plain) instanceof BtfType.Int integer
                        && integer.size() == 1;
        return characters || unwrapped().plain() instanceof BtfType.Union
                ? differenceInSize(bytes)
                : Optional.of(shortName() + " is not an array of characters");
    }

    /** A short name, such as {@code struct stats}, {@code __u32}. */
    String shortName() {
        CType element = element().orElse(this);
        String name = btf.name(btf.skipModifiers(element.id));
        BtfKind kind = btf.kind(btf.skipModifiers(element.id));
        String text = switch (kind) {
            case STRUCT -> "struct " + name;
            case UNION -> "union " + name;
            case ENUM, ENUM64 -> "enum " + name;
            case PTR -> "void *";
            default -> name;
        };
        return element.equals(this) ? text.strip() : text.strip() + "[" + size() / Math.max(1, element.size()) + "]";
    }

    /**
     * The definition in C, with the offset of each field: {@code struct stats { __u64 count @0; __u32 pid @8; } (16
     * bytes)}.
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(shortName());
        if (plain() instanceof BtfType.Composite) {
            List<Field> fields = fields();
            text.append(" { ");
            fields.stream()
                    .limit(MAX_SHOWN_FIELDS)
                    .forEach(field -> text.append(field).append("; "));
            text.append(fields.size() > MAX_SHOWN_FIELDS ? "… }" : "}");
        }
        return text.append(" (").append(size()).append(" bytes)").toString();
    }
}
