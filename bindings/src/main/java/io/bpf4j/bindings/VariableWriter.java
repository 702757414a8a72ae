package io.bpf4j.bindings;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeSpec;
import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The methods of global variables, and those of the builder that set them before the load. <i>Confined.</i>
 *
 * <p>Tested by {@code BindingsGeneratorTest}.
 */
final class VariableWriter {
    /** The prefix of externs that the loader sets, such as {@code LINUX_KERNEL_VERSION}. */
    private static final String OF_LOADER = "LINUX_";

    /** Pointers of such names bring a type into BTF: {@code struct event *unused_event __attribute__((unused));}. */
    private static final String UNUSED = "unused";

    private final ObjectSpec spec;
    private final Btf btf;
    private final TypeModel types;
    private final JavaNames names;
    private final LayoutParts parts;
    private final ClassName builderName;

    /** @param names of the methods of the class */
    VariableWriter(
            ObjectSpec spec, Btf btf, TypeModel types, JavaNames names, LayoutParts parts, ClassName builderName) {
        this.spec = spec;
        this.btf = btf;
        this.types = types;
        this.names = names;
        this.parts = parts;
        this.builderName = builderName;
    }

    /** Writes those of all variables. */
    void write(List<MethodSpec> methods, TypeSpec.Builder builder) {
        Set<String> seen = new HashSet<>();
        for (GlobalSpec global : spec.globals()) {
            // Only the first of several static variables can be named.
            if (global.exported() && !isForNobody(global) && seen.add(global.name())) {
                types.shape(global.typeId(), JavaNames.type(global.name())).ifPresent(shape -> {
                    parts.add("global", global.name());
                    global(global, shape, methods, builder);
                });
            }
        }
    }

    /** Whether the loader sets it, or it is there only for the type that it points to. */
    private boolean isForNobody(GlobalSpec global) {
        return global.name().startsWith(OF_LOADER)
                || (global.name().startsWith(UNUSED) && btf.type(btf.resolve(global.typeId())) instanceof BtfType.Ptr);
    }

    private void global(GlobalSpec global, Shape shape, List<MethodSpec> methods, TypeSpec.Builder builder) {
        boolean constant =
                spec.map(global.map()).data().map(DataSection::readOnly).orElse(true);
        String java = names.claim(JavaNames.member(global.name()), "Variable");
        String declaration = CText.declaration(btf, global.typeId(), global.name());
        Accessors code = Accessors.of(shape, CText.literal(global.name()));

        builder.addMethod(ObjectWriter.method(java)
                .addJavadoc("Sets {@code $L}.\n", declaration)
                .returns(builderName)
                .addParameter(shape.type(), "value")
                .addStatement(code.beforeLoad())
                .addStatement("return this")
                .build());
        methods.add(ObjectWriter.method(java)
                .addJavadoc(constant ? "{@code $L}; set when the object was loaded.\n" : "{@code $L}.\n", declaration)
                .returns(shape.type())
                .addStatement(code.get())
                .build());
        if (constant) {
            return;
        }
        methods.add(ObjectWriter.method(java)
                .addJavadoc("Sets {@code $L}.\n", declaration)
                .addParameter(shape.type(), "value")
                .addStatement(code.set())
                .build());
        if (shape instanceof Shape.Declared declared && !declared.isEnum()) {
            methods.add(ObjectWriter.method(names.claim(java + "View"))
                    .addJavadoc(
                            "{@code $L} in place: its members are read and set one by one. Linux 5.5.\n", declaration)
                    .returns(declared.viewName())
                    .addStatement("return $L.view(object.global($L))", declared.codec(), CText.literal(global.name()))
                    .build());
        }
    }

    /** How a global variable is set and read: plain numbers by methods of their own, other types by a codec. */
    private record Accessors(CodeBlock beforeLoad, CodeBlock get, CodeBlock set) {
        static Accessors of(Shape shape, CodeBlock name) {
            if (shape instanceof Shape.Numeric(Scalar scalar) && scalar.isPlain()) {
                return new Accessors(
                        CodeBlock.of("loader.global($L, value)", name),
                        CodeBlock.of("return object.global($L).get$L()", name, scalar.accessor()),
                        CodeBlock.of("object.global($L).set$L(value)", name, scalar.accessor()));
            }
            return new Accessors(
                    CodeBlock.of("loader.global($L, $L, value)", name, shape.codec()),
                    CodeBlock.of("return object.global($L).get($L)", name, shape.codec()),
                    CodeBlock.of("object.global($L).set($L, value)", name, shape.codec()));
        }
    }
}
