package io.bpf4j.usdt;

import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which probes are meant: {@code provider:name}, where {@code *} stands for any text and {@code ?} for any one
 * character. An empty part means all; without a colon the text is a name of any provider. <b>Immutable</b>.
 *
 * <p>DTrace's spelling is understood: {@code gc-begin} also means {@code gc__begin}, and of its four parts {@code
 * postgresql1234:module:function:query-start} the first and last count, the process id at the end of the provider aside.
 */
public record ProbePattern(String provider, String name) {

    private static final Pattern WITH_PROCESS = Pattern.compile("[^:]*[^:0-9]([0-9]{1,9}):[^:]*:[^:]*:[^:]*");

    /** All probes. */
    public static final ProbePattern ALL = new ProbePattern("*", "*");

    public static ProbePattern parse(String text) {
        String[] parts = text.split(":", -1);
        if (parts.length == 4) {
            return ofParts(parts[0].replaceFirst("(?<=[^0-9])[0-9]+$", ""), parts[3]);
        }
        int colon = text.indexOf(':');
        String provider = colon < 0 ? "" : text.substring(0, colon);
        String name = text.substring(colon + 1);
        return ofParts(provider, name);
    }

    /**
     * The process in a probe's four-part name, where DTrace writes it: 1234 of {@code postgresql1234:::query-start}. Empty
     * if the text is something else.
     */
    public static OptionalInt processOf(String text) {
        Matcher matcher = WITH_PROCESS.matcher(text);
        return matcher.matches() ? OptionalInt.of(Integer.parseInt(matcher.group(1))) : OptionalInt.empty();
    }

    private static ProbePattern ofParts(String provider, String name) {
        return new ProbePattern(provider.isEmpty() ? "*" : provider, name.isEmpty() ? "*" : name);
    }

    /** Whether the pattern can match one name only. */
    public boolean isExact() {
        return !isGlob(provider) && !isGlob(name);
    }

    public boolean matches(UsdtProbe probe) {
        return matches(probe.provider(), probe.name());
    }

    public boolean matches(String probeProvider, String probeName) {
        return matchesProvider(probeProvider)
                && (glob(name, probeName) || (name.indexOf('-') >= 0 && glob(name.replace("-", "__"), probeName)));
    }

    boolean matchesProvider(String probeProvider) {
        return glob(provider, probeProvider);
    }

    @Override
    public String toString() {
        return provider + ":" + name;
    }

    private static boolean isGlob(String text) {
        return text.indexOf('*') >= 0 || text.indexOf('?') >= 0;
    }

    /**
     * Matches greedily and, on a mismatch, goes back to the last star only: earlier stars need never be tried again,
     * so hostile patterns cost no more than the product of the lengths.
     */
    private static boolean glob(String pattern, String text) {
        int p = 0;
        int t = 0;
        int star = -1;
        int mark = 0;
        while (t < text.length()) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                mark = t;
            } else if (p < pattern.length() && (pattern.charAt(p) == '?' || pattern.charAt(p) == text.charAt(t))) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++mark;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }
}
