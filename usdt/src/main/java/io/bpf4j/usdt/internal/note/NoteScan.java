package io.bpf4j.usdt.internal.note;

import java.util.List;

/**
 * The notes of a file. <b>Immutable</b>.
 *
 * @param sites of the notes that are sound, in the order of the file
 * @param problems one line for each note that isn't, up to a limit, and one for the rest
 */
public record NoteScan(List<NoteSite> sites, List<String> problems) {
    public NoteScan {
        sites = List.copyOf(sites);
        problems = List.copyOf(problems);
    }
}
