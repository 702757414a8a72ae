package io.bpf4j.bindings;

import com.palantir.javapoet.ClassName;
import io.bpf4j.bindings.NamedType.Member;
import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.InvalidObjectException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The types of an object that its maps and variables have, and the class of each struct, union and enumeration among
 * them. Pointers are not followed. <i>Confined.</i>
 *
 * <p>Tested by {@code TypeModelTest}.
 */
final class TypeModel {
    /** Limits the work for malformed BTF, in which a struct may contain itself. */
    private static final int MAX_DEPTH = 16;

    private static final int MAX_CLASSES = 2_000;
    private static final int MAX_MEMBERS = 50_000;

    /** The methods of a view for more would refer to more than the 65,535 constants that a class can have. */
    private static final int MAX_MEMBERS_OF_ONE = 4_000;

    private final Btf types;
    private final ClassName outer;
    private final JavaNames names;
    private final Map<Integer, NamedType> byId = new HashMap<>();

    /** A number for each type that is different, by all that its class depends on; and the number of each id. */
    private final Map<String, Integer> identities = new HashMap<>();

    private final Map<Integer, Integer> identityOf = new HashMap<>();
    private final Map<Integer, NamedType> byIdentity = new HashMap<>();

    private final List<NamedType> all = new ArrayList<>();
    private int memberCount;

    /**
     * A model without types.
     *
     * @param names of the classes in {@code outer}
     */
    TypeModel(Btf types, ClassName outer, JavaNames names) {
        this.types = types;
        this.outer = outer;
        this.names = names;
    }

    /** The classes, in the order in which their types were met. */
    List<NamedType> all() {
        return all;
    }

    /**
     * The Java form of a type; empty if no value can have the type's size.
     *
     * @param nameless the name of its class, if it has no name in C
     */
    Optional<Shape> shape(int id, String nameless) {
        return shape(id, nameless, 0);
    }

    private Optional<Shape> shape(int id, String nameless, int depth) {
        checkDepth(depth);
        OptionalLong size = size(id);
        if (size.isEmpty() || size.getAsLong() <= 0 || size.getAsLong() > Integer.MAX_VALUE) {
            return Optional.empty();
        }
        long bytes = size.getAsLong();
        return switch (types.type(types.resolve(id))) {
            case BtfType.Int integer -> Optional.of(integer(integer));
            case BtfType.Ptr _ -> Optional.of(new Shape.Numeric(Scalar.integer((int) bytes, false)));
            case BtfType.FloatingPoint _ ->
                Optional.of(
                        bytes == 4
                                ? new Shape.Numeric(Scalar.FLOAT)
                                : bytes == 8 ? new Shape.Numeric(Scalar.DOUBLE) : new Shape.Bytes(bytes));
            case BtfType.Enumeration _, BtfType.Composite _ ->
                Optional.of(new Shape.Declared(named(id, nameless, depth)));
            case BtfType.Array array -> array(array, nameless, depth);
            default -> Optional.empty();
        };
    }

    private OptionalLong size(int id) {
        try {
            return OptionalLong.of(types.size(id));
        } catch (MalformedDataException e) {
            return OptionalLong.empty(); // void, a function, a type that is only declared
        }
    }

    private static Shape integer(BtfType.Int integer) {
        if (integer.isBool() && integer.size() == 1) {
            return new Shape.Numeric(Scalar.BOOL);
        }
        return switch (integer.size()) {
            case 1, 2, 4, 8 -> new Shape.Numeric(Scalar.integer(integer.size(), integer.isSigned()));
            default -> new Shape.Bytes(integer.size());
        };
    }

    private Optional<Shape> array(BtfType.Array array, String nameless, int depth) {
        // Of several dimensions the last one is text, and the others are one list.
        long count = array.count();
        int elementId = array.elementType();
        while (types.type(types.resolve(elementId)) instanceof BtfType.Array inner
                && !isCharacter(inner.elementType())) {
            count *= inner.count();
            elementId = inner.elementType();
        }
        if (isCharacter(elementId)) {
            return Optional.of(new Shape.Text(count));
        }
        long total = count;
        return shape(elementId, nameless, depth + 1).map(element -> switch (element) {
            case Shape.Numeric(Scalar scalar) when scalar == Scalar.U8 || scalar == Scalar.S8 -> new Shape.Bytes(total);
            case Shape.Numeric(Scalar scalar) -> new Shape.NumericArray(scalar, total);
            default -> new Shape.Many(element, total);
        });
    }

    /** Whether it is {@code char}, of which arrays are text; {@code __u8} and {@code __s8} have other names. */
    private boolean isCharacter(int id) {
        return types.type(types.resolve(id)) instanceof BtfType.Int integer
                && integer.size() == 1
                && integer.name().equals("char");
    }

    private NamedType named(int id, String nameless, int depth) {
        int resolved = types.resolve(id);
        NamedType known = byId.get(resolved);
        if (known != null) {
            return known;
        }
        BtfType type = types.type(resolved);
        String name = type.name().isEmpty() ? typedef(id) : type.name();
        // Linked objects may have a type twice, and different types of one name.
        int identity = identity(resolved, 0);
        NamedType same = name.isEmpty() ? null : byIdentity.get(identity);
        if (same != null) {
            byId.put(resolved, same);
            return same;
        }
        if (all.size() >= MAX_CLASSES) {
            throw new InvalidObjectException(
                    types.source() + " has more than " + MAX_CLASSES + " types in its maps and variables");
        }
        String kind = switch (type) {
            case BtfType.Enumeration _ -> "Enum";
            case BtfType.Union _ -> "Union";
            default -> "Struct";
        };
        String java = names.claim(name.isEmpty() ? nameless : JavaNames.type(name), kind);
        NamedType made = new NamedType(type, CText.name(types, id), outer.nestedClass(java), types.size(resolved));
        byId.put(resolved, made);
        byIdentity.put(identity, made);
        all.add(made);
        if (type instanceof BtfType.Composite composite) {
            JavaNames memberNames = new JavaNames(OF_VIEWS);
            addMembers(made, composite, 0, memberNames, depth);
        }
        return made;
    }

    /** A number that two types share only if one class serves both. */
    private int identity(int id, int depth) {
        Integer known = identityOf.get(id);
        if (known != null) {
            return known;
        }
        checkDepth(depth);
        BtfType type = types.type(id);
        StringBuilder text = new StringBuilder(type.kind() + " " + type.name() + " ");
        switch (type) {
            case BtfType.Composite composite -> {
                text.append(composite.size());
                for (BtfType.Member member : composite.members()) {
                    text.append(' ').append(member.name()).append(' ').append(member.bitOffset());
                    text.append(':').append(member.bitSize()).append(' ');
                    text.append(CText.declaration(types, member.type(), "")).append(size(member.type()));
                    if (size(member.type()).isEmpty()) {
                        continue;
                    }
                    int element = types.resolve(member.type());
                    while (types.type(element) instanceof BtfType.Array array) {
                        element = types.resolve(array.elementType());
                    }
                    if (types.type(element) instanceof BtfType.Composite
                            || types.type(element) instanceof BtfType.Enumeration) {
                        text.append('#').append(identity(element, depth + 1));
                    }
                }
            }
            default -> text.append(type);
        }
        int identity = identities.computeIfAbsent(text.toString(), _ -> identities.size());
        identityOf.put(id, identity);
        return identity;
    }

    private void checkDepth(int depth) {
        if (depth > MAX_DEPTH) {
            throw new InvalidObjectException(
                    types.source() + ": types are nested more than " + MAX_DEPTH + " deep, or in themselves");
        }
    }

    /** The innermost typedef of a type that has no name. */
    private String typedef(int id) {
        String name = "";
        int at = id;
        while (true) {
            at = types.skipModifiers(at);
            if (!(types.type(at) instanceof BtfType.Typedef typedef)) {
                return name;
            }
            name = typedef.name();
            at = typedef.type();
        }
    }

    /** Names of methods that generated views and records have or inherit; a member gets another name. */
    private static final Set<String> OF_VIEWS = Set.of(
                    "segment",
                    "moveTo",
                    "toRecord",
                    "set",
                    "get",
                    "view",
                    "element",
                    "elementsFrom",
                    "nested",
                    "clear",
                    "Byte",
                    "U8",
                    "Short",
                    "U16",
                    "Int",
                    "U32",
                    "Long",
                    "Float",
                    "Double",
                    "Boolean",
                    "Bits",
                    "SignedBits")
            .stream()
            .flatMap(name -> Character.isUpperCase(name.charAt(0))
                    ? Set.of("get" + name, "set" + name).stream()
                    : Set.of(name).stream())
            .collect(Collectors.toUnmodifiableSet());

    private void addMembers(NamedType to, BtfType.Composite composite, long base, JavaNames memberNames, int depth) {
        boolean inUnion = to.type() instanceof BtfType.Union;
        for (BtfType.Member member : composite.members()) {
            if (++memberCount > MAX_MEMBERS) {
                throw new InvalidObjectException(types.source() + " has more than " + MAX_MEMBERS
                        + " members of structs in its maps and variables");
            }
            if (to.members().size() >= MAX_MEMBERS_OF_ONE) {
                throw new InvalidObjectException(
                        types.source() + ": " + to.text() + " has more than " + MAX_MEMBERS_OF_ONE + " members");
            }
            long bit = base + member.bitOffset();
            BtfType type = types.type(types.resolve(member.type()));
            if (member.name().isEmpty()) {
                // C takes members of nameless structs and unions for members of what is around them. A value of a union
                // is its bytes, so one that is in a struct becomes a member.
                if (type instanceof BtfType.Union && !inUnion) {
                    String name = memberNames.claimNumbered("union");
                    add(to, member, bit, name, memberNames, depth);
                } else if (type instanceof BtfType.Composite inner) {
                    checkDepth(depth);
                    addMembers(to, inner, bit, memberNames, depth + 1);
                }
                continue;
            }
            add(to, member, bit, memberNames.claim(JavaNames.member(member.name())), memberNames, depth);
        }
    }

    private void add(NamedType to, BtfType.Member member, long bit, String name, JavaNames memberNames, int depth) {
        String nameless = to.className().simpleName() + JavaNames.type(name);
        String text = CText.declaration(types, member.type(), member.name())
                + (member.isBitField() ? " : " + member.bitSize() : "");
        if (types.type(types.resolve(member.type())) instanceof BtfType.Array array && array.count() == 0) {
            shape(array.elementType(), nameless, depth + 1)
                    .ifPresent(element -> to.members()
                            .add(new Member(text, name, bit, 0, element, true, memberNames.claim(name + "Count"))));
            return;
        }
        shape(member.type(), nameless, depth + 1).ifPresent(shape -> {
            int bits = member.isBitField() ? member.bitSize() : 0;
            long first = bit;
            // Before Linux 5.0 a bit-field had a type of its own, with the number and the place of its bits.
            if (bits == 0
                    && types.type(types.resolve(member.type())) instanceof BtfType.Int integer
                    && integer.bits() != 0
                    && integer.bits() != integer.size() * 8) {
                bits = integer.bits();
                first += integer.bitOffset();
            }
            checkPlace(to, member, first, bits, shape);
            String second = shape instanceof Shape.Text ? memberNames.claim(name + "Bytes") : "";
            to.members().add(new Member(text, name, first, bits, shape, false, second));
        });
    }

    private void checkPlace(NamedType to, BtfType.Member member, long bit, int bits, Shape shape) {
        if (bits == 0 && bit % 8 != 0) {
            throw invalid(member, to, " starts at bit " + bit + ", which is not the start of a byte");
        }
        boolean isNumber = switch (shape) {
            case Shape.Numeric(Scalar scalar) -> !scalar.isFloatingPoint();
            case Shape.Declared declared -> declared.isEnum();
            default -> false;
        };
        if (bits > 0 && (!isNumber || bits > shape.size() * 8)) {
            throw invalid(member, to, " has " + bits + " bits, which is not what a bit-field of its type can have");
        }
        if (bit + (bits > 0 ? bits : shape.size() * 8) > to.size() * 8) {
            throw invalid(member, to, " does not lie in its " + to.size() + " bytes");
        }
    }

    private InvalidObjectException invalid(BtfType.Member member, NamedType in, String problem) {
        return new InvalidObjectException(
                types.source() + ": member " + CText.safe(member.name()) + " of " + in.text() + problem);
    }

    /** The id of a struct, union or typedef of one, by its name. */
    static Optional<Integer> find(Btf types, String name) {
        for (BtfKind kind : List.of(BtfKind.STRUCT, BtfKind.UNION, BtfKind.TYPEDEF)) {
            var id = types.find(name, kind);
            if (id.isPresent() && types.type(types.resolve(id.getAsInt())) instanceof BtfType.Composite) {
                return Optional.of(id.getAsInt());
            }
        }
        return Optional.empty();
    }
}
