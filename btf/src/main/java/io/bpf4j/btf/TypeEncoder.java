package io.bpf4j.btf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Encodes {@link BtfType} to bytes; the reverse of {@link TypeDecoder}, which describes the layout. <i>Confined.</i>
 *
 * <p>Tested by {@code BtfTest}.
 */
final class TypeEncoder {
    private final ToIntFunction<String> strings;
    private final ByteOrder order;
    private ByteBuffer out;

    /** @param strings returns the offset of a string, and adds the string if it is new */
    TypeEncoder(ByteOrder order, ToIntFunction<String> strings) {
        this.order = order;
        this.strings = strings;
        this.out = ByteBuffer.allocate(1024).order(order);
    }

    /** All types so far. */
    byte[] bytes() {
        return Arrays.copyOf(out.array(), out.position());
    }

    /** Appends an encoded type. */
    void copy(byte[] type) {
        ensureRoom(type.length);
        out.put(type);
    }

    void encode(BtfType type) {
        switch (type) {
            case BtfType.VoidType _ ->
                throw new IllegalArgumentException("void has id 0 in every BTF and is never stored");
            case BtfType.Int t -> {
                head(t, 0, false, t.size());
                word(t.encoding() << 24 | t.bitOffset() << 16 | t.bits());
            }
            case BtfType.Ptr t -> head(t, 0, false, t.type());
            case BtfType.Array t -> {
                head(t, 0, false, 0);
                word(t.elementType());
                word(t.indexType());
                word(u32("the count of an array", t.count()));
            }
            case BtfType.Composite t -> composite(t);
            case BtfType.Enum32 t -> {
                head(t, t.values().size(), t.signed(), t.size());
                for (BtfType.EnumValue value : t.values()) {
                    word(strings.applyAsInt(value.name()));
                    word((int) value.value());
                }
            }
            case BtfType.Enum64 t -> {
                head(t, t.values().size(), t.signed(), t.size());
                for (BtfType.EnumValue value : t.values()) {
                    word(strings.applyAsInt(value.name()));
                    word((int) value.value());
                    word((int) (value.value() >>> 32));
                }
            }
            case BtfType.Fwd t -> head(t, 0, t.isUnion(), 0);
            case BtfType.Typedef t -> head(t, 0, false, t.type());
            case BtfType.Volatile t -> head(t, 0, false, t.type());
            case BtfType.Const t -> head(t, 0, false, t.type());
            case BtfType.Restrict t -> head(t, 0, false, t.type());
            case BtfType.Func t -> head(t, t.linkage(), false, t.type());
            case BtfType.FuncProto t -> {
                head(t, t.parameters().size(), false, t.returnType());
                for (BtfType.Parameter parameter : t.parameters()) {
                    word(strings.applyAsInt(parameter.name()));
                    word(parameter.type());
                }
            }
            case BtfType.Var t -> {
                head(t, 0, false, t.type());
                word(t.linkage());
            }
            case BtfType.Datasec t -> {
                head(t, t.variables().size(), false, u32("the size of " + t.name(), t.size()));
                for (BtfType.SectionVariable variable : t.variables()) {
                    word(variable.type());
                    word(u32("an offset in " + t.name(), variable.offset()));
                    word(u32("a size in " + t.name(), variable.size()));
                }
            }
            case BtfType.FloatingPoint t -> head(t, 0, false, t.size());
            case BtfType.DeclTag t -> {
                head(t, 0, t.attribute(), t.type());
                word(t.component());
            }
            case BtfType.TypeTag t -> head(t, 0, t.attribute(), t.type());
        }
    }

    private void composite(BtfType.Composite type) {
        List<BtfType.Member> members = type.members();
        boolean bitFields = members.stream().anyMatch(BtfType.Member::isBitField);
        head(type, members.size(), bitFields, u32("the size of " + type.name(), type.size()));
        for (BtfType.Member member : members) {
            word(strings.applyAsInt(member.name()));
            word(member.type());
            if (bitFields && (member.bitOffset() > 0xff_ffff || member.bitSize() > 0xff)) {
                throw new IllegalArgumentException("member " + member.name() + " of " + type.name() + ", "
                        + member.bitSize() + " bits at " + member.bitOffset()
                        + ", doesn't fit beside a bit-field (8 bits of size, 24 of offset)");
            }
            int offset = u32("the offset of member " + member.name(), member.bitOffset());
            word(bitFields ? member.bitSize() << 24 | offset : offset);
        }
    }

    private void head(BtfType type, int length, boolean kindFlag, int sizeOrType) {
        if (length > 0xffff) {
            throw new IllegalArgumentException(
                    type.kind() + " " + type.name() + " has " + length + " elements, more than 65535");
        }
        ensureRoom(12);
        out.putInt(strings.applyAsInt(type.name()));
        out.putInt((kindFlag ? 1 << 31 : 0) | type.kind().number() << 24 | length);
        out.putInt(sizeOrType);
    }

    private void word(int value) {
        ensureRoom(4);
        out.putInt(value);
    }

    private static int u32(String field, long value) {
        if (value < 0 || value > 0xffff_ffffL) {
            throw new IllegalArgumentException(field + " is " + value + ", which doesn't fit in 32 bits");
        }
        return (int) value;
    }

    private void ensureRoom(int bytes) {
        if (out.remaining() < bytes) {
            out = ByteBuffer.wrap(Arrays.copyOf(out.array(), Math.max(out.capacity() * 2, out.position() + bytes)))
                    .position(out.position())
                    .order(order);
        }
    }
}
