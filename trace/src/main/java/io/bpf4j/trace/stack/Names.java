package io.bpf4j.trace.stack;

import io.bpf4j.trace.internal.demangle.Demangler;
import java.util.LinkedHashMap;
import java.util.Map;

/** Demangled names of symbols; the last used ones are kept. <i>Confined.</i> */
final class Names {
    private static final int MOST = 1 << 13;

    /** Longer names are demangled each time, which bounds the memory for all. */
    private static final int LONGEST = 1 << 10;

    private final Map<String, String> known = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > MOST;
        }
    };

    /** The name for people, without parameters. */
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
