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

    /** The function of an operand; empty if the operand is a file or a USDT probe. */
    static Optional<NamedFunction> of(String operand) {
        Matcher parts = FORM.matcher(operand);
        if (!parts.matches()) {
            return Optional.empty();
        }
        Glob _ = Operands.checked(Glob::ofName, parts.group(3), operand);
        return Optional.of(new NamedFunction(
                Optional.ofNullable(parts.group(2)).map(Operands::file),
                (parts.group(1).startsWith("ur") ? "ur:" : "u:") + parts.group(3)));
    }

    /** The name without the {@code u:} or {@code ur:} before it. */
    String function() {
        return name.substring(name.indexOf(':') + 1);
    }

    boolean returns() {
        return name.startsWith("ur:");
    }
}
