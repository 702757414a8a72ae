package io.bpf4j.bindings;

import com.palantir.javapoet.ArrayTypeName;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import io.bpf4j.loader.binding.ValueCodecs;
import io.bpf4j.loader.map.Codec;
import java.util.List;

/** The Java type for a C type, and the code that reads and writes it in a view. <i>Immutable.</i> */
sealed interface Shape {
    /** The Java type of a value. */
    TypeName type();

    /** Size in C, in bytes. */
    long size();

    /** The expression for its codec. */
    CodeBlock codec();

    /** The expression that reads a value in a view. */
    default CodeBlock get(CodeBlock at) {
        return CodeBlock.of("get($L, $L)", codec(), at);
    }

    /** The expression that writes a value in a view. */
    default CodeBlock set(CodeBlock at, String value) {
        return CodeBlock.of("set($L, $L, $L)", codec(), at, value);
    }

    /** A number. */
    record Numeric(Scalar scalar) implements Shape {
        @Override
        public TypeName type() {
            return scalar.type();
        }

        @Override
        public long size() {
            return scalar.size();
        }

        @Override
        public CodeBlock codec() {
            return scalar.codec();
        }

        @Override
        public CodeBlock get(CodeBlock at) {
            return CodeBlock.of("get$L($L)", scalar.accessor(), at);
        }

        @Override
        public CodeBlock set(CodeBlock at, String value) {
            return CodeBlock.of("set$L($L, $L)", scalar.accessor(), at, value);
        }
    }

    /** An array of numbers of more than one byte, or of truth values; those of several dimensions as one. */
    record NumericArray(Scalar scalar, long count) implements Shape {
        @Override
        public TypeName type() {
            return ArrayTypeName.of(scalar.type());
        }

        @Override
        public long size() {
            return count * scalar.size();
        }

        @Override
        public CodeBlock codec() {
            return scalar.arrayCodec(count);
        }
    }

    /** Bytes as they are: an array of them, or a number that Java has no type for. */
    record Bytes(long size) implements Shape {
        @Override
        public TypeName type() {
            return ArrayTypeName.of(TypeName.BYTE);
        }

        @Override
        public CodeBlock codec() {
            return CodeBlock.of("$T.ofBytes($L)", Codec.class, size);
        }
    }

    /** {@code char[size]}. */
    record Text(long size) implements Shape {
        @Override
        public TypeName type() {
            return ClassName.get(String.class);
        }

        @Override
        public CodeBlock codec() {
            return CodeBlock.of("$T.ofString($L)", Codec.class, size);
        }
    }

    /** An array of structs, texts, enumerations or other elements that are not numbers. */
    record Many(Shape element, long count) implements Shape {
        @Override
        public TypeName type() {
            return ParameterizedTypeName.get(
                    ClassName.get(List.class), element.type().box());
        }

        @Override
        public long size() {
            return element.size() * count;
        }

        @Override
        public CodeBlock codec() {
            return CodeBlock.of("$T.ofList($L, $L)", ValueCodecs.class, element.codec(), count);
        }
    }

    /** A struct, union or enumeration, which has a class of its own. */
    record Declared(NamedType named) implements Shape {
        @Override
        public TypeName type() {
            return named.className();
        }

        @Override
        public long size() {
            return named.size();
        }

        @Override
        public CodeBlock codec() {
            return CodeBlock.of("$T.CODEC", named.className());
        }

        @Override
        public CodeBlock get(CodeBlock at) {
            return isEnum()
                    ? CodeBlock.of("new $T($L)", named.className(), new Numeric(named.number()).get(at))
                    : CodeBlock.of("$L.toRecord()", view(at));
        }

        @Override
        public CodeBlock set(CodeBlock at, String value) {
            return isEnum()
                    ? new Numeric(named.number()).set(at, value + ".value()")
                    : CodeBlock.of("$L.set($L)", view(at), value);
        }

        boolean isEnum() {
            return named.isEnum();
        }

        ClassName viewName() {
            return named.className().nestedClass("View");
        }

        /** The expression for a view of it in a view. */
        CodeBlock view(CodeBlock at) {
            return CodeBlock.of("nested($T::new, $L)", viewName(), at);
        }
    }
}
