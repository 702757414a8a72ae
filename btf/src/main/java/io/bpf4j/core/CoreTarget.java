package io.bpf4j.core;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The types that programs are relocated to: a kernel's, and its modules' if the kernel lacks a type.
 *
 * <p>Create one per kernel and share it: the name index of each BTF is built once, at the first look-up.
 * <i>Thread-safe.</i>
 *
 * <p>Tested by {@code CoreMatchingTest}.
 */
public final class CoreTarget {
    private final Btf kernel;
    private final Supplier<List<Btf>> modules;
    private volatile @Nullable List<Btf> loadedModules;

    private CoreTarget(Btf kernel, Supplier<List<Btf>> modules) {
        this.kernel = kernel;
        this.modules = modules;
    }

    /** The types of a kernel without modules, or of a BTF file. */
    public static CoreTarget of(Btf kernel) {
        return new CoreTarget(kernel, List::of);
    }

    /**
     * The types of a kernel with modules.
     *
     * @param modules split BTFs on top of {@code kernel}; called once, when the kernel first lacks a type
     */
    public static CoreTarget of(Btf kernel, Supplier<List<Btf>> modules) {
        return new CoreTarget(kernel, modules);
    }

    /** The kernel's BTF. */
    public Btf kernel() {
        return kernel;
    }

    /** A type of the target. */
    record Candidate(Btf btf, int id) {
        @Override
        public String toString() {
            return btf.kind(id).toString().toLowerCase(java.util.Locale.ROOT) + " " + btf.name(id) + " [" + id + "] of "
                    + btf.source();
        }
    }

    /**
     * Types with that essential name and a kind compatible with {@code kind}. Modules are searched only if the kernel
     * has no such type: a module repeats a few of the kernel's types, and such a copy would make the result ambiguous.
     *
     * @param budget is charged for all types with that name, of any kind
     */
    List<Candidate> candidates(String name, BtfKind kind, RelocationBudget budget) {
        List<Candidate> found = new ArrayList<>();
        collect(kernel, name, kind, 0, budget, found);
        if (found.isEmpty()) {
            for (Btf module : modules()) {
                collect(module, name, kind, module.firstId(), budget, found);
            }
        }
        return found;
    }

    private static void collect(
            Btf btf, String name, BtfKind kind, int from, RelocationBudget budget, List<Candidate> found) {
        int[] ids = btf.idsNamedEssentially(name);
        budget.spend(ids.length);
        for (int id : ids) {
            if (id >= from && TypeCompatibility.areKindsCompatible(btf.kind(id), kind)) {
                found.add(new Candidate(btf, id));
            }
        }
    }

    /** The BTFs of its modules, each on top of the kernel's; read when first needed. */
    public List<Btf> modules() {
        List<Btf> loaded = loadedModules;
        if (loaded == null) {
            loaded = List.copyOf(modules.get());
            loadedModules = loaded;
        }
        return loaded;
    }
}
