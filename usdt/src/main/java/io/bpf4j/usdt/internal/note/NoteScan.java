package io.bpf4j.usdt.internal.note;

import io.bpf4j.sys.Diagnostic;
import java.util.List;

/**
 * The notes of a file. <i>Immutable.</i>
 *
 * @param probes the probes with a valid note, in the order of their first notes
 * @param problems one for each invalid note, up to a limit, and one for the rest
 */
public record NoteScan(List<Probe> probes, List<Diagnostic> problems) {
    public NoteScan {
        probes = List.copyOf(probes);
        problems = List.copyOf(problems);
    }

    /**
     * The notes of one name.
     *
     * @param problems the problems of sites of this name, which can't be used or may never fire; and one for
     *     problems beyond the limit
     */
    public record Probe(String provider, String name, SiteColumns sites, List<Diagnostic> problems) {
        public Probe {
            problems = List.copyOf(problems);
        }
    }
}
