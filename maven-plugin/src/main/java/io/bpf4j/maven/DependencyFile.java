package io.bpf4j.maven;

import java.util.ArrayList;
import java.util.List;

/**
 * The rule in make's syntax that a compiler writes about the files that it has read: {@code gc.o: gc.bpf.c \} and more
 * names on further lines. A backslash comes before a space or {@code #} in a name, {@code $$} is one dollar.
 */
final class DependencyFile {
    private DependencyFile() {}

    /** The prerequisites of the first rule: the names after the colon that ends its targets. */
    static List<String> inputs(String text) {
        List<String> names = new ArrayList<>();
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            char next = i + 1 < text.length() ? text.charAt(i + 1) : '\n';
            if (c == '\\' && next == '\n') {
                i++;
                end(name, names);
            } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
                name.append(next);
                i++;
            } else if (c == ' ' || c == '\t' || c == '\n') {
                end(name, names);
            } else {
                name.append(c);
            }
        }
        end(name, names);
        for (int i = 0; i < names.size(); i++) {
            if (names.get(i).endsWith(":")) {
                return List.copyOf(names.subList(i + 1, names.size()));
            }
        }
        return List.of();
    }

    private static void end(StringBuilder name, List<String> names) {
        if (!name.isEmpty()) {
            names.add(name.toString());
            name.setLength(0);
        }
    }
}
