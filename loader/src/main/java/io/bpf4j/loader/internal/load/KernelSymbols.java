package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.BtfKind;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.internal.linux.Kallsyms;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Kernel symbols that an object refers to: typed variables and functions by their BTF id, others by the address that
 * /proc/kallsyms gives. What is weak and missing becomes 0. <i>Confined.</i>
 */
final class KernelSymbols {
    /** An address, or a BTF id in the kernel's types; 0 for a weak one that is missing. */
    record Resolved(ExternSpec extern, long address, int btfId) {
        boolean isMissing() {
            return address == 0 && btfId == 0;
        }
    }

    private final ObjectSpec spec;
    private final Supplier<CoreTarget> kernel;

    KernelSymbols(ObjectSpec spec, Supplier<CoreTarget> kernel) {
        this.spec = spec;
        this.kernel = kernel;
    }

    Map<String, Resolved> resolve() {
        Map<String, Resolved> resolved = new HashMap<>();
        Set<String> addresses = spec.externs().stream()
                .filter(e -> e.kind() == ExternSpec.Kind.KSYM)
                .map(ExternSpec::name)
                .collect(Collectors.toSet());
        Map<String, Long> found = addresses.isEmpty() ? Map.of() : addresses(addresses);
        for (ExternSpec extern : spec.externs()) {
            switch (extern.kind()) {
                case KCONFIG -> {}
                case KSYM -> {
                    long address = found.getOrDefault(extern.name(), 0L);
                    require(extern, address != 0, "the symbol " + extern.name() + " in /proc/kallsyms");
                    resolved.put(extern.name(), new Resolved(extern, address, 0));
                }
                case KSYM_TYPED -> resolved.put(extern.name(), typed(extern, BtfKind.VAR));
                case KFUNC -> resolved.put(extern.name(), typed(extern, BtfKind.FUNC));
            }
        }
        return resolved;
    }

    private Map<String, Long> addresses(Set<String> names) {
        try {
            return Kallsyms.running().addresses(names);
        } catch (IOException e) {
            if (spec.externs().stream().allMatch(x -> x.kind() != ExternSpec.Kind.KSYM || x.weak())) {
                return Map.of();
            }
            throw new RelocationException(spec.source() + ": read /proc/kallsyms: " + e.getMessage(), e);
        }
    }

    private Resolved typed(ExternSpec extern, BtfKind kind) {
        OptionalInt id = find(extern, kind);
        require(
                extern,
                id.isPresent(),
                "a " + (kind == BtfKind.FUNC ? "function" : "variable") + " " + extern.name() + " in the kernel's BTF");
        return new Resolved(extern, 0, id.orElse(0));
    }

    private OptionalInt find(ExternSpec extern, BtfKind kind) {
        try {
            return kernel.get().kernel().find(extern.name(), kind);
        } catch (RelocationException e) {
            // A kernel that shows no types of its own has none that this extern could be.
            if (extern.weak()) {
                return OptionalInt.empty();
            }
            throw e;
        }
    }

    private void require(ExternSpec extern, boolean present, String what) {
        if (!present && !extern.weak()) {
            throw new RelocationException(spec.source() + ": needs " + what
                    + ", which this kernel has not; declare it __weak if the object can do without");
        }
    }
}
