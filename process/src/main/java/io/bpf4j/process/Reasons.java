package io.bpf4j.process;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Reasons why events may be missing. The first few of each kind are kept, and a note that there are more. So a user
 * whose processes cause any number of one kind can neither fill the memory nor hide the reasons of another kind.
 * <i>Thread-safe.</i>
 *
 * <p>Tested by {@code ReasonsTest}.
 */
public final class Reasons {
    private static final int MAX_OF_KIND = 5;

    private final Set<Diagnostic> reasons = new LinkedHashSet<>();

    /** Adds a reason; one that is known already changes nothing. */
    public synchronized void add(Diagnostic reason) {
        Kind kind = reason.kind();
        boolean full = reasons.stream().filter(known -> known.kind() == kind).count() >= MAX_OF_KIND;
        reasons.add(
                full && !reasons.contains(reason) ? new Diagnostic(kind, "", "and there are further reasons") : reason);
    }

    /** Removes the reasons of a kind. */
    public synchronized void remove(Kind kind) {
        reasons.removeIf(reason -> reason.kind() == kind);
    }

    public synchronized boolean isEmpty() {
        return reasons.isEmpty();
    }

    /** A copy, in the order in which they were added. */
    public synchronized List<Diagnostic> toList() {
        return List.copyOf(reasons);
    }
}
