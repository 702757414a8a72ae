package io.bpf4j.btf;

import java.util.List;

/**
 * One BTF type. Each kind has a record. Types refer to one another by id, so no record is cyclic, and decoding one type
 * does not decode others.
 *
 * <p>Ids belong to the {@link Btf} of the type; 0 is {@code void}. A name is empty if the source has none. Sizes are in
 * bytes, offsets in bytes unless named {@code bitOffset}. All are <i>immutable.</i>
 */
public sealed interface BtfType {
    BtfKind kind();

    /** The name, or the empty string for anonymous types and kinds without names. */
    default String name() {
        return "";
    }

    // Shared by several kinds

    /** A struct or a union. */
    sealed interface Composite extends BtfType permits Struct, Union {
        /** In bytes. */
        long size();

        List<Member> members();
    }

    /** An enumeration of either width. */
    sealed interface Enumeration extends BtfType permits Enum32, Enum64 {
        /** In bytes: 1, 2, 4 or 8. */
        int size();

        /** Whether the values are signed. */
        boolean signed();

        List<EnumValue> values();
    }

    /** A kind that qualifies another type without changing its layout or its name. */
    sealed interface Modifier extends BtfType permits Volatile, Const, Restrict, TypeTag {
        /** The id of the modified type. */
        int type();
    }

    // Parts of types

    /**
     * A member of a struct or union.
     *
     * @param name empty for anonymous structs and unions inside another
     * @param type id of the member's type
     * @param bitOffset from the start of the struct, in bits
     * @param bitSize width of a bit-field in bits; 0 for everything else
     */
    record Member(String name, int type, long bitOffset, int bitSize) {
        /** A member that is not a bit-field, at an offset in bytes. */
        public static Member at(String name, int type, long byteOffset) {
            return new Member(name, type, byteOffset * 8, 0);
        }

        public boolean isBitField() {
            return bitSize != 0;
        }
    }

    /**
     * A name and its value.
     *
     * @param value sign-extended to 64 bits if the enumeration is signed, else zero-extended
     */
    record EnumValue(String name, long value) {}

    /**
     * A parameter of a function.
     *
     * @param name empty in prototypes without names, and for the last parameter of a variadic function (of type 0)
     */
    record Parameter(String name, int type) {}

    /**
     * A variable in a section.
     *
     * @param type id of a {@link Var}; in the BTF of a kernel function section, of a {@link Func}
     * @param offset from the start of the section
     */
    record SectionVariable(int type, long offset, long size) {}

    /** Values of {@link Var#linkage()} and {@link Func#linkage()}; plain numbers because kernels may add values. */
    final class Linkage {
        public static final int STATIC = 0;
        public static final int GLOBAL = 1;
        public static final int EXTERN = 2;

        private Linkage() {}
    }

    // The kinds

    /** {@code void}, the type with id 0. */
    record VoidType() implements BtfType {
        @Override
        public BtfKind kind() {
            return BtfKind.VOID;
        }
    }

    /**
     * An integer, a character or a boolean.
     *
     * @param encoding any of {@link #SIGNED}, {@link #CHAR}, {@link #BOOL}
     * @param bitOffset where the value starts inside its bytes; 0 except for bit-fields in BTF of kernels before 5.0
     * @param bits width of the value, normally 8 times the size
     */
    record Int(String name, int size, int encoding, int bitOffset, int bits) implements BtfType {
        public static final int SIGNED = 1;
        public static final int CHAR = 2;
        public static final int BOOL = 4;

        /** An integer that uses all bits of its bytes. */
        public static Int of(String name, int size, int encoding) {
            return new Int(name, size, encoding, 0, size * 8);
        }

        public boolean isSigned() {
            return (encoding & SIGNED) != 0;
        }

        public boolean isBool() {
            return (encoding & BOOL) != 0;
        }

        @Override
        public BtfKind kind() {
            return BtfKind.INT;
        }
    }

    record Ptr(int type) implements BtfType {
        @Override
        public BtfKind kind() {
            return BtfKind.PTR;
        }
    }

    /**
     * An array.
     *
     * @param indexType id of an integer type; unused
     * @param count number of elements; 0 for a flexible array
     */
    record Array(int elementType, int indexType, long count) implements BtfType {
        @Override
        public BtfKind kind() {
            return BtfKind.ARRAY;
        }
    }

    record Struct(String name, long size, List<Member> members) implements Composite {
        public Struct {
            members = List.copyOf(members);
        }

        @Override
        public BtfKind kind() {
            return BtfKind.STRUCT;
        }
    }

    record Union(String name, long size, List<Member> members) implements Composite {
        public Union {
            members = List.copyOf(members);
        }

        @Override
        public BtfKind kind() {
            return BtfKind.UNION;
        }
    }

    /** An enumeration whose values have up to 32 bits; {@code BTF_KIND_ENUM} in the kernel. */
    record Enum32(String name, int size, boolean signed, List<EnumValue> values) implements Enumeration {
        public Enum32 {
            values = List.copyOf(values);
        }

        @Override
        public BtfKind kind() {
            return BtfKind.ENUM;
        }
    }

    record Enum64(String name, int size, boolean signed, List<EnumValue> values) implements Enumeration {
        public Enum64 {
            values = List.copyOf(values);
        }

        @Override
        public BtfKind kind() {
            return BtfKind.ENUM64;
        }
    }

    /** A struct, or a union, that is declared and not defined. */
    record Fwd(String name, boolean isUnion) implements BtfType {
        @Override
        public BtfKind kind() {
            return BtfKind.FWD;
        }
    }

    record Typedef(String name, int type) implements BtfType {
        @Override
        public BtfKind kind() {
            return BtfKind.TYPEDEF;
        }
    }

    record Volatile(int type) implements Modifier {
        @Override
        public BtfKind kind() {
            return BtfKind.VOLATILE;
        }
    }

    record Const(int type) implements Modifier {
        @Override
        public BtfKind kind() {
            return BtfKind.CONST;
        }
    }

    record Restrict(int type) implements Modifier {
        @Override
        public BtfKind kind() {
            return BtfKind.RESTRICT;
        }
    }

    /**
     * A function.
     *
     * @param type id of the {@link FuncProto}
     * @param linkage see {@link Linkage}
     */
    record Func(String name, int type, int linkage) implements BtfType {
        @Override
        public BtfKind kind() {
            return BtfKind.FUNC;
        }
    }

    record FuncProto(int returnType, List<Parameter> parameters) implements BtfType {
        public FuncProto {
            parameters = List.copyOf(parameters);
        }

        @Override
        public BtfKind kind() {
            return BtfKind.FUNC_PROTO;
        }
    }

    /**
     * A variable.
     *
     * @param linkage see {@link Linkage}
     */
    record Var(String name, int type, int linkage) implements BtfType {
        @Override
        public BtfKind kind() {
            return BtfKind.VAR;
        }
    }

    /** A section of an object with its variables, such as {@code .data} or {@code .maps}. */
    record Datasec(String name, long size, List<SectionVariable> variables) implements BtfType {
        public Datasec {
            variables = List.copyOf(variables);
        }

        @Override
        public BtfKind kind() {
            return BtfKind.DATASEC;
        }
    }

    /** Floating point; the name avoids a clash with {@link java.lang.Float}. */
    record FloatingPoint(String name, int size) implements BtfType {
        @Override
        public BtfKind kind() {
            return BtfKind.FLOAT;
        }
    }

    /**
     * A tag on a declaration, {@code __attribute__((btf_decl_tag("…")))}.
     *
     * @param name the tag
     * @param type id of the tagged type
     * @param component index of the tagged member or parameter; -1 if the whole type is tagged
     * @param attribute whether the tag stands for any attribute rather than {@code btf_decl_tag}, since Linux 6.15
     */
    record DeclTag(String name, int type, int component, boolean attribute) implements BtfType {
        @Override
        public BtfKind kind() {
            return BtfKind.DECL_TAG;
        }
    }

    /**
     * A tag on a pointed-to type, {@code __attribute__((btf_type_tag("…")))}, such as {@code user} or {@code rcu}.
     *
     * @param name the tag
     * @param attribute whether the tag stands for any attribute rather than {@code btf_type_tag}, since Linux 6.15
     */
    record TypeTag(String name, int type, boolean attribute) implements Modifier {
        @Override
        public BtfKind kind() {
            return BtfKind.TYPE_TAG;
        }
    }
}
