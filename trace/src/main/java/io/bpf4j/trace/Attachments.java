package io.bpf4j.trace;

import io.bpf4j.loader.Program;
import io.bpf4j.loader.link.Link;
import io.bpf4j.sys.kernel.ProgramInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The targets of a question's links, and the BPF programs that have run for them. <i>Thread-safe</i>, without the lock
 * of the question, which is held while probes are attached to or detached from.
 *
 * <p>Tested by {@code UsageOnKernelTest}.
 */
final class Attachments {
    private final Map<Link, Attached> attached = new ConcurrentHashMap<>();

    /** The kernel wants a program for each attach type. */
    private final Set<Program> programs = ConcurrentHashMap.newKeySet();

    /**
     * The target of a link.
     *
     * @param names the names of probes and functions
     * @param sites the number of sites in files
     */
    private record Attached(Set<String> names, int sites) {}

    /** Adds a program that runs without a probe. */
    void add(Program program) {
        programs.add(program);
    }

    void add(Link link, Program program, Stream<String> names, int sites) {
        programs.add(program);
        attached.put(link, new Attached(names.collect(Collectors.toSet()), sites));
    }

    void remove(Link link) {
        attached.remove(link);
    }

    void clear() {
        attached.clear();
    }

    /** @throws IllegalStateException if the programs are closed */
    RunningProgram.Usage usage(OptionalInt processes) {
        List<Attached> now = List.copyOf(attached.values());
        Duration runTime = Duration.ZERO;
        long runs = 0;
        for (Program program : programs) {
            ProgramInfo info = program.info();
            runTime = runTime.plus(info.runTime());
            runs += info.runCount();
        }
        return new RunningProgram.Usage(
                (int) now.stream()
                        .flatMap(link -> link.names().stream())
                        .distinct()
                        .count(),
                now.stream().mapToInt(Attached::sites).sum(),
                processes,
                runTime,
                runs);
    }
}
