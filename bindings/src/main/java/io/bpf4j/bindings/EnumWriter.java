package io.bpf4j.bindings;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.binding.ValueCodecs;
import io.bpf4j.loader.map.Codec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.lang.model.element.Modifier;

/**
 * The class of an enumeration: a record of its number with a constant for each enumerator, because a program may write
 * any number.
 *
 * <p>Tested by {@code BindingsGeneratorTest}.
 */
final class EnumWriter {
    /** As the code that makes them has at most 65,535 bytes, 13 for each. */
    private static final int MAX_CONSTANTS = 4_000;

    private EnumWriter() {}

    static TypeSpec write(NamedType named) {
        BtfType.Enumeration enumeration = (BtfType.Enumeration) named.type();
        ClassName name = named.className();
        TypeName number = named.number().type();
        boolean isLong = number.equals(TypeName.LONG);
        TypeSpec.Builder type = TypeSpec.recordBuilder(name.simpleName())
                .addJavadoc(
                        "{@code $L}, $L as its number, which need not have a name.\n",
                        named.text(),
                        named.size() == 1 ? "1 byte," : named.size() + " bytes,")
                .addModifiers(Modifier.PUBLIC)
                .recordConstructor(MethodSpec.constructorBuilder()
                        .addParameter(number, "value")
                        .build());
        JavaNames constants = new JavaNames(
                Set.of("CODEC", "value", "Codec", "ValueCodecs", "Integer", "Long", "String", name.simpleName()));
        Map<Long, CodeBlock> names = new LinkedHashMap<>();
        List<BtfType.EnumValue> values = enumeration.values();
        if (values.size() > MAX_CONSTANTS) {
            type.addJavadoc("It has $L names, which are too many for the constants of a class.\n", values.size());
            values = List.of();
        }
        for (BtfType.EnumValue each : values) {
            CodeBlock value = literal(named, each.value());
            type.addField(FieldSpec.builder(
                            name,
                            constants.claim(JavaNames.constant(each.name())),
                            Modifier.PUBLIC,
                            Modifier.STATIC,
                            Modifier.FINAL)
                    .initializer("new $T($L)", name, value)
                    .build());
            names.putIfAbsent(
                    key(named, each.value()),
                    CodeBlock.of(
                            isLong ? "if (value == $L) {\n$>return $L;\n$<}\n" : "case $L -> $L;\n",
                            value,
                            CText.literal(each.name())));
        }
        CodeBlock codec = isLong
                ? CodeBlock.of("$T.ofLong()", Codec.class)
                : named.number().codec();
        type.addField(FieldSpec.builder(
                        ParameterizedTypeName.get(ClassName.get(Codec.class), name),
                        "CODEC",
                        Modifier.PUBLIC,
                        Modifier.STATIC,
                        Modifier.FINAL)
                .initializer("$T.wrapped($L, $T::new, $T::value)", ValueCodecs.class, codec, name, name)
                .build());
        CodeBlock other = CodeBlock.of(
                named.isSigned() ? "$T.toString(value)" : "$T.toUnsignedString(value)",
                isLong ? Long.class : Integer.class);
        MethodSpec.Builder text = MethodSpec.methodBuilder("toString")
                .addJavadoc("The name in C, or the number if it has none.\n")
                .addAnnotation(Override.class)
                .addModifiers(Modifier.PUBLIC)
                .returns(String.class);
        if (isLong) {
            names.values().forEach(text::addCode);
            text.addStatement("return $L", other);
        } else {
            text.addCode("return switch (value) {\n$>");
            names.values().forEach(text::addCode);
            text.addCode("default -> $L;\n$<};\n", other);
        }
        return type.addMethod(text.build()).build();
    }

    /** The value as the class holds it. */
    private static long key(NamedType named, long value) {
        return switch ((int) named.size()) {
            case 1 -> named.isSigned() ? (byte) value : value & 0xff;
            case 2 -> named.isSigned() ? (short) value : value & 0xffff;
            case 4 -> (int) value;
            default -> value;
        };
    }

    private static CodeBlock literal(NamedType named, long value) {
        long key = key(named, value);
        return switch ((int) named.size()) {
            case 1 -> named.isSigned() ? CodeBlock.of("(byte) $L", key) : CodeBlock.of("$L", key);
            case 2 -> named.isSigned() ? CodeBlock.of("(short) $L", key) : CodeBlock.of("$L", key);
            case 4 -> CodeBlock.of("$L", key);
            default -> CodeBlock.of("$LL", key);
        };
    }
}
