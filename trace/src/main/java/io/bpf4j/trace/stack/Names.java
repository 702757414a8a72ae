package io.bpf4j.trace.stack;

import io.bpf4j.trace.internal.demangle.Demangler;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Demangles symbols, and keeps the most recently used names.
 *
 * <p>A hostile file or list has names of any length, and an answer has a million frames. So names are cut, and the
 * memory for those that are kept is bounded by their length, not by their number. <i>Confined.</i>
 *
 * <p>Tested by {@code NamesTest}.
 */
final class Names {
    /** Characters of a name; the rest is cut off. */
    static final int MAX_LENGTH = 1 << 10;

    /** Characters of all symbols and names that are kept. */
    private static final int MAX_CHARACTERS = 1 << 22;

    private final Map<String, String> known = new LinkedHashMap<>(16, 0.75f, true);
    private int characters;

    /** The demangled name, without parameters. */
    String of(String symbol) {
        if (!Demangler.isMangled(symbol)) {
            return cut(symbol);
        }
        String name = known.get(symbol);
        if (name == null) {
            name = cut(Demangler.withoutParameters(symbol));
            keep(symbol, name);
        }
        return name;
    }

    private void keep(String symbol, String name) {
        known.put(symbol, name);
        characters += symbol.length() + name.length();
        Iterator<Map.Entry<String, String>> eldest = known.entrySet().iterator();
        while (characters > MAX_CHARACTERS) {
            Map.Entry<String, String> dropped = eldest.next();
            characters -= dropped.getKey().length() + dropped.getValue().length();
            eldest.remove();
        }
    }

    /** The number of names that are kept. */
    int size() {
        return known.size();
    }

    /** A name of at most {@link #MAX_LENGTH} characters; {@code …} stands for the rest. */
    static String cut(String name) {
        return cut(name, MAX_LENGTH);
    }

    /** A name of at most {@code maxLength} characters; {@code …} stands for the rest. */
    static String cut(String name, int maxLength) {
        if (name.length() <= maxLength) {
            return name;
        }
        int end = maxLength - 1;
        return name.substring(0, Character.isHighSurrogate(name.charAt(end - 1)) ? end - 1 : end) + "…";
    }
}
