package io.bpf4j.btf;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.internal.text.CString;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Builds BTF: new, split on top of a base, or by changing types of existing BTF.
 *
 * <pre>{@code
 * BtfBuilder types = BtfBuilder.create();
 * int u32 = types.integer("unsigned int", 4, 0);
 * types.struct("point", 8, Member.at("x", u32, 0), Member.at("y", u32, 4));
 * Btf btf = types.build("example", ByteOrder.nativeOrder());
 * }</pre>
 *
 * <p>A change keeps every id and every string offset: strings are only appended. So the {@code .BTF.ext} of an object
 * stays valid when its BTF is changed. An unchanged type keeps its exact bytes if the byte order stays the same.
 *
 * <p>The builder checks only that numbers fit their fields; the kernel checks the rest, and a test may need invalid
 * BTF. <i>Confined.</i>
 *
 * <p>Tested by {@code BtfTest}.
 */
public final class BtfBuilder {
    private final @Nullable Btf base;
    private final @Nullable Btf original;
    private final int firstId;
    private final int firstString;
    /** By id minus {@link #firstId}; null if the original's bytes are used. */
    private final List<@Nullable BtfType> types = new ArrayList<>();

    private final ByteArrayOutputStream strings = new ByteArrayOutputStream();
    private final Map<String, Integer> stringOffsets = new HashMap<>();

    private BtfBuilder(@Nullable Btf base, @Nullable Btf original) {
        this.base = base;
        this.original = original;
        this.firstId = base == null ? 1 : base.typeCount();
        this.firstString = base == null ? 0 : base.stringsEnd();
        if (original != null) {
            for (int i = 0; i < original.ownTypeCount(); i++) {
                types.add(null);
            }
            copyStrings(original);
        } else if (base == null) {
            strings.write(0);
        }
    }

    /** Starts new BTF. */
    public static BtfBuilder create() {
        return new BtfBuilder(null, null);
    }

    /** Starts split BTF that continues the ids and strings of {@code base}. */
    public static BtfBuilder split(Btf base) {
        return new BtfBuilder(base, null);
    }

    /** Starts with the contents of {@code original}, to change and to extend. */
    public static BtfBuilder from(Btf original) {
        return new BtfBuilder(original.base().orElse(null), original);
    }

    private void copyStrings(Btf from) {
        BtfBytes bytes = from.bytes();
        strings.write(bytes.array(), bytes.stringsStart, bytes.stringsSize());
        for (int at = bytes.stringsStart; at < bytes.stringsEnd; at = bytes.stringEnd(at) + 1) {
            stringOffsets.putIfAbsent(bytes.string(at), firstString + at - bytes.stringsStart);
        }
    }

    // Types

    /** Adds a type and returns its id. */
    public int add(BtfType type) {
        types.add(type);
        return firstId + types.size() - 1;
    }

    /** Replaces the type with that id, which must not belong to the base. */
    public void set(int id, BtfType type) {
        types.set(id - firstId, type);
    }

    /** The current type with that id. */
    public BtfType type(int id) {
        if (id < firstId) {
            return base == null ? new BtfType.VoidType() : base.type(id);
        }
        BtfType type = types.get(id - firstId);
        return type != null ? type : originalOrThrow().type(id);
    }

    /** The id that the next {@link #add} returns. */
    public int nextId() {
        return firstId + types.size();
    }

    public int integer(String name, int size, int encoding) {
        return add(BtfType.Int.of(name, size, encoding));
    }

    public int pointer(int type) {
        return add(new BtfType.Ptr(type));
    }

    public int array(int elementType, int indexType, long count) {
        return add(new BtfType.Array(elementType, indexType, count));
    }

    public int struct(String name, long size, BtfType.Member... members) {
        return add(new BtfType.Struct(name, size, List.of(members)));
    }

    public int union(String name, long size, BtfType.Member... members) {
        return add(new BtfType.Union(name, size, List.of(members)));
    }

    public int typedef(String name, int type) {
        return add(new BtfType.Typedef(name, type));
    }

    // Strings

    /** The offset of a string; a new string is added. */
    public int string(String text) {
        if (text.isEmpty()) {
            return 0;
        }
        return stringOffsets.computeIfAbsent(text, this::append);
    }

    private int append(String text) {
        int offset = firstString + strings.size();
        strings.writeBytes(CString.encode(text));
        strings.write(0);
        return offset;
    }

    // Bytes

    /**
     * The built BTF, parsed.
     *
     * @throws IllegalArgumentException as {@link #toBytes}
     */
    public Btf build(String source, ByteOrder order) {
        ByteView view = ByteView.of(source, toBytes(order), order);
        return base == null ? Btf.parse(view) : Btf.parse(view, base);
    }

    /**
     * The built BTF as bytes: header, types, strings.
     *
     * @throws IllegalArgumentException if the format has no room for a type: it has more than 65,535 members, values or
     *     parameters, or a number that needs more bits
     */
    public byte[] toBytes(ByteOrder order) {
        TypeEncoder encoder = new TypeEncoder(order, this::string);
        for (int i = 0; i < types.size(); i++) {
            BtfType type = types.get(i);
            if (type != null) {
                encoder.encode(type);
            } else if (originalOrThrow().order() == order) {
                BtfBytes bytes = originalOrThrow().bytes();
                int end = i + 1 < originalOrThrow().ownTypeCount()
                        ? originalOrThrow().typeStart(i + 1)
                        : bytes.typesEnd;
                encoder.copy(Arrays.copyOfRange(bytes.array(), originalOrThrow().typeStart(i), end));
            } else {
                encoder.encode(originalOrThrow().type(firstId + i));
            }
        }
        byte[] typeBytes = encoder.bytes();
        byte[] stringBytes = strings.toByteArray();
        return ByteBuffer.allocate(BtfBytes.HEADER_BYTES + typeBytes.length + stringBytes.length)
                .order(order)
                .putShort((short) BtfBytes.MAGIC)
                .put((byte) 1)
                .put((byte) 0)
                .putInt(BtfBytes.HEADER_BYTES)
                .putInt(0)
                .putInt(typeBytes.length)
                .putInt(typeBytes.length)
                .putInt(stringBytes.length)
                .put(typeBytes)
                .put(stringBytes)
                .array();
    }

    private Btf originalOrThrow() {
        if (original == null) {
            throw new IllegalStateException("a type is missing and there is no original to take it from");
        }
        return original;
    }
}
