package io.bpf4j.btf;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The types of one BTF blob: from the {@code .BTF} section of a BPF object, from a kernel or from a module. {@link
 * BtfFile} reads it from a file.
 *
 * <p>Terms: a type has an <i>id</i>, its place in the type section counted from 1; id 0 is {@code void}. A string has
 * an <i>offset</i> into the string section. A <i>split</i> BTF (a kernel module's) continues the ids and the string
 * offsets of its <i>base</i> (the kernel's) and can't be read without it; every method accepts and returns ids of both.
 *
 * <p>Parsing finds the start of each type and checks that it is complete. A type is decoded, and its ids and names are
 * checked, when a method first needs it. So parsing the 150,000 types of a kernel takes a few milliseconds. Malformed
 * data causes a {@link MalformedDataException}, from {@code parse} or from a later method. Cycles through pointers are
 * legal in BTF; cycles that no C type can have cause that exception, not an endless loop.
 *
 * <p><i>Immutable</i>, so threads may share it; the name index is built at the first look-up.
 */
public final class Btf {
    /**
     * The longest chain of typedefs, modifiers and arrays that is followed. The kernel stops at 32 (MAX_RESOLVE_DEPTH
     * in kernel/bpf/btf.c) when it checks an object's BTF; twice this depth leaves room for BTF that the kernel never
     * checks.
     */
    private static final int MAX_CHAIN = 64;

    /**
     * A type with at least this many members, values or parameters is cached after decoding. A file may refer to such a
     * type a hundred thousand times, and decoding it each time would take hours; all cached types together are not
     * larger than the file.
     */
    private static final int LARGE = 128;

    private static final BtfType VOID = new BtfType.VoidType();

    private final BtfBytes bytes;
    private final @Nullable Btf base;
    private final int firstId;
    private final int firstString;
    /** By id minus {@link #firstId}: where the type starts in {@link #bytes}. */
    private final int[] offsets;

    private final Map<Integer, BtfType> large = new ConcurrentHashMap<>();

    /** By the id of a large enumeration: the first name of each value. */
    private final Map<Integer, Map<Long, String>> constants = new ConcurrentHashMap<>();

    private volatile @Nullable NameIndex names;
    /** 0 until it is first needed. */
    private volatile int pointerSize;

    private Btf(BtfBytes bytes, @Nullable Btf base) {
        this.bytes = bytes;
        this.base = base;
        this.firstId = base == null ? 1 : base.typeCount();
        this.firstString = base == null ? 0 : base.stringsEnd();
        this.offsets = findTypes();
    }

    /**
     * Reads BTF without a base. The magic number gives the byte order. The bytes are copied.
     *
     * @throws MalformedDataException if the header or the extent of a type is wrong
     */
    public static Btf parse(ByteView view) {
        return new Btf(new BtfBytes(view, false), null);
    }

    /**
     * Reads split BTF, such as {@code /sys/kernel/btf/MODULE}.
     *
     * @throws MalformedDataException if the header or the extent of a type is wrong, or the byte order differs from the
     *     base's
     */
    public static Btf parse(ByteView view, Btf base) {
        BtfBytes bytes = new BtfBytes(view, true);
        if (bytes.order != base.order()) {
            throw bytes.malformed(0, "split BTF is " + bytes.order + ", its base " + base.order());
        }
        return new Btf(bytes, base);
    }

    private int[] findTypes() {
        // A type takes 12 bytes at least and 30 on average.
        int[] starts = new int[(bytes.typesEnd - bytes.typesStart) / 24 + 1];
        int count = 0;
        int at = bytes.typesStart;
        while (at < bytes.typesEnd) {
            if (bytes.typesEnd - at < 12) {
                throw bytes.malformed(at, "the type section ends inside type " + (firstId + count));
            }
            int kind = TypeDecoder.kindNumber(bytes, at);
            if (kind == 0 || kind >= BtfKind.count()) {
                throw bytes.malformed(at + 4, "type " + (firstId + count) + " has unknown kind " + kind);
            }
            long size = BtfKind.known(kind).bytes(TypeDecoder.length(bytes, at));
            if (size > bytes.typesEnd - at) {
                throw bytes.malformed(
                        at,
                        "type " + (firstId + count) + ", a " + BtfKind.known(kind) + " of " + size
                                + " bytes, ends beyond the type section");
            }
            if (count == starts.length) {
                starts = Arrays.copyOf(starts, count + count / 2 + 1);
            }
            starts[count++] = at;
            at += (int) size;
        }
        return Arrays.copyOf(starts, count);
    }

    // Properties

    /** The origin of the bytes, for messages. */
    public String source() {
        return bytes.source();
    }

    public ByteOrder order() {
        return bytes.order;
    }

    /** The BTF that this one continues, if it is split. */
    public Optional<Btf> base() {
        return Optional.ofNullable(base);
    }

    /** A copy of the bytes that were read: header, types, strings; without the base. */
    public byte[] raw() {
        return bytes.array().clone();
    }

    /** Number of types, including {@code void} and the base's types: ids run from 0 to this number minus 1. */
    public int typeCount() {
        return firstId + offsets.length;
    }

    /** The first id that is not in the base; 1 without a base. */
    public int firstId() {
        return firstId;
    }

    // Types by id

    /**
     * The type with that id.
     *
     * @throws MalformedDataException if the id does not exist, or the type refers to an id or a name that does not
     *     exist
     */
    public BtfType type(int id) {
        Btf owner = owner(id);
        if (id == 0) {
            return VOID;
        }
        int start = owner.offsets[id - owner.firstId];
        return TypeDecoder.length(owner.bytes, start) < LARGE
                ? TypeDecoder.decode(this, owner.bytes, start, id)
                : large.computeIfAbsent(id, _ -> TypeDecoder.decode(this, owner.bytes, start, id));
    }

    /** The name of the first constant of an enumeration that has a value; null if none has. */
    @Nullable
    String constant(int enumeration, long value) {
        List<BtfType.EnumValue> values = ((BtfType.Enumeration) type(enumeration)).values();
        if (values.size() >= LARGE) {
            return constants
                    .computeIfAbsent(enumeration, _ -> {
                        Map<Long, String> names = new HashMap<>();
                        values.forEach(constant -> names.putIfAbsent(constant.value(), constant.name()));
                        return names;
                    })
                    .get(value);
        }
        for (BtfType.EnumValue constant : values) {
            if (constant.value() == value) {
                return constant.name();
            }
        }
        return null;
    }

    /** The kind of the type with that id. */
    public BtfKind kind(int id) {
        Btf owner = owner(id);
        return id == 0
                ? BtfKind.VOID
                : BtfKind.known(TypeDecoder.kindNumber(owner.bytes, owner.offsets[id - owner.firstId]));
    }

    /** The name of the type with that id; empty if it has none. */
    public String name(int id) {
        Btf owner = owner(id);
        return id == 0 ? "" : nameAt(owner.bytes.s32(owner.offsets[id - owner.firstId]));
    }

    /**
     * The string at an offset of the string section, as {@code .BTF.ext} records refer to it.
     *
     * @throws MalformedDataException if the offset is outside the string section
     */
    public String string(int offset) {
        return offset == 0 ? "" : stringsWith(offset).string(placeOf(offset));
    }

    /**
     * Like {@code string}, for the name of a type, a member or a section.
     *
     * @throws MalformedDataException if the offset is outside the string section, or the name is longer than 4096 bytes
     */
    public String nameAt(int offset) {
        return offset == 0 ? "" : stringsWith(offset).name(placeOf(offset));
    }

    /** The type after any {@code const}, {@code volatile}, {@code restrict} and type tags. */
    public int skipModifiers(int id) {
        return skip(id, false);
    }

    /** The type after any modifiers and typedefs. */
    public int resolve(int id) {
        return skip(id, true);
    }

    private int skip(int id, boolean typedefs) {
        int current = id;
        for (int step = 0; step < MAX_CHAIN; step++) {
            switch (kind(current)) {
                case CONST, VOLATILE, RESTRICT, TYPE_TAG -> current = reference(current);
                case TYPEDEF -> {
                    if (!typedefs) {
                        return current;
                    }
                    current = reference(current);
                }
                default -> {
                    return current;
                }
            }
        }
        throw chainTooLong(id);
    }

    /** The third word of a type whose kind stores a type id there. */
    private int reference(int id) {
        Btf owner = owner(id);
        return owner.bytes.s32(owner.offsets[id - owner.firstId] + 8);
    }

    private MalformedDataException chainTooLong(int id) {
        return malformedType(
                id, "type " + id + " is a chain of more than " + MAX_CHAIN + " typedefs, modifiers or arrays");
    }

    /**
     * The size of a type in bytes: through modifiers, typedefs, variables and arrays. Pointers have {@link
     * #pointerSize()}.
     *
     * @throws MalformedDataException if the type has no size ({@code void}, functions, forward declarations), or the
     *     size overflows
     */
    public long size(int id) {
        long count = 1;
        int current = id;
        for (int step = 0; step < MAX_CHAIN; step++) {
            BtfType type = type(current);
            switch (type) {
                case BtfType.Int t -> {
                    return multiply(count, t.size(), id);
                }
                case BtfType.FloatingPoint t -> {
                    return multiply(count, t.size(), id);
                }
                case BtfType.Ptr _ -> {
                    return multiply(count, pointerSize(), id);
                }
                case BtfType.Composite t -> {
                    return multiply(count, t.size(), id);
                }
                case BtfType.Enumeration t -> {
                    return multiply(count, t.size(), id);
                }
                case BtfType.Datasec t -> {
                    return multiply(count, t.size(), id);
                }
                case BtfType.Array t -> {
                    count = multiply(count, t.count(), id);
                    current = t.elementType();
                }
                case BtfType.Modifier t -> current = t.type();
                case BtfType.Typedef t -> current = t.type();
                case BtfType.Var t -> current = t.type();
                case BtfType.VoidType _, BtfType.Fwd _, BtfType.Func _, BtfType.FuncProto _, BtfType.DeclTag _ ->
                    throw malformedType(
                            id, "type " + id + " has no size: it resolves to a " + type.kind() + ", type " + current);
            }
        }
        throw chainTooLong(id);
    }

    private long multiply(long count, long size, int id) {
        if (Math.multiplyHigh(count, size) != 0 || count * size < 0) {
            throw malformedType(id, "the size of type " + id + " overflows");
        }
        return count * size;
    }

    /**
     * The size of a pointer on the BTF's machine: 4 or 8 bytes. BTF does not store it, so it is the size of C's {@code
     * long}. In BTF without that type, such as objects that clang compiles for BPF, it is 8.
     */
    public int pointerSize() {
        int size = pointerSize;
        if (size == 0) {
            size = base != null ? base.pointerSize() : pointerSizeByLong();
            pointerSize = size;
        }
        return size;
    }

    private int pointerSizeByLong() {
        // The names that compilers use in DWARF and BTF for the same type.
        for (String name :
                new String[] {"long unsigned int", "long int", "unsigned long", "long", "unsigned long int"}) {
            for (int id : idsNamed(name)) {
                if (kind(id) == BtfKind.INT && type(id) instanceof BtfType.Int t && (t.size() == 4 || t.size() == 8)) {
                    return t.size();
                }
            }
        }
        return 8;
    }

    // Types by name

    /** Ids of all types with that name, in ascending order, so the base comes first. */
    public int[] idsNamed(String name) {
        return ids(name, true);
    }

    /**
     * The part of a type's name by which types of two BTFs are compared: the name without its flavour, which is the
     * text after {@code ___}. So {@code task_struct___old} means the kernel's {@code task_struct}.
     */
    public static String essentialName(String name) {
        return EssentialName.of(name);
    }

    /**
     * Ids of all types whose {@linkplain #essentialName essential name} is that of {@code name}: the names that CO-RE
     * treats as equal. In ascending order, so the base comes first.
     */
    public int[] idsNamedEssentially(String name) {
        return ids(name, false);
    }

    private int[] ids(String name, boolean exact) {
        if (name.isEmpty()) {
            return new int[0];
        }
        int[] own = names().ids(name, exact);
        if (base == null) {
            return own;
        }
        int[] all = base.ids(name, exact);
        int inBase = all.length;
        all = Arrays.copyOf(all, inBase + own.length);
        System.arraycopy(own, 0, all, inBase, own.length);
        return all;
    }

    private NameIndex names() {
        NameIndex index = names;
        if (index == null) {
            // Two threads may build it at once; the results are equal, and either is kept.
            index = new NameIndex(this);
            names = index;
        }
        return index;
    }

    /** The id of the first type with that name and kind. */
    public OptionalInt find(String name, BtfKind kind) {
        OptionalInt inBase = base == null ? OptionalInt.empty() : base.find(name, kind);
        if (inBase.isPresent() || name.isEmpty()) {
            return inBase;
        }
        int id = names().first(name, kind);
        return id == 0 ? OptionalInt.empty() : OptionalInt.of(id);
    }

    // For the index, the decoder and the builder

    private Btf owner(int id) {
        if (id < 0 || id >= typeCount()) {
            throw bytes.malformed(
                    bytes.typesStart,
                    "no type with id " + Integer.toUnsignedString(id) + ": there are " + typeCount() + " types");
        }
        Btf owner = this;
        while (id < owner.firstId && owner.base != null) {
            owner = owner.base;
        }
        return owner;
    }

    private MalformedDataException malformedType(int id, String problem) {
        Btf owner = owner(id);
        return owner.bytes.malformed(id == 0 ? 0 : owner.offsets[id - owner.firstId], problem);
    }

    BtfBytes bytes() {
        return bytes;
    }

    /** End of the strings, including the base's: the first string offset of a split BTF on top of this BTF. */
    int stringsEnd() {
        return firstString + bytes.stringsSize();
    }

    /** The first string offset of this blob. */
    int firstString() {
        return firstString;
    }

    int ownTypeCount() {
        return offsets.length;
    }

    /** The start of a type of this blob; {@code index} counts from {@link #firstId()}. */
    int typeStart(int index) {
        return offsets[index];
    }

    /** The string offset of the name of a type of this blob. */
    int nameOffset(int index) {
        return bytes.s32(offsets[index]);
    }

    /** The blob whose string section contains that string. */
    BtfBytes stringsWith(int offset) {
        if (offset < 0 || offset >= stringsEnd()) {
            throw bytes.malformed(
                    bytes.stringsStart,
                    "no string at offset " + Integer.toUnsignedString(offset) + ": the strings end at " + stringsEnd());
        }
        Btf owner = this;
        while (offset < owner.firstString && owner.base != null) {
            owner = owner.base;
        }
        return owner.bytes;
    }

    /** The place of the string in the blob that {@link #stringsWith} returns. */
    int placeOf(int offset) {
        Btf owner = this;
        while (offset < owner.firstString && owner.base != null) {
            owner = owner.base;
        }
        return owner.bytes.stringsStart + offset - owner.firstString;
    }
}
