package io.bpf4j.btf;

import java.util.ArrayList;
import java.util.List;

/**
 * Decodes bytes to {@link BtfType}.
 *
 * <pre>
 *   struct btf_type:  u32 name_off | u32 info | u32 size or type
 *   info:  bits 0-23 length (vlen), 24-30 kind, 31 kind_flag
 * </pre>
 *
 * Up to Linux 6.x the length has 16 bits and the kind 5, and the bits between must be zero; including these bits costs
 * nothing and reads BTF of kernels that widen both fields.
 *
 * <p>{@code kind_flag} means: for a struct or union, a member is a bit-field and offsets hold {@code size << 24 |
 * offset}; for an enumeration, signed; for a forward declaration, a union; for a tag, any attribute.
 *
 * <p>Tested by {@code BtfTest}.
 */
final class TypeDecoder {
    private final Btf btf;
    private final BtfBytes bytes;
    private final int start;
    private final int id;
    /**
     * Maximum bytes of all names of a type: far more than valid types have, and a safe limit for a struct whose 65,535
     * members all start within one long string.
     */
    private int nameBytes;

    private TypeDecoder(Btf btf, BtfBytes bytes, int start, int id) {
        this.btf = btf;
        this.bytes = bytes;
        this.start = start;
        this.id = id;
        this.nameBytes = 16 * BtfBytes.MAX_NAME + 128 * length();
    }

    static int kindNumber(BtfBytes bytes, int start) {
        return (bytes.s32(start + 4) >>> 24) & 0x7f;
    }

    static int length(BtfBytes bytes, int start) {
        return bytes.s32(start + 4) & 0xff_ffff;
    }

    /** Decodes the type at {@code start}, which {@link Btf} has checked to be complete and of a known kind. */
    static BtfType decode(Btf btf, BtfBytes bytes, int start, int id) {
        return new TypeDecoder(btf, bytes, start, id).decode();
    }

    private BtfType decode() {
        return switch (BtfKind.known(kindNumber(bytes, start))) {
            case VOID -> throw bytes.malformed(start + 4, "type " + id + " has kind 0");
            case INT -> integer();
            case PTR -> new BtfType.Ptr(type(8));
            case ARRAY -> new BtfType.Array(type(12), type(16), bytes.u32(start + 20));
            case STRUCT -> new BtfType.Struct(name(0), bytes.u32(start + 8), members());
            case UNION -> new BtfType.Union(name(0), bytes.u32(start + 8), members());
            case ENUM -> new BtfType.Enum32(name(0), enumSize(), kindFlag(), values32());
            case ENUM64 -> new BtfType.Enum64(name(0), enumSize(), kindFlag(), values64());
            case FWD -> new BtfType.Fwd(name(0), kindFlag());
            case TYPEDEF -> new BtfType.Typedef(name(0), type(8));
            case VOLATILE -> new BtfType.Volatile(type(8));
            case CONST -> new BtfType.Const(type(8));
            case RESTRICT -> new BtfType.Restrict(type(8));
            case FUNC -> new BtfType.Func(name(0), type(8), length());
            case FUNC_PROTO -> new BtfType.FuncProto(type(8), parameters());
            case VAR -> new BtfType.Var(name(0), type(8), bytes.s32(start + 12));
            case DATASEC -> new BtfType.Datasec(name(0), bytes.u32(start + 8), variables());
            case FLOAT -> new BtfType.FloatingPoint(name(0), scalarSize(16));
            case DECL_TAG -> new BtfType.DeclTag(name(0), type(8), bytes.s32(start + 12), kindFlag());
            case TYPE_TAG -> new BtfType.TypeTag(name(0), type(8), kindFlag());
        };
    }

    private int length() {
        return length(bytes, start);
    }

    private boolean kindFlag() {
        return bytes.s32(start + 4) < 0;
    }

    private String name(int at) {
        int offset = bytes.s32(start + at);
        if (offset < 0 || offset >= btf.stringsEnd()) {
            throw bytes.malformed(
                    start + at,
                    "type " + id + " has a name at offset " + Integer.toUnsignedString(offset)
                            + ", but the strings end at " + btf.stringsEnd());
        }
        String name = btf.nameAt(offset);
        nameBytes -= name.length();
        if (nameBytes < 0) {
            throw bytes.malformed(start, "the names in type " + id + " together are too long, because they overlap");
        }
        return name;
    }

    private int type(int at) {
        int type = bytes.s32(start + at);
        if (type < 0 || type >= btf.typeCount()) {
            throw bytes.malformed(
                    start + at,
                    "type " + id + " refers to type " + Integer.toUnsignedString(type) + ", but there are "
                            + btf.typeCount() + " types");
        }
        return type;
    }

    /** The size of a number: at most {@code max} bytes, because no machine has larger numbers. */
    private int scalarSize(int max) {
        long size = bytes.u32(start + 8);
        if (size > max) {
            throw bytes.malformed(start + 8, "type " + id + " is a number of " + size + " bytes");
        }
        return (int) size;
    }

    private int enumSize() {
        return scalarSize(8);
    }

    private BtfType.Int integer() {
        // bits 0-7 width, 16-23 offset, 24-27 encoding
        int word = bytes.s32(start + 12);
        return new BtfType.Int(name(0), scalarSize(32), (word >>> 24) & 0xf, (word >>> 16) & 0xff, word & 0xff);
    }

    private List<BtfType.Member> members() {
        int count = length();
        boolean bitFields = kindFlag();
        List<BtfType.Member> members = new ArrayList<>(count);
        for (int i = 0, at = 12; i < count; i++, at += 12) {
            long offset = bytes.u32(start + at + 8);
            members.add(new BtfType.Member(
                    name(at),
                    type(at + 4),
                    bitFields ? offset & 0xff_ffff : offset,
                    bitFields ? (int) (offset >>> 24) : 0));
        }
        return members;
    }

    private List<BtfType.EnumValue> values32() {
        int count = length();
        boolean signed = kindFlag();
        List<BtfType.EnumValue> values = new ArrayList<>(count);
        for (int i = 0, at = 12; i < count; i++, at += 8) {
            values.add(new BtfType.EnumValue(name(at), signed ? bytes.s32(start + at + 4) : bytes.u32(start + at + 4)));
        }
        return values;
    }

    private List<BtfType.EnumValue> values64() {
        int count = length();
        List<BtfType.EnumValue> values = new ArrayList<>(count);
        for (int i = 0, at = 12; i < count; i++, at += 12) {
            // Low word first in both byte orders.
            long value = bytes.u32(start + at + 4) | bytes.u32(start + at + 8) << 32;
            values.add(new BtfType.EnumValue(name(at), value));
        }
        return values;
    }

    private List<BtfType.Parameter> parameters() {
        int count = length();
        List<BtfType.Parameter> parameters = new ArrayList<>(count);
        for (int i = 0, at = 12; i < count; i++, at += 8) {
            parameters.add(new BtfType.Parameter(name(at), type(at + 4)));
        }
        return parameters;
    }

    private List<BtfType.SectionVariable> variables() {
        int count = length();
        List<BtfType.SectionVariable> variables = new ArrayList<>(count);
        for (int i = 0, at = 12; i < count; i++, at += 12) {
            variables.add(new BtfType.SectionVariable(type(at), bytes.u32(start + at + 4), bytes.u32(start + at + 8)));
        }
        return variables;
    }
}
