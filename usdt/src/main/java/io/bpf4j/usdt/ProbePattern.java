package io.bpf4j.usdt;

import io.bpf4j.loader.internal.glob.Glob;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A pattern for the names of probes. <i>Immutable.</i>
 *
 * <p>Its text is {@code provider:name}, or a name in any provider, or DTrace's {@code provider:module:function:name}
 * and {@code module:function:name}. The module is the file name without directories; the function is the function that
 * contains a site of the probe. An empty part matches everything.
 *
 * <p>Each part is a pattern: {@code *} matches any text, {@code ?} any character, {@code [sd]} one of these characters
 * ({@code [a-f]} a range, {@code [!sd]} any other), <code>{a,b}</code> one of these texts; a backslash escapes the next
 * character. {@code gc-begin} also matches {@code gc__begin}, as in DTrace. A bracket or brace that is not closed stands
 * for itself, and a name that is spelled like the pattern matches.
 *
 * <p>A process id at the end of the provider of a four-part name, as in {@code postgresql1234:::query-start}, or {@code
 * $target} there, is not a part of the pattern; see {@link #processOf} and {@link #meansTarget}.
 */
public final class ProbePattern {
    private static final String TARGET = "$target";

    /** The name of a function, which may contain {@code ::}. */
    private static final Pattern FUNCTION = Pattern.compile("(ur?):(.*)");

    private static final Pattern WITH_PROCESS = Pattern.compile("[^:]*[^:0-9]([0-9]{1,9}):[^:]*:[^:]*:.*");
    private static final Pattern WITH_TARGET = Pattern.compile("[^:]*\\$target:[^:]*:[^:]*:.*");

    /** All probes. */
    public static final ProbePattern ALL = new ProbePattern("*", "*");

    private final Glob provider;
    private final Glob module;
    private final Glob function;
    private final Glob name;

    /**
     * A pattern that matches in any file and function.
     *
     * @throws IllegalArgumentException if braces are nested too deeply
     */
    public ProbePattern(String provider, String name) {
        this(provider, "*", "*", name);
    }

    private ProbePattern(String provider, String module, String function, String name) {
        this.provider = part(provider);
        this.module = part(module);
        this.function = part(function);
        this.name = part(name);
    }

    private static Glob part(String text) {
        return Glob.ofName(text.isEmpty() ? "*" : text);
    }

    /**
     * Parses a pattern. The fourth part is the rest of the text: compilers write no name with a colon, but a note may
     * have such a name, and this form selects it. After {@code u:} and {@code ur:} the rest is the name of a function,
     * such as {@code shop::checkout}.
     *
     * @throws IllegalArgumentException if braces are nested too deeply
     */
    public static ProbePattern parse(String text) {
        Matcher function = FUNCTION.matcher(text);
        if (function.matches()) {
            return new ProbePattern(function.group(1), function.group(2));
        }
        String[] parts = text.split(":", 4);
        return switch (parts.length) {
            case 1 -> new ProbePattern("*", text);
            case 2 -> new ProbePattern(parts[0], parts[1]);
            case 3 -> new ProbePattern("*", parts[0], parts[1], parts[2]);
            default -> new ProbePattern(withoutProcess(parts[0]), parts[1], parts[2], parts[3]);
        };
    }

    private static String withoutProcess(String provider) {
        return provider.endsWith(TARGET)
                ? provider.substring(0, provider.length() - TARGET.length())
                : provider.replaceFirst("(?<=[^0-9])[0-9]+$", "");
    }

    /**
     * The process id at the end of the provider of a four-part name, as in DTrace: 1234 in {@code
     * postgresql1234:::query-start}. Empty if the text has none.
     */
    public static OptionalInt processOf(String text) {
        Matcher matcher = WITH_PROCESS.matcher(text);
        return matcher.matches() ? OptionalInt.of(Integer.parseInt(matcher.group(1))) : OptionalInt.empty();
    }

    /**
     * Whether a four-part name has {@code $target} in place of the process id: the process that was passed to the
     * caller, or that the caller started.
     */
    public static boolean meansTarget(String text) {
        return WITH_TARGET.matcher(text).matches();
    }

    /** Whether the pattern can match one name only. */
    public boolean isExact() {
        return provider.isExact() && name.isExact();
    }

    /** Whether the pattern restricts functions, which are known from the file's symbol tables only. */
    public boolean namesFunction() {
        return !function.text().equals("*");
    }

    /** Whether provider, module and name match. The function is not checked. */
    public boolean matches(UsdtProbe probe) {
        return matches(probe.provider(), probe.name()) && module.matches(probe.module());
    }

    /** Whether provider and name match. */
    public boolean matches(String probeProvider, String probeName) {
        return provider.matches(probeProvider) && name.matches(probeName);
    }

    /** Whether a function matches. */
    boolean matchesFunction(String symbol) {
        return function.matches(symbol);
    }

    /** Whether the pattern matches the name of a provider. */
    public boolean matchesProvider(String probeProvider) {
        return provider.matches(probeProvider);
    }

    String provider() {
        return provider.text();
    }

    /** {@code provider:name}, or all four parts if module or function is restricted. */
    @Override
    public String toString() {
        boolean anywhere = !namesFunction() && module.text().equals("*");
        return provider.text() + ":" + (anywhere ? "" : module.text() + ":" + function.text() + ":") + name.text();
    }
}
