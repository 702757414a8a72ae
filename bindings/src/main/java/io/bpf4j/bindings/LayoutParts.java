package io.bpf4j.bindings;

import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.TypeSpec;
import io.bpf4j.loader.binding.ObjectLayout;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.ObjectSpec;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.lang.model.element.Modifier;

/**
 * The parts of an object that its class relies on, which are checked when the object is opened. <i>Confined.</i>
 *
 * <p>Tested by {@code BindingsGeneratorTest}.
 */
final class LayoutParts {
    /** The maximum number of parts: each has at least one method, and a class has at most 65,535 constants. */
    private static final int MAX_PARTS = 4_000;

    /** The maximum number of lines: the code that creates an array of them has at most 65,535 bytes, 8 for each. */
    private static final int MAX_LINES = 8_000;

    private final ObjectSpec spec;

    /** As {@link ObjectLayout} names them. */
    private final Set<String> parts = new LinkedHashSet<>();

    LayoutParts(ObjectSpec spec) {
        this.spec = spec;
    }

    /** @throws InvalidObjectException if the class can't rely on it */
    void add(String kind, String part) {
        if (part.indexOf(' ') >= 0) {
            throw new InvalidObjectException(spec.source() + " has a " + kind + " '" + CText.safe(part)
                    + "', and no class can have a name with a blank");
        }
        parts.add(kind + " " + part);
        if (parts.size() > MAX_PARTS) {
            throw new InvalidObjectException(spec.source() + " has more than " + MAX_PARTS
                    + " maps, programs and variables, which are too many for a class");
        }
    }

    /** The nested class that lists them. It comes last, because it is long and not meant to be read. */
    TypeSpec type() {
        List<CodeBlock> lines = new ArrayList<>();
        for (String part : parts) {
            ObjectLayout.lines(spec, List.of(part)).forEach(line -> lines.add(CText.literal(line)));
            if (lines.size() > MAX_LINES) {
                throw new InvalidObjectException(spec.source() + " has maps, variables and types with more than "
                        + MAX_LINES + " members together, which are too many for a class");
            }
        }
        return TypeSpec.classBuilder("Layout")
                .addJavadoc("The facts about the object that this class relies on.\n")
                .addModifiers(Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
                .addField(FieldSpec.builder(ObjectLayout.class, "LINES", Modifier.STATIC, Modifier.FINAL)
                        .initializer("$T.of(\n$>$>$L$<$<)", ObjectLayout.class, CodeBlock.join(lines, ",\n"))
                        .build())
                .build();
    }
}
