package io.bpf4j.trace.stack;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Stacks with their counts, as a tree from the outermost function to the innermost. It can be written as folded lines,
 * which other tools read, or as a flame graph. <i>Confined.</i>
 *
 * {@snippet lang = "java":
 * StackCounts stacks = StackCounts.create();
 * stacks.add("postgres", symbolizer.user(pid, user), symbolizer.kernel(kernel), 12);
 * stacks.html(out, "where queries wait");
 * }
 *
 * <p>Names come from files and processes of other owners and may have any characters and any length. So they are
 * escaped in all outputs, and cut after 1,024 characters.
 *
 * <p>Tested by {@code StackCountsTest} and {@code FlameGraphTest}.
 */
public final class StackCounts {
    /**
     * The maximum number of frames of a stack. The kernel records 127 by default (sysctl kernel.perf_event_max_stack).
     */
    private static final int MAX_FRAMES = 1024;

    private final CountedFrame root = CountedFrame.root();

    private StackCounts() {}

    /** A tree without stacks. */
    public static StackCounts create() {
        return new StackCounts();
    }

    /**
     * Adds a stack.
     *
     * @param name the outermost frame, such as the name of the process; empty for none
     * @param user the user part, innermost first, as {@link Symbolizer} returns it; may be empty
     * @param kernel the kernel part, innermost first; may be empty
     * @param count how often the stack was counted, or another amount, such as nanoseconds; not negative
     */
    public void add(String name, List<Frame> user, List<Frame> kernel, long count) {
        List<Frame> innermostFirst = new ArrayList<>(kernel);
        innermostFirst.addAll(user);
        CountedFrame at = root.count(count);
        if (!name.isEmpty()) {
            at = at.child(name, CountedFrame.Kind.ROOT).count(count);
        }
        int deepest = Math.max(0, innermostFirst.size() - MAX_FRAMES);
        for (Frame frame :
                innermostFirst.subList(deepest, innermostFirst.size()).reversed()) {
            at = at.child(frame.label(), CountedFrame.Kind.of(frame)).count(count);
        }
    }

    /** The sum of all counts. */
    public long total() {
        return root.total();
    }

    /**
     * Writes a line for each stack: its frames from the outermost on, separated by semicolons, and its count: {@code
     * postgres;main;ServerLoop;read_[k] 12}. Many tools read this format. As they expect, {@code _[k]} follows the
     * names of the kernel's functions, and {@code _[j]} those of functions that a just-in-time compiler made.
     * Semicolons, backslashes and unprintable characters are written as {@code \x3b} and the like, so that each stack
     * is one line. Functions with the same caller are sorted by name.
     */
    public void folded(Appendable out) throws IOException {
        root.fold(new StringBuilder(), out);
    }

    /**
     * Writes a flame graph as one SVG file, which needs no other file. A rectangle is a function, as wide as its share
     * of the counts, above the function that called it. In a browser, a click enlarges a function and those that it
     * calls, and Ctrl-F searches for a regular expression.
     *
     * @param title shown above the graph
     */
    public void svg(Appendable out, String title) throws IOException {
        svg(out, title, List.of());
    }

    /**
     * Writes a flame graph as one SVG file with lines below the graph, such as when and how it was recorded.
     *
     * @param title shown above the graph
     * @param lines not broken, so about 170 characters of each are visible
     */
    public void svg(Appendable out, String title, List<String> lines) throws IOException {
        new FlameGraph(root, title, lines).svg(out);
    }

    /** Writes the flame graph as an SVG element for an HTML page, followed by its script. A page can have only one. */
    public void figure(Appendable out, String title) throws IOException {
        new FlameGraph(root, title, List.of()).figure(out);
    }

    /** Writes the flame graph as one HTML page, which needs no other file. */
    public void html(Appendable out, String title) throws IOException {
        new FlameGraph(root, title, List.of()).html(out);
    }
}
