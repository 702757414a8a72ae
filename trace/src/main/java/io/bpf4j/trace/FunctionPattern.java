package io.bpf4j.trace;

import io.bpf4j.loader.internal.glob.Glob;
import io.bpf4j.trace.internal.demangle.Demangler;
import io.bpf4j.usdt.ProbePattern;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A pattern for functions. It is compared with symbols, and with the names that C++ and Rust functions have in their
 * sources, with and without their parameters. <i>Immutable.</i>
 *
 * <p>A library can have a hundred thousand symbols, so a symbol is demangled only if the pattern can match a demangled
 * name: if the pattern has {@code ::}, parameters or template arguments, or if it has no wildcard and the symbol
 * contains it, as a symbol contains the last part of its name.
 *
 * <p>Tested by {@code FunctionPatternTest}.
 */
final class FunctionPattern {
    /**
     * A part of a function that the compiler moved elsewhere, because it runs seldom. Code jumps to it instead of
     * calling it, so its first instruction is not the entry of a function, and the stack has no return address for it.
     */
    private static final Pattern MOVED_PART = Pattern.compile(".*\\.cold(\\.\\d+)?(\\..*)?", Pattern.DOTALL);

    private final Glob pattern;
    private final boolean isSourceName;

    private FunctionPattern(String text) {
        this.pattern = Glob.ofName(text);
        this.isSourceName = isOfSource(text);
    }

    static FunctionPattern of(String text) {
        return new FunctionPattern(text);
    }

    /** Whether the pattern has no wildcard. */
    boolean isExact() {
        return pattern.isExact();
    }

    /** Whether a name or pattern contains characters that names in sources have, but symbols do not. */
    static boolean isOfSource(String text) {
        return text.contains("::") || text.indexOf('(') >= 0 || text.indexOf('<') >= 0;
    }

    /** Whether a symbol names a moved part of a function, which has no return. */
    static boolean isMovedPart(String symbol) {
        return symbol.contains(".cold") && MOVED_PART.matcher(symbol).matches();
    }

    /**
     * The name that the pattern matches: the symbol itself, or its demangled name with parameters; empty if it matches
     * neither. A moved part of a function matches only if the pattern names such parts.
     */
    Optional<String> nameOf(String symbol) {
        if (isMovedPart(symbol) && !pattern.text().contains(".cold")) {
            return Optional.empty();
        }
        if (pattern.matches(symbol)) {
            return Optional.of(symbol);
        }
        boolean mayMatch =
                Demangler.isMangled(symbol) && (isSourceName || (isExact() && symbol.contains(pattern.text())));
        // The compiler's other versions of a function (f.constprop.0) may have other parameters.
        if (!mayMatch || (isExact() && symbol.indexOf('.') >= 0)) {
            return Optional.empty();
        }
        String name = Demangler.demangle(symbol);
        return pattern.matches(name) || pattern.matches(Demangler.withoutParameters(symbol))
                ? Optional.of(name)
                : Optional.empty();
    }

    /** Whether a pattern with {@code u:} or {@code ur:} matches a function. */
    static boolean matches(ProbePattern pattern, FunctionProbe function) {
        return pattern.matches(function.provider(), function.name())
                || pattern.matches(function.provider(), function.function())
                || pattern.matches(function.provider(), Demangler.withoutParameters(function.function()));
    }
}
