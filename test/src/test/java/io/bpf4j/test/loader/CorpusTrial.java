package io.bpf4j.test.loader;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.test.support.Requirement;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * How a program of the corpus is tried.
 *
 * @param needs what the kernel must have
 * @param before what is set before the load
 * @param run makes it run
 */
record CorpusTrial(List<Requirement> needs, Consumer<BpfLoader> before, Run run) {
    /** Makes a program run. */
    @FunctionalInterface
    interface Run {
        /** The line of the check that failed; 0 if none did. */
        int failedLine(BpfObject object, Program program) throws Exception;
    }

    static CorpusTrial of(Run run, Requirement... needs) {
        return new CorpusTrial(List.of(needs), loader -> {}, run);
    }

    CorpusTrial needing(List<Requirement> more) {
        return new CorpusTrial(Stream.concat(needs.stream(), more.stream()).toList(), before, run);
    }

    CorpusTrial before(Consumer<BpfLoader> configuration) {
        return new CorpusTrial(needs, configuration, run);
    }
}
