package io.bpf4j.usdt.internal.note;

import java.util.List;

/**
 * The notes of a file. <b>Immutable</b>.
 *
 * @param sites of the notes that are sound, in the order of the file
 * @param problems one line for each note that isn't, up to a limit, and one for the rest
 * @param ofProbes those of the problems that are about one probe, and for each probe one for what is beyond the limit
 */
public record NoteScan(List<NoteSite> sites, List<String> problems, List<OfProbe> ofProbes) {
    /** A site that can't be used, or may never fire. */
    public record OfProbe(String provider, String name, String problem) {}

    public NoteScan {
        sites = List.copyOf(sites);
        problems = List.copyOf(problems);
        ofProbes = List.copyOf(ofProbes);
    }
}
