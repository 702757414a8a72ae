package io.bpf4j.bindings;

import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.TypeName;
import io.bpf4j.loader.binding.ValueCodecs;
import io.bpf4j.loader.map.Codec;

/**
 * The numbers of C, in the smallest Java type that has all values of up to 4 bytes; 8 bytes are a {@code long}, signed
 * or not.
 */
@SuppressWarnings("ImmutableEnumChecker") // JavaPoet's names of types are immutable, but only by their documentation
enum Scalar {
    S8(TypeName.BYTE, 1, true, "Byte", "Byte", ""),
    U8(TypeName.INT, 1, false, "U8", "UnsignedByte", ""),
    S16(TypeName.SHORT, 2, true, "Short", "Short", "Shorts"),
    U16(TypeName.INT, 2, false, "U16", "UnsignedShort", "UnsignedShorts"),
    S32(TypeName.INT, 4, true, "Int", "Int", "Ints"),
    U32(TypeName.LONG, 4, false, "U32", "UnsignedInt", "UnsignedInts"),
    S64(TypeName.LONG, 8, true, "Long", "Long", "Longs"),
    /** Also a pointer. */
    U64(TypeName.LONG, 8, false, "Long", "Long", "Longs"),
    BOOL(TypeName.BOOLEAN, 1, false, "Boolean", "Boolean", "Booleans"),
    FLOAT(TypeName.FLOAT, 4, true, "Float", "Float", "Floats"),
    DOUBLE(TypeName.DOUBLE, 8, true, "Double", "Double", "Doubles");

    private final TypeName type;
    private final int size;
    private final boolean signed;
    private final String accessor;
    private final String codec;
    private final String arrayCodec;

    Scalar(TypeName type, int size, boolean signed, String accessor, String codec, String arrayCodec) {
        this.type = type;
        this.size = size;
        this.signed = signed;
        this.accessor = accessor;
        this.codec = codec;
        this.arrayCodec = arrayCodec;
    }

    static Scalar integer(int size, boolean signed) {
        return switch (size) {
            case 1 -> signed ? S8 : U8;
            case 2 -> signed ? S16 : U16;
            case 4 -> signed ? S32 : U32;
            default -> signed ? S64 : U64;
        };
    }

    TypeName type() {
        return type;
    }

    int size() {
        return size;
    }

    boolean isSigned() {
        return signed;
    }

    boolean isFloatingPoint() {
        return this == FLOAT || this == DOUBLE;
    }

    /** Whether {@code Global} has a method for the type, such as {@code getInt}. */
    boolean isPlain() {
        return this == S32 || this == S64 || this == U64 || this == BOOL;
    }

    /** As in {@code getU32} and {@code setU32} of a view. */
    String accessor() {
        return accessor;
    }

    CodeBlock codec() {
        return CodeBlock.of("$T.of$L()", Codec.class, codec);
    }

    /** The codec of an array; bytes have another one. */
    CodeBlock arrayCodec(long count) {
        return CodeBlock.of("$T.of$L($L)", ValueCodecs.class, arrayCodec, count);
    }
}
