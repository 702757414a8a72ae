package io.bpf4j.trace.stack;

import io.bpf4j.trace.internal.demangle.Demangler;
import java.util.LinkedHashMap;
import java.util.Map;

/** Demangles symbols, and keeps the most recently used names. <i>Confined.</i> */
final class Names {
    private static final int MOST = 1 << 13;

    /** Characters. Longer symbols are demangled each time, which bounds the memory for all names. */
    private static final int LONGEST = 1 << 10;

    private final Map<String, String> known = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > MOST;
        }
    };

    /** The demangled name, without parameters. */
    String of(String symbol) {
        if (!Demangler.isMangled(symbol)) {
            return symbol;
        }
        String name = known.get(symbol);
        if (name == null) {
            name = Demangler.withoutParameters(symbol);
            if (symbol.length() <= LONGEST && name.length() <= LONGEST) {
                known.put(symbol, name);
            }
        }
        return name;
    }
}
