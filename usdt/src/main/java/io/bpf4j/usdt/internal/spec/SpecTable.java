package io.bpf4j.usdt.internal.spec;

import io.bpf4j.usdt.internal.note.SiteArguments;
import io.bpf4j.usdt.internal.note.SiteColumns;
import io.bpf4j.usdt.internal.spec.SharedSpecs.Bytes;
import io.bpf4j.usdt.site.Machine;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.BiConsumer;

/**
 * The specs of one attachment: gives equal specs one ID, and releases all of them at the end. <i>Confined</i>, until it
 * is passed to the link that releases them.
 *
 * <p>Specs are compared as bytes, not as argument strings: the same text {@code -4@sym(%rip)} means different distances
 * at different sites, and the same text with another cookie is another spec; and two texts ({@code 8@%rax}, {@code
 * 8@%eax}) may give the same spec. To avoid translating ten thousand sites with only twenty argument strings, arguments
 * and cookie are looked up first: without symbols a spec depends on nothing else.
 */
public final class SpecTable {
    private final SpecLayout layout;
    private final SharedSpecs shared;
    private final Map<Long, Map<SiteArguments, Integer>> byCookie = new HashMap<>();
    private final SequencedMap<Bytes, Integer> ids = new LinkedHashMap<>();

    /** Makes an empty table for a map of this layout. */
    public SpecTable(SpecLayout layout, SharedSpecs shared) {
        this.layout = layout;
        this.shared = shared;
    }

    /** Is notified of arguments that can't be read. */
    public interface Refusals {

        /**
         * An argument can't be read.
         *
         * @param site the index of the first site with this argument, among the sites that are looked up
         * @param argument its number from 0
         */
        void refused(int site, int argument, String reason);
    }

    /**
     * The spec IDs of one probe's sites.
     *
     * @param machine the file's machine
     * @param cookie the result of {@code bpf_usdt_cookie()}
     * @param ids receives the spec IDs
     * @param at the first index
     * @throws SpecMapFullException if the map has no entry left
     */
    public void idsOf(Machine machine, SiteColumns sites, long cookie, long[] ids, int at, Refusals refusals) {
        Map<SiteArguments, Integer> known = byCookie.computeIfAbsent(cookie, _ -> new IdentityHashMap<>());
        for (int i = 0; i < sites.size(); i++) {
            SiteArguments arguments = sites.arguments(i);
            Integer id = known.get(arguments);
            if (id == null) {
                int site = i;
                List<ArgSpec> specs = specs(
                        machine, arguments, sites.address(i), (arg, reason) -> refusals.refused(site, arg, reason));
                id = idOf(layout.encode(specs, cookie));
                if (arguments.symbols().isEmpty()) {
                    known.put(arguments, id);
                }
            }
            ids[at + i] = id;
        }
    }

    private List<ArgSpec> specs(
            Machine machine, SiteArguments arguments, long address, BiConsumer<Integer, String> refused) {
        int count = arguments.args().size();
        List<ArgSpec> specs = new SpecBuilder(machine, layout).build(arguments.args(), address, arguments.symbols());
        for (int i = 0; i < specs.size(); i++) {
            String refusal = specs.get(i).refusal();
            if (refusal != null) {
                refused.accept(i, refusal);
            }
        }
        if (count > specs.size()) {
            refused.accept(specs.size(), "a BPF program can read the first " + layout.maxArgs() + " arguments only");
        }
        return specs;
    }

    /**
     * The ID of a spec: a known one, or a new one after storing the spec in the map. After a failure the IDs allocated
     * so far stay in the table, for {@link #releaseAll}.
     *
     * @throws SpecMapFullException if the map has no entry left
     */
    int idOf(byte[] spec) {
        Bytes key = new Bytes(spec);
        Integer known = ids.get(key);
        if (known != null) {
            return known;
        }
        int id = shared.acquire(key);
        if (id < 0) {
            SpecIdPool pool = shared.pool();
            throw new SpecMapFullException(pool.capacity(), pool.inUse() - ids.size(), ids.size());
        }
        ids.put(key, id);
        return id;
    }

    /** The number of different specs. */
    public int size() {
        return ids.size();
    }

    /** Releases all specs, the last first. No site may be attached any more. Idempotent. */
    public void releaseAll() {
        ids.sequencedKeySet().reversed().forEach(shared::release);
        ids.clear();
        byCookie.clear();
    }
}
