package io.bpf4j.cli.command;

import io.bpf4j.loader.internal.glob.Glob;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A function as an operand names it: {@code u:NAME} for its entry, {@code ur:NAME} for its return. bpftrace's notation
 * has long names, too, and may have the file before the function: {@code uprobe:FILE:NAME}. A name of C++ or Rust has
 * {@code ::} in it. <i>Immutable.</i>
 *
 * <p>Tested by {@code CliFunctionsTest}.
 *
 * @param file the only file in which the function is looked up; empty if the operand names none
 * @param name {@code u:NAME} or {@code ur:NAME}; the name may be a pattern
 */
record NamedFunction(Optional<Path> file, String name) {
    private static final Pattern FORM = Pattern.compile("(u|ur|uprobe|uretprobe):(?:([^:]+):(?!:))?((?:[^:/]|::)+)");

    private static final Pattern PREFIX = Pattern.compile("(u|ur|uprobe|uretprobe):");
    private static final Pattern NAME = Pattern.compile("(?:[^:/]|::)+");

    /** The function of an operand; empty if the operand is a file or a USDT probe. */
    static Optional<NamedFunction> of(String operand) {
        Matcher parts = FORM.matcher(operand);
        if (!parts.matches()) {
            return ofFileWithColons(operand);
        }
        return Optional.of(
                of(Optional.ofNullable(parts.group(2)).map(Operands::file), parts.group(1), parts.group(3), operand));
    }

    private static NamedFunction of(Optional<Path> file, String prefix, String name, String operand) {
        String function = Operands.unescaped(name);
        Glob _ = Operands.checked(Glob::ofName, function, operand);
        return new NamedFunction(file, (prefix.startsWith("ur") ? "ur:" : "u:") + function);
    }

    /**
     * The function of an operand whose file has colons in its name: the first colon after an existing file counts, as for
     * USDT probes. What follows has no single colon: {@code u:FILE:PROVIDER:NAME} is a USDT probe in bcc's notation.
     */
    private static Optional<NamedFunction> ofFileWithColons(String operand) {
        Matcher form = PREFIX.matcher(operand);
        if (!form.lookingAt()) {
            return Optional.empty();
        }
        for (int colon = operand.indexOf(':', form.end()); colon > 0; colon = operand.indexOf(':', colon + 1)) {
            String file = operand.substring(form.end(), colon);
            if (Operands.isRegularFile(file)) {
                String function = operand.substring(colon + 1);
                if (!NAME.matcher(function).matches()) {
                    return Optional.empty();
                }
                return Optional.of(of(Optional.of(Operands.file(file)), form.group(1), function, operand));
            }
        }
        return Optional.empty();
    }

    /** The name without the {@code u:} or {@code ur:} before it. */
    String function() {
        return name.substring(name.indexOf(':') + 1);
    }

    boolean returns() {
        return name.startsWith("ur:");
    }
}
