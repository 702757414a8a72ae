package io.bpf4j.trace.stack;

import java.io.IOException;
import java.util.Collection;
import java.util.Comparator;
import java.util.TreeMap;

/**
 * A function in a tree of stacks, with the functions that it called, in the order of their names. <i>Confined.</i>
 *
 * <p>Tested by {@code StackCountsTest}.
 */
final class CountedFrame {
    private final Key key;
    private final TreeMap<Key, CountedFrame> children = new TreeMap<>();
    private long total;

    /** The kind of a function's code, which determines the colour. */
    enum Kind {
        ROOT(""),
        USER(""),
        COMPILED("_[j]"),
        KERNEL("_[k]"),
        UNKNOWN("");

        private final String suffix;

        Kind(String suffix) {
            this.suffix = suffix;
        }

        static Kind of(Frame frame) {
            return switch (frame.source()) {
                case KERNEL -> KERNEL;
                case PERF_MAP -> COMPILED;
                case MAPPING, UNKNOWN -> UNKNOWN;
                default -> USER;
            };
        }
    }

    private record Key(String name, Kind kind) implements Comparable<Key> {
        private static final Comparator<Key> ORDER =
                Comparator.comparing(Key::name).thenComparing(Key::kind);

        @Override
        public int compareTo(Key other) {
            return ORDER.compare(this, other);
        }
    }

    private CountedFrame(Key key) {
        this.key = key;
    }

    static CountedFrame root() {
        return new CountedFrame(new Key("all", Kind.ROOT));
    }

    CountedFrame count(long count) {
        if (count < 0) {
            throw new IllegalArgumentException("negative count: " + count);
        }
        total = Math.addExact(total, count);
        return this;
    }

    CountedFrame child(String name, Kind kind) {
        return children.computeIfAbsent(new Key(Names.cut(name), kind), CountedFrame::new);
    }

    String name() {
        return key.name();
    }

    Kind kind() {
        return key.kind();
    }

    /** The count of this function and of all that it called. */
    long total() {
        return total;
    }

    Collection<CountedFrame> children() {
        return children.values();
    }

    /** @param path the path of this function, with a semicolon at its end; empty for the root. Restored afterwards. */
    void fold(StringBuilder path, Appendable out) throws IOException {
        long own = total;
        for (CountedFrame child : children.values()) {
            own -= child.total;
        }
        if (own > 0 && !path.isEmpty()) {
            out.append(path, 0, path.length() - 1)
                    .append(' ')
                    .append(Long.toString(own))
                    .append('\n');
        }
        int length = path.length();
        for (CountedFrame child : children.values()) {
            Escape.line(child.name(), path);
            path.append(child.kind().suffix).append(';');
            child.fold(path, out);
            path.setLength(length);
        }
    }
}
