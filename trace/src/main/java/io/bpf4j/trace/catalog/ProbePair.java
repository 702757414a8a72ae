package io.bpf4j.trace.catalog;

import java.util.List;

/**
 * Two probes of one provider between which something lasts. <i>Immutable.</i>
 *
 * <p>Two events belong together if they come from the same process and agree in everything that is named here.
 *
 * <p>Tested by {@code CatalogParserTest}.
 *
 * @param begin the name of the probe at the beginning
 * @param end the name of the probe at the end; it may end several
 * @param byThread whether the same thread must pass both
 * @param byArguments the names of the arguments that must be equal; both probes have them
 */
public record ProbePair(String begin, String end, boolean byThread, List<String> byArguments) {
    public ProbePair {
        byArguments = List.copyOf(byArguments);
    }
}
