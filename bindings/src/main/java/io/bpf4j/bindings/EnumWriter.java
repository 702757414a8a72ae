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
import java.util.ArrayList;
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
    /** The maximum number of constants: the code that creates them has at most 65,535 bytes, 13 for each. */
    private static final int MAX_CONSTANTS = 4_000;

    private final NamedType named;
    private final ClassName name;
    private final boolean isLong;

    /** The names that the class has; several may have one value. */
    private final List<BtfType.EnumValue> values;

    private EnumWriter(NamedType named) {
        this.named = named;
        this.name = named.className();
        this.isLong = named.number().type().equals(TypeName.LONG);
        List<BtfType.EnumValue> all = ((BtfType.Enumeration) named.type()).values();
        this.values = all.size() > MAX_CONSTANTS ? List.of() : all;
    }

    static TypeSpec write(NamedType named) {
        return new EnumWriter(named).type();
    }

    private TypeSpec type() {
        TypeSpec.Builder type = TypeSpec.recordBuilder(name.simpleName())
                .addJavadoc(
                        "{@code $L}, $L as its number, which need not have a name.\n",
                        named.text(),
                        named.size() == 1 ? "1 byte," : named.size() + " bytes,")
                .addModifiers(Modifier.PUBLIC)
                .recordConstructor(MethodSpec.constructorBuilder()
                        .addParameter(named.number().type(), "value")
                        .build());
        int all = ((BtfType.Enumeration) named.type()).values().size();
        if (all > MAX_CONSTANTS) {
            type.addJavadoc("It has $L names, which are too many for the constants of a class.\n", all);
        }
        return type.addFields(constants()).addField(codec()).addMethod(toText()).build();
    }

    private List<FieldSpec> constants() {
        JavaNames names = new JavaNames(
                Set.of("CODEC", "value", "Codec", "ValueCodecs", "Integer", "Long", "String", name.simpleName()));
        List<FieldSpec> constants = new ArrayList<>();
        for (BtfType.EnumValue each : values) {
            constants.add(constant(name, names.claim(JavaNames.constant(each.name())))
                    .initializer("new $T($L)", name, literal(each.value()))
                    .build());
        }
        return constants;
    }

    private static FieldSpec.Builder constant(TypeName type, String java) {
        return FieldSpec.builder(type, java, Modifier.PUBLIC, Modifier.STATIC, Modifier.FINAL);
    }

    private FieldSpec codec() {
        CodeBlock codec = isLong
                ? CodeBlock.of("$T.ofLong()", Codec.class)
                : named.number().codec();
        return constant(ParameterizedTypeName.get(ClassName.get(Codec.class), name), "CODEC")
                .initializer("$T.wrapped($L, $T::new, $T::value)", ValueCodecs.class, codec, name, name)
                .build();
    }

    /** {@code toString()}; a {@code switch} takes no {@code long}. */
    private MethodSpec toText() {
        Map<Long, CodeBlock> first = new LinkedHashMap<>();
        for (BtfType.EnumValue each : values) {
            first.putIfAbsent(
                    key(each.value()),
                    CodeBlock.of(
                            isLong ? "if (value == $L) {\n$>return $L;\n$<}\n" : "case $L -> $L;\n",
                            literal(each.value()),
                            CText.literal(each.name())));
        }
        CodeBlock other = CodeBlock.of(
                named.isSigned() ? "$T.toString(value)" : "$T.toUnsignedString(value)",
                isLong ? Long.class : Integer.class);
        MethodSpec.Builder text = MethodSpec.methodBuilder("toString")
                .addJavadoc("The name in C, or the number if it has none.\n")
                .addAnnotation(Override.class)
                .addModifiers(Modifier.PUBLIC)
                .returns(String.class);
        if (isLong) {
            first.values().forEach(text::addCode);
            text.addStatement("return $L", other);
        } else {
            text.addCode("return switch (value) {\n$>");
            first.values().forEach(text::addCode);
            text.addCode("default -> $L;\n$<};\n", other);
        }
        return text.build();
    }

    /** The value as the class holds it. */
    private long key(long value) {
        return switch ((int) named.size()) {
            case 1 -> named.isSigned() ? (byte) value : value & 0xff;
            case 2 -> named.isSigned() ? (short) value : value & 0xffff;
            case 4 -> (int) value;
            default -> value;
        };
    }

    private CodeBlock literal(long value) {
        long key = key(value);
        return switch ((int) named.size()) {
            case 1 -> named.isSigned() ? CodeBlock.of("(byte) $L", key) : CodeBlock.of("$L", key);
            case 2 -> named.isSigned() ? CodeBlock.of("(short) $L", key) : CodeBlock.of("$L", key);
            case 4 -> CodeBlock.of("$L", key);
            default -> CodeBlock.of("$LL", key);
        };
    }
}
