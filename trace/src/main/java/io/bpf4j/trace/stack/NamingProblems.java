package io.bpf4j.trace.stack;

import io.bpf4j.sys.Diagnostic;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The reasons why frames have no names. What processes and files can make it keep is limited. <i>Confined.</i>
 *
 * <p>Tested by {@code SymbolizerTest}.
 */
final class NamingProblems {
    /** The most problems that are told one by one, and that are kept to count the others. */
    private static final int MAX_PROBLEMS = 100;

    private static final int MAX_COUNTED_PROBLEMS = 1 << 12;

    private final Set<Diagnostic> problems = new LinkedHashSet<>();

    /** Processes that ended before their mappings were read. */
    private final Set<Integer> gone = new LinkedHashSet<>();

    /** Processes of which only the mappings of the files with the probes are known. */
    private final Set<Integer> partlyKnown = new LinkedHashSet<>();

    /** Notes that a process ended before all of its mappings were read. */
    void recordEnd(ProcessCode process) {
        if (process.isUnknown()) {
            gone.add(process.pid());
        } else {
            gone.remove(process.pid());
            partlyKnown.add(process.pid());
        }
    }

    /** Adds what a process says of itself. */
    void addAll(ProcessCode process) {
        process.problems().forEach(problem -> add("process " + process.pid(), problem));
    }

    /** @param subject a process, a file, or {@code kernel} */
    void add(String subject, String problem) {
        if (problems.size() < MAX_COUNTED_PROBLEMS) {
            problems.add(new Diagnostic(Diagnostic.Kind.UNNAMED, subject, problem));
        }
    }

    /** As {@link Symbolizer#problems} returns them. */
    List<Diagnostic> toList() {
        List<Diagnostic> all = new ArrayList<>();
        ended(gone, "").ifPresent(all::add);
        ended(partlyKnown, ": only functions of the files with the probes have names")
                .ifPresent(all::add);
        problems.stream().limit(MAX_PROBLEMS).forEach(all::add);
        if (problems.size() > MAX_PROBLEMS) {
            String more =
                    (problems.size() < MAX_COUNTED_PROBLEMS ? "" : "at least ") + (problems.size() - MAX_PROBLEMS);
            all.add(new Diagnostic(
                    Diagnostic.Kind.UNNAMED, "", "there are further reasons why functions have no names: " + more));
        }
        return List.copyOf(all);
    }

    private static Optional<Diagnostic> ended(Set<Integer> pids, String consequence) {
        if (pids.isEmpty()) {
            return Optional.empty();
        }
        boolean one = pids.size() == 1;
        String who = one ? "process " + pids.iterator().next() : pids.size() + " processes";
        String names = " ended before bpf4j looked up the names of " + (one ? "its" : "their") + " stacks";
        return Optional.of(new Diagnostic(Diagnostic.Kind.UNNAMED, one ? who : "", who + names + consequence));
    }
}
