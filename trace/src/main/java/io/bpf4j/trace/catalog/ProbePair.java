package io.bpf4j.trace.catalog;

import java.util.Optional;

/**
 * Two probes of one provider that mark the beginning and the end of something. <i>Immutable.</i>
 *
 * <p>Tested by {@code CatalogParserTest}.
 *
 * @param begin the name of the probe at the beginning
 * @param end the name of the probe at the end; several pairs may share it
 * @param argument the name of an integer or pointer argument of both probes, whose equal values tell which end belongs
 *     to which beginning in a process; empty if the same thread passes both. If a thread passes the beginning again
 *     before the end (as in nested calls), the earlier beginning has no end.
 */
public record ProbePair(String begin, String end, Optional<String> argument) {}
