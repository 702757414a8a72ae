package io.bpf4j.core;

import io.bpf4j.btf.BtfType;
import io.bpf4j.core.AccessPath.Step;
import java.nio.ByteOrder;

/**
 * The value of a relocation in one BTF.
 *
 * <p>Tested by {@code CoreRelocatorTest} and {@code CoreMatchingTest}.
 *
 * @param value the number to write into the instruction, or expected there
 * @param checked whether the compiler's value must equal this one, for the program's own BTF. False for bit-fields, for
 *     which the compiler may choose another load, and for type ids, which linking renumbers.
 * @param accessBytes size of the field that a load or store moves; 0 if the relocation isn't about a field
 * @param accessType id of that field's type, 0 with {@code accessBytes} 0
 */
record CoreValue(long value, boolean checked, long accessBytes, int accessType) {
    private static CoreValue of(long value) {
        return new CoreValue(value, true, 0, 0);
    }

    /** The value for a path that exists. */
    static CoreValue at(AccessPath path) {
        return switch (path.kind()) {
            case FIELD_EXISTS, TYPE_EXISTS, TYPE_MATCHES, ENUMVAL_EXISTS -> of(1);
            case TYPE_ID_LOCAL, TYPE_ID_TARGET -> new CoreValue(path.root(), false, 0, 0);
            case TYPE_SIZE -> of(path.types().size(path.root()));
            case ENUMVAL_VALUE -> of(enumValue(path));
            case FIELD_BYTE_OFFSET, FIELD_BYTE_SIZE, FIELD_SIGNED, FIELD_LSHIFT_U64, FIELD_RSHIFT_U64 ->
                path.last().name() == null ? element(path) : member(path);
        };
    }

    /** The value if the target lacks the type or field, or null if the instruction must be poisoned. */
    static @org.jspecify.annotations.Nullable CoreValue absent(CoreRelocationKind kind) {
        return switch (kind) {
            case FIELD_EXISTS, TYPE_EXISTS, TYPE_MATCHES, ENUMVAL_EXISTS, TYPE_ID_TARGET, TYPE_SIZE -> of(0);
            case TYPE_ID_LOCAL,
                    ENUMVAL_VALUE,
                    FIELD_BYTE_OFFSET,
                    FIELD_BYTE_SIZE,
                    FIELD_SIGNED,
                    FIELD_LSHIFT_U64,
                    FIELD_RSHIFT_U64 -> null;
        };
    }

    private static long enumValue(AccessPath path) {
        Step step = path.last();
        return switch (path.types().type(step.type())) {
            // Always signed: kernels before 6.0 don't record the signedness, and clang's 64-bit load is signed, too.
            case BtfType.Enum32 e -> (int) e.values().get(step.index()).value();
            case BtfType.Enum64 e -> e.values().get(step.index()).value();
            case BtfType other -> throw new IllegalStateException("not an enumeration: " + other.kind());
        };
    }

    private static CoreValue element(AccessPath path) {
        Types types = path.types();
        int type = path.last().type();
        return switch (path.kind()) {
            case FIELD_BYTE_OFFSET -> new CoreValue(path.bitOffset() / 8, true, elementSize(types, type), type);
            case FIELD_BYTE_SIZE -> of(types.size(type));
            case FIELD_SIGNED, FIELD_LSHIFT_U64, FIELD_RSHIFT_U64 ->
                throw new CoreException("CO-RE " + path.kind().text() + " of " + path
                        + ": only a member of a struct or union has one, not an array element");
            default -> throw new IllegalStateException("not a field relocation: " + path.kind());
        };
    }

    /** The size in bytes of one load from an array: that of an element, for any number of dimensions. */
    private static long elementSize(Types types, int id) {
        int current = types.resolve(id);
        for (int depth = 0; depth < AccessPath.MAX_LENGTH; depth++) {
            if (!(types.type(current) instanceof BtfType.Array a)) {
                return types.size(current);
            }
            current = types.resolve(a.elementType());
        }
        throw new CoreException("type " + id + " of " + types.btf().source() + " is an array of "
                + AccessPath.MAX_LENGTH + " or more dimensions");
    }

    /** The load that reads a member: where its bytes start, and how many it moves. */
    private record Load(long byteOffset, long bytes, long bits) {}

    private static CoreValue member(AccessPath path) {
        Types types = path.types();
        Step step = path.last();
        if (!(types.type(step.type()) instanceof BtfType.Composite composite)) {
            throw new IllegalStateException("not a member of a struct or union: " + path);
        }
        BtfType.Member member = composite.members().get(step.index());
        int type = types.resolve(member.type());
        boolean bitField = member.isBitField();
        long bit = path.bitOffset();
        Load load = bitField ? bitFieldLoad(path, member, type) : wholeLoad(types, bit, type);
        long bitInLoad = bit - load.byteOffset * 8;
        return switch (path.kind()) {
            case FIELD_BYTE_OFFSET ->
                bitField
                        ? new CoreValue(load.byteOffset, false, 0, 0)
                        : new CoreValue(load.byteOffset, true, elementSize(types, type), type);
            case FIELD_BYTE_SIZE -> new CoreValue(load.bytes, !bitField, 0, 0);
            case FIELD_SIGNED -> of(isSigned(types.type(type)) ? 1 : 0);
            case FIELD_LSHIFT_U64 ->
                new CoreValue(
                        types.btf().order() == ByteOrder.LITTLE_ENDIAN
                                ? 64 - (bitInLoad + load.bits)
                                : (8 - load.bytes) * 8 + bitInLoad,
                        !bitField,
                        0,
                        0);
            case FIELD_RSHIFT_U64 -> of(64 - load.bits);
            default -> throw new IllegalStateException("not a field relocation: " + path.kind());
        };
    }

    private static Load wholeLoad(Types types, long bit, int type) {
        long size = types.size(type);
        return new Load(bit / 8, size, size * 8);
    }

    /**
     * The smallest aligned load that holds a bit-field. The load starts as wide as the declared type; a field that
     * straddles two such units (packed structs) needs twice the width, up to 8 bytes.
     */
    private static Load bitFieldLoad(AccessPath path, BtfType.Member member, int type) {
        long bit = path.bitOffset();
        int bits = member.bitSize();
        long bytes = path.types().size(type);
        if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
            throw new CoreException(
                    "CO-RE " + path.kind().text() + " of " + path + ": a bit-field of a type of " + bytes + " bytes");
        }
        long offset = bit / 8 / bytes * bytes;
        while (bit + bits - offset * 8 > bytes * 8) {
            if (bytes >= 8) {
                throw new CoreException("CO-RE " + path.kind().text() + " of " + path + ": a bit-field of " + bits
                        + " bits at bit " + bit + " of " + path.types().btf().source()
                        + " can't be read by one load of up to 8 bytes");
            }
            bytes *= 2;
            offset = bit / 8 / bytes * bytes;
        }
        return new Load(offset, bytes, bits);
    }

    private static boolean isSigned(BtfType type) {
        return switch (type) {
            case BtfType.Enumeration e -> e.signed();
            case BtfType.Int i -> i.isSigned();
            default -> false;
        };
    }
}
