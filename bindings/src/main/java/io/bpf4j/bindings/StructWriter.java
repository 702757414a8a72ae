package io.bpf4j.bindings;

import com.palantir.javapoet.ArrayTypeName;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.ParameterSpec;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import io.bpf4j.bindings.NamedType.Member;
import io.bpf4j.loader.binding.StructCodec;
import io.bpf4j.loader.binding.StructView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.lang.model.element.Modifier;

/**
 * The class of a struct or union: a record, and in it a view. All offsets are in the view.
 *
 * <p>Tested by {@code BindingsGeneratorTest}.
 */
final class StructWriter {
    private final NamedType named;
    private final ClassName name;
    private final ClassName view;

    private StructWriter(NamedType named) {
        this.named = named;
        this.name = named.className();
        this.view = named.className().nestedClass("View");
    }

    static TypeSpec write(NamedType named) {
        return new StructWriter(named).write();
    }

    private TypeSpec write() {
        String size = named.size() + (named.size() == 1 ? " byte" : " bytes");
        TypeSpec.Builder type = TypeSpec.recordBuilder(name.simpleName())
                .addModifiers(Modifier.PUBLIC)
                .addField(codec());
        if (named.isBytes()) {
            type.addJavadoc(
                    "{@code $L}, $L, as its bytes; {@link #view()} reads and sets its members.\n", named.text(), size);
            addBytes(type);
        } else {
            type.addJavadoc("{@code $L}, $L.\n", named.text(), size);
            addComponents(type);
        }
        return type.addType(view()).build();
    }

    private FieldSpec codec() {
        return FieldSpec.builder(
                        ParameterizedTypeName.get(ClassName.get(StructCodec.class), name, view),
                        "CODEC",
                        Modifier.PUBLIC,
                        Modifier.STATIC,
                        Modifier.FINAL)
                .initializer("$T.of($L, View::new, View::toRecord, View::set)", StructCodec.class, named.size())
                .build();
    }

    private void addBytes(TypeSpec.Builder type) {
        ParameterSpec bytes =
                ParameterSpec.builder(ArrayTypeName.of(TypeName.BYTE), "bytes").build();
        type.recordConstructor(
                        MethodSpec.constructorBuilder().addParameter(bytes).build())
                .addMethod(MethodSpec.compactConstructorBuilder()
                        .addModifiers(Modifier.PUBLIC)
                        .beginControlFlow("if (bytes.length != $L)", named.size())
                        .addStatement(
                                "throw new $T($S + bytes.length)",
                                IllegalArgumentException.class,
                                named.text() + " has " + named.size() + " bytes, not ")
                        .endControlFlow()
                        .build())
                .addMethod(MethodSpec.constructorBuilder()
                        .addJavadoc("All bytes are 0.\n")
                        .addModifiers(Modifier.PUBLIC)
                        .addStatement("this(new byte[$L])", named.size())
                        .build())
                .addMethod(MethodSpec.methodBuilder("view")
                        .addJavadoc("A view of these bytes: what it sets changes them.\n")
                        .addModifiers(Modifier.PUBLIC)
                        .returns(view)
                        .addStatement("return CODEC.view($T.ofArray(bytes))", MemorySegment.class)
                        .build());
        addEquality(type, List.of(new Component("bytes", ArrayTypeName.of(TypeName.BYTE))));
    }

    private record Component(String name, TypeName type) {
        boolean isArray() {
            return type instanceof ArrayTypeName;
        }
    }

    private void addComponents(TypeSpec.Builder type) {
        MethodSpec.Builder constructor = MethodSpec.constructorBuilder();
        List<Component> components = new ArrayList<>();
        for (Member member : named.components()) {
            type.addJavadoc("@param $L {@code $L}\n", member.name(), member.text());
            constructor.addParameter(member.shape().type(), member.name());
            components.add(new Component(member.name(), member.shape().type()));
        }
        type.recordConstructor(constructor.build());
        if (components.stream().anyMatch(Component::isArray)) {
            addEquality(type, components);
        }
    }

    /** Compares arrays by their elements, as a record that is a key of a map needs. */
    private void addEquality(TypeSpec.Builder type, List<Component> components) {
        List<CodeBlock> equal = new ArrayList<>();
        List<CodeBlock> hashed = new ArrayList<>();
        List<CodeBlock> shown = new ArrayList<>();
        for (Component component : components) {
            String each = component.name();
            TypeName of = component.type();
            if (component.isArray()) {
                equal.add(CodeBlock.of("$T.equals(this.$L, that.$L)", Arrays.class, each, each));
                hashed.add(CodeBlock.of("$T.hashCode(this.$L)", Arrays.class, each));
            } else if (of.isPrimitive() && !of.equals(TypeName.FLOAT) && !of.equals(TypeName.DOUBLE)) {
                equal.add(CodeBlock.of("this.$L == that.$L", each, each));
                hashed.add(CodeBlock.of("this.$L", each));
            } else {
                equal.add(CodeBlock.of("$T.equals(this.$L, that.$L)", Objects.class, each, each));
                hashed.add(CodeBlock.of("this.$L", each));
            }
            CodeBlock text = of.equals(ArrayTypeName.of(TypeName.BYTE))
                    ? CodeBlock.of("$T.of().formatHex(this.$L)", HexFormat.class, each)
                    : component.isArray()
                            ? CodeBlock.of("$T.toString(this.$L)", Arrays.class, each)
                            : CodeBlock.of("this.$L", each);
            shown.add(CodeBlock.of("$S + $L", each + "=", text));
        }
        boolean oneArray = hashed.size() == 1 && components.getFirst().isArray();
        type.addMethod(override("equals", boolean.class)
                .addParameter(Object.class, "other")
                .addCode("return other instanceof $T that", name)
                .addCode("$>$>\n&& $L$<$<;\n", CodeBlock.join(equal, "\n&& "))
                .build());
        type.addMethod(override("hashCode", int.class)
                .addCode(
                        oneArray
                                ? CodeBlock.of("return $L;\n", hashed.getFirst())
                                : CodeBlock.of(
                                        "return $T.hash($>$>$L$<$<);\n", Objects.class, CodeBlock.join(hashed, ",\n")))
                .build());
        type.addMethod(override("toString", String.class)
                .addCode(
                        "return $S$>$>\n+ $L\n+ \"]\"$<$<;\n",
                        name.simpleName() + "[",
                        CodeBlock.join(shown, "\n+ \", \"\n+ "))
                .build());
    }

    private static MethodSpec.Builder override(String method, Class<?> result) {
        return MethodSpec.methodBuilder(method)
                .addAnnotation(Override.class)
                .addModifiers(Modifier.PUBLIC)
                .returns(result);
    }

    private TypeSpec view() {
        TypeSpec.Builder type = TypeSpec.classBuilder(view)
                .addJavadoc("{@code $L} in memory, read and written in place.\n", named.text())
                .addModifiers(Modifier.PUBLIC, Modifier.STATIC, Modifier.FINAL)
                .superclass(StructView.class)
                .addMethod(MethodSpec.constructorBuilder()
                        .addJavadoc("A view of a struct at an offset of the segment, in bytes.\n")
                        .addModifiers(Modifier.PUBLIC)
                        .addParameter(MemorySegment.class, "segment")
                        .addParameter(TypeName.LONG, "offset")
                        .addStatement("super(segment, offset, $L)", named.size())
                        .build());
        for (Member member : named.members()) {
            new MemberWriter(view, member).addTo(type);
        }
        return type.addMethod(toRecord())
                .addMethod(set())
                .addMethod(MethodSpec.methodBuilder("toString")
                        .addAnnotation(Override.class)
                        .addModifiers(Modifier.PUBLIC)
                        .returns(String.class)
                        .addStatement("return toRecord().toString()")
                        .build())
                .build();
    }

    private MethodSpec toRecord() {
        MethodSpec.Builder method = MethodSpec.methodBuilder("toRecord")
                .addJavadoc("A copy.\n")
                .addModifiers(Modifier.PUBLIC)
                .returns(name);
        if (named.isBytes()) {
            return method.addStatement("return new $T($L)", name, bytes().get(CodeBlock.of("0")))
                    .build();
        }
        List<CodeBlock> values = named.components().stream()
                .map(member ->
                        CodeBlock.of(MemberWriter.isStruct(member.shape()) ? "$L().toRecord()" : "$L()", member.name()))
                .toList();
        return method.addCode(
                        values.size() > 4 ? "return new $T(\n$>$>$L$<$<);\n" : "return new $T($L);\n",
                        name,
                        CodeBlock.join(values, values.size() > 4 ? ",\n" : ", "))
                .build();
    }

    private Shape.Bytes bytes() {
        return new Shape.Bytes(named.size());
    }

    private MethodSpec set() {
        MethodSpec.Builder method = MethodSpec.methodBuilder("set")
                .addJavadoc("Sets all bytes, those that belong to no member to 0.\n")
                .addModifiers(Modifier.PUBLIC)
                .returns(view)
                .addParameter(name, "value");
        if (named.isBytes()) {
            return method.addStatement(bytes().set(CodeBlock.of("0"), "value.bytes()"))
                    .addStatement("return this")
                    .build();
        }
        unused().forEach((start, end) -> method.addStatement("clear($L, $L)", start, end - start));
        for (Member member : named.components()) {
            method.addStatement("$L(value.$L())", member.name(), member.name());
        }
        return method.addStatement("return this").build();
    }

    /** The bytes that belong to no member, and those of bit-fields: the end of each range by its start. */
    private Map<Long, Long> unused() {
        List<Member> members = named.components().stream()
                .filter(member -> !member.isBitField())
                .sorted(Comparator.comparingLong(Member::offset))
                .toList();
        Map<Long, Long> ranges = new LinkedHashMap<>();
        long at = 0;
        for (Member member : members) {
            if (at < member.offset()) {
                ranges.put(at, member.offset());
            }
            at = Math.max(at, member.offset() + member.shape().size());
        }
        if (at < named.size()) {
            ranges.put(at, named.size());
        }
        return ranges;
    }
}
