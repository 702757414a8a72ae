package io.bpf4j.bindings;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import io.bpf4j.bindings.NamedType.Member;
import io.bpf4j.loader.map.Codec;
import javax.lang.model.element.Modifier;

/** The methods of a view that read and write one member. */
final class MemberWriter {
    private final ClassName view;
    private final Member member;
    private final String name;
    private final Shape shape;
    private final CodeBlock at;

    MemberWriter(ClassName view, Member member) {
        this.view = view;
        this.member = member;
        this.name = member.name();
        this.shape = member.shape();
        this.at = CodeBlock.of("$L", member.offset());
    }

    /** Whether a type has a view, by which a view returns it. */
    static boolean isStruct(Shape shape) {
        return shape instanceof Shape.Declared declared && !declared.isEnum();
    }

    void addTo(TypeSpec.Builder type) {
        if (member.flexible()) {
            addFlexible(type);
        } else if (member.isBitField()) {
            type.addMethod(getter().returns(shape.type())
                    .addStatement("return $L", getBits())
                    .build());
            type.addMethod(
                    setter().addStatement(setBits()).addStatement("return this").build());
        } else if (shape instanceof Shape.Declared declared && !declared.isEnum()) {
            type.addMethod(getter().returns(declared.viewName())
                    .addStatement("return $L", declared.view(at))
                    .build());
            type.addMethod(plainSetter());
        } else {
            type.addMethod(getter().returns(shape.type())
                    .addStatement("return $L", shape.get(at))
                    .build());
            type.addMethod(plainSetter());
            addElements(type);
        }
    }

    private MethodSpec.Builder method(String methodName) {
        return MethodSpec.methodBuilder(methodName).addModifiers(Modifier.PUBLIC);
    }

    private MethodSpec.Builder getter() {
        return method(name).addJavadoc("{@code $L}, $L.\n", member.text(), member.place());
    }

    private MethodSpec.Builder setter() {
        return method(name).returns(view).addParameter(shape.type(), "value");
    }

    private MethodSpec plainSetter() {
        return setter().addStatement(shape.set(at, "value"))
                .addStatement("return this")
                .build();
    }

    /** Access to one element, without a copy of the array. */
    private void addElements(TypeSpec.Builder type) {
        switch (shape) {
            case Shape.NumericArray(Scalar scalar, long count) -> addElement(type, new Shape.Numeric(scalar), count);
            case Shape.Many(Shape element, long count) -> addElement(type, element, count);
            case Shape.Text(long size) -> {
                Shape.Bytes bytes = new Shape.Bytes(size);
                type.addMethod(method(member.second())
                        .addJavadoc("All bytes of {@link #$L()}, also those after its NUL.\n", name)
                        .returns(bytes.type())
                        .addStatement("return $L", bytes.get(at))
                        .build());
            }
            default -> {}
        }
    }

    private void addElement(TypeSpec.Builder type, Shape element, long count) {
        CodeBlock place = CodeBlock.of("element($L, $L, $L, index)", at, element.size(), count);
        addElement(type, element, place, "An element of {@link #" + name + "()}; there are " + count + ".\n");
    }

    private void addElement(TypeSpec.Builder type, Shape element, CodeBlock place, String comment) {
        boolean struct = isStruct(element);
        type.addMethod(method(name)
                .addJavadoc("$L", comment)
                .returns(element instanceof Shape.Declared declared && struct ? declared.viewName() : element.type())
                .addParameter(TypeName.INT, "index")
                .addStatement(
                        "return $L",
                        element instanceof Shape.Declared declared && struct
                                ? declared.view(place)
                                : element.get(place))
                .build());
        type.addMethod(method(name)
                .returns(view)
                .addParameter(TypeName.INT, "index")
                .addParameter(element.type(), "value")
                .addStatement(element.set(place, "value"))
                .addStatement("return this")
                .build());
    }

    private void addFlexible(TypeSpec.Builder type) {
        String count = member.second();
        type.addMethod(method(count)
                .addJavadoc(
                        "The number of elements of {@code $L}, up to the end of the segment or record.\n",
                        member.text())
                .returns(TypeName.INT)
                .addStatement("return elementsFrom($L, $L)", at, shape.size())
                .build());
        if (shape instanceof Shape.Numeric && shape.size() == 1) {
            type.addMethod(getter().addJavadoc("All of them, up to the end of the segment or record.\n")
                    .returns(new Shape.Bytes(0).type())
                    .addStatement("return get($T.ofBytes($L()), $L)", Codec.class, count, at)
                    .build());
        }
        CodeBlock place = CodeBlock.of("element($L, $L, $L(), index)", at, shape.size(), count);
        addElement(
                type,
                shape,
                place,
                "An element of {@code " + member.text() + "}, " + member.place() + "; there are {@link #" + count
                        + "()}.\n");
    }

    private Scalar bitType() {
        return switch (shape) {
            case Shape.Numeric(Scalar scalar) -> scalar;
            case Shape.Declared(NamedType named) when named.isEnum() -> named.number();
            default -> throw new IllegalStateException(member.text() + " is not a bit-field");
        };
    }

    private boolean isSigned() {
        return shape instanceof Shape.Declared(NamedType named)
                ? named.isSigned()
                : bitType().isSigned();
    }

    private CodeBlock getBits() {
        Scalar scalar = bitType();
        CodeBlock bits =
                CodeBlock.of(isSigned() ? "getSignedBits($L, $L)" : "getBits($L, $L)", member.bit(), member.bits());
        CodeBlock value = scalar == Scalar.BOOL
                ? CodeBlock.of("$L != 0", bits)
                : scalar.type().equals(TypeName.LONG) ? bits : CodeBlock.of("($T) $L", scalar.type(), bits);
        return shape instanceof Shape.Declared ? CodeBlock.of("new $T($L)", shape.type(), value) : value;
    }

    private CodeBlock setBits() {
        String value = shape instanceof Shape.Declared
                ? "value.value()"
                : bitType() == Scalar.BOOL ? "value ? 1 : 0" : "value";
        return CodeBlock.of(
                isSigned() ? "setSignedBits($L, $L, $L)" : "setBits($L, $L, $L)", member.bit(), member.bits(), value);
    }
}
