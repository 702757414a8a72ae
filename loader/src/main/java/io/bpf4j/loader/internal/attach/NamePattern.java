package io.bpf4j.loader.internal.attach;

/**
 * A name in which {@code *} stands for any number of characters, also none, and {@code ?} for one; every other
 * character stands for itself. The patterns of {@code SEC("kprobe.multi/…")} and {@code SEC("uprobe.multi/…")}.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code FunctionSitesTest}.
 */
record NamePattern(String pattern) {
    /** Whether it can match more than one name. */
    boolean isWild() {
        return pattern.indexOf('*') >= 0 || pattern.indexOf('?') >= 0;
    }

    /**
     * Whether a name matches. Backtracks only to the last star: the match of an earlier star need never change, because
     * the last star can absorb the difference. So the time is at most the product of the lengths.
     */
    boolean matches(String name) {
        int inName = 0;
        int inPattern = 0;
        int star = -1;
        int taken = 0;
        while (inName < name.length()) {
            if (inPattern < pattern.length() && pattern.charAt(inPattern) == '*') {
                star = inPattern++;
                taken = inName;
            } else if (inPattern < pattern.length()
                    && (pattern.charAt(inPattern) == '?' || pattern.charAt(inPattern) == name.charAt(inName))) {
                inPattern++;
                inName++;
            } else if (star >= 0) {
                inPattern = star + 1;
                inName = ++taken;
            } else {
                return false;
            }
        }
        while (inPattern < pattern.length() && pattern.charAt(inPattern) == '*') {
            inPattern++;
        }
        return inPattern == pattern.length();
    }
}
