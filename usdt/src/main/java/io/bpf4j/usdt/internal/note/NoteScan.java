package io.bpf4j.usdt.internal.note;

import java.util.List;

/**
 * The notes of a file. <b>Immutable</b>.
 *
 * @param probes those with a sound note, in the order of their first ones
 * @param problems one line for each note that isn't sound, up to a limit, and one for the rest
 */
public record NoteScan(List<Probe> probes, List<String> problems) {
    public NoteScan {
        probes = List.copyOf(probes);
        problems = List.copyOf(problems);
    }

    /**
     * The notes of one name.
     *
     * @param problems those of the file that are about sites of this name, which can't be used or may never fire; and one
     *     for what is beyond the limit
     */
    public record Probe(String provider, String name, SiteColumns sites, List<String> problems) {
        public Probe {
            problems = List.copyOf(problems);
        }
    }
}
