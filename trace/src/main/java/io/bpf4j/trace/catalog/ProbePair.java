package io.bpf4j.trace.catalog;

import java.util.Optional;

/**
 * Two probes of one provider between which something lasts. <i>Immutable.</i>
 *
 * <p>Tested by {@code CatalogParserTest}.
 *
 * @param begin the name of the probe at the beginning
 * @param end the name of the probe at the end; it may end several
 * @param argument what tells which end belongs to which beginning in a process: an integer or pointer argument, which
 *     both probes have and which is equal; empty if the same thread passes both. If a thread begins again before the end
 *     (calls that nest), the earlier beginning has no end.
 */
public record ProbePair(String begin, String end, Optional<String> argument) {}
