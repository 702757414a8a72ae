package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.internal.glob.Glob;
import io.bpf4j.loader.link.Link;
import io.bpf4j.process.UprobeInodes;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * The order in which the probes of a latency are attached: what ends a pair before what begins one.
 *
 * <p>A begin and an end may have one address: a USDT probe is the first instruction of a function, or the linker has
 * folded two functions. Each hit then is a begin and its end, so the begin has to run first. Else the end would be
 * paired with the begin of the hit before. The kernel runs the uprobes of an address in the reverse order of their
 * registration: {@code consumer_add()} of kernel/events/uprobes.c puts a new one at the head of the list, before and
 * since Linux 6.12, which made it an RCU list; and uprobe_multi registers its sites in their order. The same holds for
 * the returns from one function.
 *
 * <p>A call begins before it returns, so entries and returns have no order among each other.
 *
 * <p><i>Confined</i> to the lock of its answer. Tested by {@code PairsAtOneAddressTest}.
 */
final class PairOrder {
    private final ProbeNumbers numbers;
    private final List<FunctionProbe> functions;
    private final List<Begun> begun = new ArrayList<>();

    /** @param returns whether the probe fires at the return of the function at that offset */
    private record Position(long offset, boolean returns) {}

    /** A site in a file. */
    record Site(FileIdentity file, Path path, long offset, boolean returns) {
        private Position position() {
            return new Position(offset, returns);
        }

        /** Whether both are at the same address in a process that runs the file. */
        private boolean meets(Site other) {
            if (!position().equals(other.position())) {
                return false;
            }
            return file.equals(other.file)
                    || !UprobeInodes.shared(Host.running(), Map.of(file, path, other.file, other.path))
                            .isEmpty();
        }
    }

    /** An attachment with begins. */
    private record Begun(Link link, OptionalInt pid, Map<Position, List<Site>> sites) {
        boolean isIn(OptionalInt process) {
            return pid.isEmpty() || process.isEmpty() || pid.equals(process);
        }

        boolean meets(Site end) {
            return sites.getOrDefault(end.position(), List.of()).stream().anyMatch(end::meets);
        }
    }

    PairOrder(ProbeNumbers numbers, List<FunctionProbe> functions) {
        this.numbers = numbers;
        this.functions = functions;
    }

    /** Whether functions are attached after the USDT probes: unless one of them ends pairs. */
    boolean functionsLast() {
        return !numbers.arePairs() || functions.stream().allMatch(numbers::mustRunFirst);
    }

    /** The probes in the order in which they are attached. */
    List<UsdtProbe> ordered(List<UsdtProbe> probes) {
        return probes.stream()
                .sorted(Comparator.comparing(numbers::mustRunFirst))
                .toList();
    }

    /** The addresses at which probes end pairs. */
    List<Site> ends(List<UsdtProbe> probes) {
        return numbers.arePairs() ? sites(probes.stream().filter(probe -> !numbers.mustRunFirst(probe))) : List.of();
    }

    /** The addresses at which functions end pairs. */
    List<Site> endsOf(List<FunctionProbe> probes) {
        return numbers.arePairs() ? sitesOf(probes.stream().filter(probe -> !numbers.mustRunFirst(probe))) : List.of();
    }

    /** Notes that probes were attached. */
    void attached(Link link, OptionalInt pid, List<UsdtProbe> probes) {
        note(link, pid, sites(probes.stream().filter(numbers::mustRunFirst)));
    }

    /** Notes that functions were attached. */
    void attachedFunctions(AttachedFunctions link, OptionalInt pid, List<FunctionProbe> probes) {
        note(link, pid, sitesOf(probes.stream().filter(numbers::mustRunFirst)));
    }

    private void note(Link link, OptionalInt pid, List<Site> begins) {
        if (!begins.isEmpty()) {
            Map<Position, List<Site>> sites = new HashMap<>();
            begins.forEach(site -> sites.computeIfAbsent(site.position(), _ -> new ArrayList<>())
                    .add(site));
            begun.add(new Begun(link, pid, sites));
        }
    }

    /**
     * The functions that begin pairs at the site of one of these ends, and that were attached before it: they have to be
     * attached again after it.
     *
     * @throws IllegalArgumentException if a USDT probe begins pairs there
     */
    List<AttachedFunctions> tooEarly(List<Site> ends, OptionalInt pid) {
        begun.removeIf(attachment -> attachment.link().isClosed());
        List<AttachedFunctions> early = new ArrayList<>();
        for (Begun attachment : begun) {
            if (attachment.isIn(pid) && ends.stream().anyMatch(attachment::meets)) {
                if (!(attachment.link() instanceof AttachedFunctions attached)) {
                    throw new IllegalArgumentException("a probe that ends the latency has the same address as one that"
                            + " begins it and that is attached already ("
                            + attachment.link().description()
                            + "): the kernel would run the end first; attach to the end first, or to both at once");
                }
                early.add(attached);
            }
        }
        return early;
    }

    /** Whether all attached functions that begin pairs may fire in this process; true without a process. */
    boolean areAllIn(OptionalInt pid) {
        return begun.stream().allMatch(attachment -> attachment.isIn(pid));
    }

    private static List<Site> sites(Stream<UsdtProbe> probes) {
        return probes.flatMap(probe -> probe.sites().stream()
                        .map(site -> new Site(
                                probe.binary().identity(), probe.binary().path(), site.fileOffset(), false)))
                .toList();
    }

    private static List<Site> sitesOf(Stream<FunctionProbe> functions) {
        return functions
                .map(FunctionProbeData.class::cast)
                .flatMap(PairOrder::found)
                .flatMap(function -> function.start().stream()
                        .map(start -> new Site(start.identity(), start.file(), start.offset(), function.returns())))
                .toList();
    }

    /** The same function, or those of its name if its site is not known yet. */
    private static Stream<FunctionProbeData> found(FunctionProbeData function) {
        if (function.start().isPresent()) {
            return Stream.of(function);
        }
        try {
            return FunctionProbe.matching(function.file(), Glob.quoted(function.function()), function.returns())
                    .stream()
                    .map(FunctionProbeData.class::cast);
        } catch (IOException | MalformedDataException e) {
            return Stream.of(); // attaching reports it
        }
    }
}
