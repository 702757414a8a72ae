package io.bpf4j.btf;

import io.bpf4j.elf.ByteView;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes BTF: from nothing, as a split of a base, or by changing types of one that exists.
 *
 * <pre>{@code
 * BtfBuilder types = BtfBuilder.create();
 * int u32 = types.integer("unsigned int", 4, 0);
 * types.struct("point", 8, Member.at("x", u32, 0), Member.at("y", u32, 4));
 * Btf btf = types.build("example", ByteOrder.nativeOrder());
 * }</pre>
 *
 * <p>Changing keeps every id and every string offset: strings are only appended. So the {@code .BTF.ext} of an object
 * stays right when its BTF is changed. A type that isn't changed keeps its very bytes if the byte order stays.
 *
 * <p>Nothing is checked here but that numbers fit their fields; the kernel checks the rest, and a test may want BTF that
 * is wrong. <i>Confined.</i>
 */
public final class BtfBuilder {
    private final @Nullable Btf base;
    private final @Nullable Btf original;
    private final int firstId;
    private final int firstString;
    /** By id minus {@link #firstId}; null where the original's bytes stand. */
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
            adoptStrings(original);
        } else if (base == null) {
            strings.write(0);
        }
    }

    /** BTF from nothing. */
    public static BtfBuilder create() {
        return new BtfBuilder(null, null);
    }

    /** BTF that continues the ids and strings of {@code base}. */
    public static BtfBuilder split(Btf base) {
        return new BtfBuilder(base, null);
    }

    /** BTF with all that {@code original} has, to change and to add to. */
    public static BtfBuilder from(Btf original) {
        return new BtfBuilder(original.base().orElse(null), original);
    }

    private void adoptStrings(Btf from) {
        BtfBytes bytes = from.bytes();
        strings.write(bytes.array(), bytes.stringsStart, bytes.stringsSize());
        for (int at = bytes.stringsStart; at < bytes.stringsEnd; at = bytes.stringEnd(at) + 1) {
            stringOffsets.putIfAbsent(bytes.string(at), firstString + at - bytes.stringsStart);
        }
    }

    // Types

    /** Adds a type and gives its id. */
    public int add(BtfType type) {
        types.add(type);
        return firstId + types.size() - 1;
    }

    /** Puts another type in the place of the one with that id, which must not be the base's. */
    public void set(int id, BtfType type) {
        types.set(id - firstId, type);
    }

    /** The type with that id as it stands now. */
    public BtfType type(int id) {
        if (id < firstId) {
            return base == null ? new BtfType.VoidType() : base.type(id);
        }
        BtfType type = types.get(id - firstId);
        return type != null ? type : originalOrThrow().type(id);
    }

    /** The first id that {@link #set} may change. */
    public int firstId() {
        return firstId;
    }

    /** The id that {@link #add} gives next. */
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

    /** The offset of a string, which is added if it is new. */
    public int string(String text) {
        if (text.isEmpty()) {
            return 0;
        }
        return stringOffsets.computeIfAbsent(text, this::append);
    }

    private int append(String text) {
        int offset = firstString + strings.size();
        strings.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        strings.write(0);
        return offset;
    }

    // Bytes

    /** The whole, read back. */
    public Btf build(String source, ByteOrder order) {
        ByteView view = ByteView.of(source, toBytes(order), order);
        return base == null ? Btf.parse(view) : Btf.parse(view, base);
    }

    /** The whole as bytes: header, types, strings. */
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
