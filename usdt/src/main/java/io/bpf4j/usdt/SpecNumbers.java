package io.bpf4j.usdt;

import io.bpf4j.usdt.internal.arg.ArgGrammar;
import io.bpf4j.usdt.internal.attach.ObjectSpecs;
import io.bpf4j.usdt.internal.spec.ArgSpec;
import io.bpf4j.usdt.internal.spec.SpecBuilder;
import io.bpf4j.usdt.internal.spec.SpecLayout;
import io.bpf4j.usdt.internal.spec.SpecTable;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtSite;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Files the specs of one attachment, and tells each site's number. <b>Confined</b>.
 *
 * <p>Specs are equal if their bytes are ({@link SpecTable}); but ten thousand sites with twenty argument strings need
 * not be translated ten thousand times to find that out. Without symbols a spec depends on text and cookie only, and
 * that is looked up first.
 */
final class SpecNumbers {
    private static final int MAX_PROBLEMS = 100;

    private final ObjectSpecs specs;
    private final SpecTable table;
    private final boolean strict;
    private final Map<Key, Integer> known = new HashMap<>();
    private final List<String> problems = new ArrayList<>();

    private record Key(Machine machine, String arguments, long cookie) {}

    SpecNumbers(ObjectSpecs specs, SpecTable table, boolean strict) {
        this.specs = specs;
        this.table = table;
        this.strict = strict;
    }

    /**
     * The spec ID of a site.
     *
     * @throws UsdtException if an argument can't be read and that was asked to be fatal
     */
    int of(UsdtProbe probe, UsdtSite site, long cookie) {
        Machine machine = probe.binary().machine();
        boolean textDecides = site.symbols().isEmpty();
        Key key = new Key(machine, site.arguments(), cookie);
        Integer number = textDecides ? known.get(key) : null;
        if (number == null) {
            number = table.idOf(specs.layout().encode(spec(machine, probe, site), cookie));
            if (textDecides) {
                known.put(key, number);
            }
        }
        return number;
    }

    /** One line for each argument that can't be read. */
    List<String> problems() {
        return problems;
    }

    private List<ArgSpec> spec(Machine machine, UsdtProbe probe, UsdtSite site) {
        SpecLayout layout = specs.layout();
        Optional<ArgGrammar> grammar = ArgGrammar.of(machine);
        if (grammar.isEmpty()) {
            for (int i = 0; i < site.args().size(); i++) {
                refuse(probe, site, i, "the machine's argument strings can't be read");
            }
            return List.of();
        }
        List<ArgSpec> args = new SpecBuilder(grammar.get(), layout).build(site.args(), site.address(), site.symbols());
        for (int i = 0; i < args.size(); i++) {
            String refusal = args.get(i).refusal();
            if (refusal != null) {
                refuse(probe, site, i, refusal);
            }
        }
        if (site.args().size() > args.size()) {
            refuse(
                    probe,
                    site,
                    args.size(),
                    "a BPF program can read the first " + layout.maxArgs() + " arguments only");
        }
        return args;
    }

    private void refuse(UsdtProbe probe, UsdtSite site, int argument, String reason) {
        String problem = probe.fullName() + " in " + probe.binary().name() + " at 0x" + Long.toHexString(site.address())
                + ": argument " + argument + " can't be read: " + reason;
        if (strict) {
            throw new UsdtException("attach " + problem + " (refused because of the strict option)");
        }
        if (problems.size() < MAX_PROBLEMS) {
            problems.add(problem);
        }
    }
}
