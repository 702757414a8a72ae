package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.core.CoreException;
import io.bpf4j.core.CoreRelocator;
import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.internal.linux.Kallsyms;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Kernel symbols that an object refers to: typed variables and functions by their BTF id, others by their address in
 * /proc/kallsyms. A weak symbol that is missing becomes 0. <i>Confined.</i>
 *
 * <p>The kernel's type must match the declared type: otherwise a program could read an int from a struct without an
 * error. A program may declare several variants of a function for kernels that changed it, {@code func___old} and
 * {@code func___new}, all weak: the variant that matches is resolved, the others are missing.
 */
record KernelSymbols(ObjectSpec spec, TargetKernel kernel) {
    /**
     * An address, or a BTF id in the kernel's types; 0 for a weak one that is missing.
     *
     * @param module whose BTF has the id; empty for the kernel's own
     */
    record Resolved(long address, int btfId, String module) {
        static final Resolved MISSING = new Resolved(0, 0, "");

        boolean isMissing() {
            return address == 0 && btfId == 0;
        }
    }

    /** All symbols by name; a symbol that can't be resolved is a problem, and is not in the result. */
    Map<String, Resolved> resolve(Problems problems) {
        Map<String, List<Long>> found =
                problems.attempt(Finding.Kind.SYMBOL, this::addresses).orElseGet(Map::of);
        Map<String, Resolved> resolved = new HashMap<>();
        for (ExternSpec extern : spec.externs()) {
            if (extern.kind() != ExternSpec.Kind.KCONFIG) {
                resolved.put(
                        extern.name(),
                        problems.attempt(Finding.Kind.SYMBOL, () -> resolve(extern, found))
                                .orElse(Resolved.MISSING));
            }
        }
        return resolved;
    }

    private Resolved resolve(ExternSpec extern, Map<String, List<Long>> addresses) {
        return switch (extern.kind()) {
            case KSYM -> untyped(extern, addresses.getOrDefault(extern.name(), List.of()));
            case KSYM_TYPED -> variable(extern);
            case KFUNC -> function(extern);
            case KCONFIG -> throw new IllegalArgumentException(extern.name() + " is a kernel option, not a symbol");
        };
    }

    private Map<String, List<Long>> addresses() {
        Set<String> names = spec.externs().stream()
                .filter(e -> e.kind() == ExternSpec.Kind.KSYM)
                .map(ExternSpec::name)
                .collect(Collectors.toSet());
        Kallsyms symbols = kernel.symbols();
        if (names.isEmpty()) {
            return Map.of();
        }
        if (symbols == null) {
            // BTF does not list symbols without a type; the symbol most likely exists.
            return names.stream().collect(Collectors.toMap(name -> name, _ -> List.of(1L)));
        }
        try {
            return symbols.addresses(names);
        } catch (IOException e) {
            if (spec.externs().stream().allMatch(x -> x.kind() != ExternSpec.Kind.KSYM || x.weak())) {
                return Map.of();
            }
            throw new RelocationException(spec.source() + ": read " + symbols.file() + ": " + e.getMessage(), e);
        }
    }

    /** An address of 0 is valid: some per-CPU symbols have it, and all symbols do if the kernel hides addresses. */
    private Resolved untyped(ExternSpec extern, List<Long> addresses) {
        if (addresses.size() > 1) {
            throw new RelocationException(spec.source() + ": the symbol " + extern.name() + " is ambiguous: "
                    + addresses.stream()
                            .limit(4)
                            .map(a -> "0x" + Long.toHexString(a))
                            .collect(Collectors.joining(", "))
                    + (addresses.size() > 4 ? " and more" : "") + " in /proc/kallsyms; declare it with its type, if the"
                    + " kernel's BTF has it");
        }
        if (addresses.isEmpty() && !extern.weak() && !hasVariables()) {
            throw new RelocationException(spec.source() + ": needs the symbol " + extern.name()
                    + " in /proc/kallsyms, where this kernel lists functions, but no variables"
                    + " (CONFIG_KALLSYMS_ALL is off); declare it __weak if the object works without it");
        }
        require(extern, !addresses.isEmpty(), "the symbol " + extern.name() + " in /proc/kallsyms");
        long address = addresses.isEmpty() ? 0 : addresses.getFirst();
        if (address == 0 && !addresses.isEmpty() && kernel.host() != null) {
            LoaderLog.warn(spec.source() + ": the address of the symbol " + extern.name() + " is 0 in /proc/kallsyms;"
                    + " if all addresses are 0, the kernel hides them: reading them needs"
                    + " CAP_SYSLOG, or sysctl kernel.kptr_restrict=0");
        }
        return new Resolved(address, 0, "");
    }

    /** Whether a symbol of a variable could be in /proc/kallsyms; true if that can't be found out. */
    private boolean hasVariables() {
        Kallsyms symbols = kernel.symbols();
        try {
            return symbols == null || symbols.hasVariables();
        } catch (IOException e) {
            return true;
        }
    }

    private Resolved variable(ExternSpec extern) {
        Optional<TargetKernel.Found> found = find(extern, extern.name(), BtfKind.VAR);
        require(extern, found.isPresent(), "a variable " + extern.name() + " in the kernel's BTF");
        if (found.isEmpty()) {
            return Resolved.MISSING;
        }
        Btf types = found.get().types();
        int declared = types.type(found.get().id()) instanceof BtfType.Var var ? var.type() : 0;
        if (!areCompatible(extern.typeId(), types, declared)) {
            throw new RelocationException(spec.source() + ": the kernel's variable " + extern.name() + " is "
                    + describe(types, declared) + ", but the object declares it as "
                    + describe(objectTypes(), extern.typeId()));
        }
        return resolved(found.get());
    }

    private Resolved function(ExternSpec extern) {
        String name = Btf.essentialName(extern.name());
        Optional<TargetKernel.Found> found = find(extern, name, BtfKind.FUNC);
        require(extern, found.isPresent(), "a function " + name + " in the kernel's BTF");
        if (found.isEmpty()) {
            return Resolved.MISSING;
        }
        Btf types = found.get().types();
        int declared = objectTypes().type(extern.typeId()) instanceof BtfType.Func func ? func.type() : 0;
        int defined = types.type(found.get().id()) instanceof BtfType.Func func ? func.type() : 0;
        if (!areCompatible(declared, types, defined)) {
            require(extern, false, "a function " + name + " with the declared parameters");
            return Resolved.MISSING;
        }
        return resolved(found.get());
    }

    private static Resolved resolved(TargetKernel.Found found) {
        return new Resolved(0, found.id(), found.module());
    }

    private Btf objectTypes() {
        return spec.btf().orElseThrow();
    }

    private boolean areCompatible(int declared, Btf types, int defined) {
        try {
            return CoreRelocator.areCompatible(objectTypes(), declared, types, defined);
        } catch (CoreException e) {
            throw new RelocationException(spec.source() + ": " + e.getMessage(), e);
        }
    }

    /** {@code STRUCT rq}. */
    private static String describe(Btf types, int id) {
        int resolved = types.resolve(id);
        String name = types.name(resolved);
        return name.isEmpty() ? types.kind(resolved).name() : types.kind(resolved) + " " + name;
    }

    /** In the kernel, or else in its modules. */
    private Optional<TargetKernel.Found> find(ExternSpec extern, String name, BtfKind kind) {
        try {
            return kernel.find(name, kind);
        } catch (RelocationException e) {
            // A kernel without BTF has no type for this extern.
            if (extern.weak()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private void require(ExternSpec extern, boolean present, String symbol) {
        if (!present && !extern.weak()) {
            throw new RelocationException(spec.source() + ": needs " + symbol
                    + ", which this kernel does not have; declare it __weak if the object works without it");
        }
    }
}
