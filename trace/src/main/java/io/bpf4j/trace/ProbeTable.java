package io.bpf4j.trace;

import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.event.TextArgument;
import io.bpf4j.trace.event.TracedProbe;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Numbers the probes of a stream of events from 1. The number is the USDT cookie, which tells which probe fired. An
 * event whose spec was not found has cookie 0, which is not the number of a probe.
 *
 * <p>The compiler may copy a probe's code, and an argument that is an {@code int} at one site can be a constant of 8
 * unsigned bytes at another. A record has the bits of an argument, not its type, so sites with different types get
 * different numbers: the probe is split. <i>Thread-safe</i>: one thread attaches probes, another reads their events.
 */
final class ProbeTable {
    private final Catalog catalog;
    /** Replaced as a whole, so that reading events needs no lock. */
    private volatile TracedProbe[] traced = {};

    private final Map<UsdtProbe, Long> numbers = new HashMap<>();

    /** @param catalog names the arguments */
    ProbeTable(Catalog catalog) {
        this.catalog = catalog;
    }

    /**
     * Numbers the probes that don't have a number yet. The same probe in a second process keeps its number.
     *
     * @return the probes, each once, split if their sites differ
     */
    synchronized List<UsdtProbe> add(List<UsdtProbe> probes) {
        Set<UsdtProbe> parts = new LinkedHashSet<>();
        List<TracedProbe> all = new ArrayList<>(List.of(traced));
        for (UsdtProbe probe : probes) {
            split(probe).forEach((types, part) -> {
                if (numbers.putIfAbsent(part, all.size() + 1L) == null) {
                    all.add(new TracedProbe(
                            probe.binary().name(),
                            probe.provider(),
                            probe.name(),
                            types,
                            catalog.find(probe.provider(), probe.name(), types.size())
                                    .filter(known -> known.arguments().size() == types.size())));
                }
                parts.add(part);
            });
        }
        traced = all.toArray(TracedProbe[]::new);
        return List.copyOf(parts);
    }

    /** The cookie of a probe that {@link #add} returned. */
    synchronized long number(UsdtProbe part) {
        Long number = numbers.get(part);
        if (number == null) {
            throw new IllegalArgumentException("probe " + part.fullName() + " was never added");
        }
        return number;
    }

    /** The probe with this cookie; null if no probe has it, as for 0. */
    @Nullable
    TracedProbe probe(long number) {
        TracedProbe[] all = traced;
        return number > 0 && number <= all.length ? all[(int) number - 1] : null;
    }

    private static Map<List<ValueType.Numeric>, UsdtProbe> split(UsdtProbe probe) {
        Map<List<ValueType.Numeric>, List<UsdtSite>> sites = new LinkedHashMap<>();
        for (UsdtSite site : probe.sites()) {
            sites.computeIfAbsent(types(site), _ -> new ArrayList<>()).add(site);
        }
        Map<List<ValueType.Numeric>, UsdtProbe> parts = new LinkedHashMap<>();
        sites.forEach((types, same) -> parts.put(types, probe.withSites(same)));
        return parts;
    }

    private static List<ValueType.Numeric> types(UsdtSite site) {
        return site.args().stream()
                .limit(TextArgument.MAX_ARGS)
                .map(ProbeTable::type)
                .toList();
    }

    /** The type of an argument in an event, where the program extends it to 64 bits; a float is in the low 4 bytes. */
    private static ValueType.Numeric type(UsdtArg arg) {
        if (arg.isFloat()) {
            return new ValueType.FloatingPoint(arg.size() == Float.BYTES ? Float.BYTES : Double.BYTES);
        }
        return arg.signed() ? ValueType.Int.S64 : ValueType.Int.U64;
    }
}
