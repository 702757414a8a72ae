package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.EssentialName;
import io.bpf4j.core.CoreException;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.core.TypeCompatibility;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.internal.linux.Kallsyms;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Kernel symbols that an object refers to: typed variables and functions by their BTF id, others by the address that
 * /proc/kallsyms gives. What is weak and missing becomes 0. <i>Confined.</i>
 *
 * <p>A name alone says little, so the kernel's type must go with the declared one; a program that reads an int where a
 * struct is would be wrong without anybody noticing. Of a function a program may declare several shapes for kernels that
 * changed it, {@code func___old} and {@code func___new}, all weak: the one that fits is there, the others are missing.
 */
final class KernelSymbols {
    /**
     * An address, or a BTF id in the kernel's types; 0 for a weak one that is missing.
     *
     * @param module whose BTF has the id; null for the kernel's own
     */
    record Resolved(
            ExternSpec extern,
            long address,
            int btfId,
            @Nullable Btf module) {
        Resolved(ExternSpec extern, long address, int btfId) {
            this(extern, address, btfId, null);
        }

        boolean isMissing() {
            return address == 0 && btfId == 0;
        }
    }

    private final ObjectSpec spec;
    private final Supplier<CoreTarget> kernel;

    private final Kallsyms kallsyms;

    private final KernelModules modules;

    KernelSymbols(ObjectSpec spec, Supplier<CoreTarget> kernel, KernelModules modules, Kallsyms kallsyms) {
        this.spec = spec;
        this.kernel = kernel;
        this.modules = modules;
        this.kallsyms = kallsyms;
    }

    Map<String, Resolved> resolve() {
        Map<String, Resolved> resolved = new HashMap<>();
        Set<String> addresses = spec.externs().stream()
                .filter(e -> e.kind() == ExternSpec.Kind.KSYM)
                .map(ExternSpec::name)
                .collect(Collectors.toSet());
        Map<String, List<Long>> found = addresses.isEmpty() ? Map.of() : addresses(addresses);
        for (ExternSpec extern : spec.externs()) {
            if (extern.kind() == ExternSpec.Kind.KSYM) {
                resolved.put(extern.name(), untyped(extern, found.getOrDefault(extern.name(), List.of())));
            } else {
                typed(extern).ifPresent(symbol -> resolved.put(extern.name(), symbol));
            }
        }
        return resolved;
    }

    /** What has a type, and so is in BTF; empty for other externs. */
    Optional<Resolved> typed(ExternSpec extern) {
        return switch (extern.kind()) {
            case KCONFIG, KSYM -> Optional.empty();
            case KSYM_TYPED -> Optional.of(variable(extern));
            case KFUNC -> Optional.of(function(extern));
        };
    }

    private Map<String, List<Long>> addresses(Set<String> names) {
        try {
            return kallsyms.addresses(names);
        } catch (IOException e) {
            if (spec.externs().stream().allMatch(x -> x.kind() != ExternSpec.Kind.KSYM || x.weak())) {
                return Map.of();
            }
            throw new RelocationException(spec.source() + ": read " + kallsyms.file() + ": " + e.getMessage(), e);
        }
    }

    /** An address may well be 0: some per-CPU symbols have it, and all do where the kernel hides them. */
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
        require(extern, !addresses.isEmpty(), "the symbol " + extern.name() + " in /proc/kallsyms");
        long address = addresses.isEmpty() ? 0 : addresses.getFirst();
        if (address == 0 && !addresses.isEmpty()) {
            System.getLogger(KernelSymbols.class.getName())
                    .log(
                            System.Logger.Level.WARNING,
                            spec.source() + ": the address of the symbol " + extern.name() + " reads as 0 in"
                                    + " /proc/kallsyms; if all do, the kernel hides them: it takes CAP_SYSLOG, or"
                                    + " sysctl kernel.kptr_restrict=0");
        }
        return new Resolved(extern, address, 0);
    }

    private Resolved variable(ExternSpec extern) {
        Optional<KernelModules.Found> found = find(extern, extern.name(), BtfKind.VAR);
        require(extern, found.isPresent(), "a variable " + extern.name() + " in the kernel's BTF");
        if (found.isEmpty()) {
            return new Resolved(extern, 0, 0);
        }
        Btf types = found.get().module();
        int declared = types.type(found.get().id()) instanceof BtfType.Var var ? var.type() : 0;
        if (!goTogether(extern.typeId(), types, declared)) {
            throw new RelocationException(spec.source() + ": the kernel's variable " + extern.name() + " is "
                    + described(types, declared) + ", but the object declares it as "
                    + described(own(), extern.typeId()));
        }
        return resolved(extern, found.get());
    }

    private Resolved function(ExternSpec extern) {
        String name = EssentialName.of(extern.name());
        Optional<KernelModules.Found> found = find(extern, name, BtfKind.FUNC);
        require(extern, found.isPresent(), "a function " + name + " in the kernel's BTF");
        if (found.isEmpty()) {
            return new Resolved(extern, 0, 0);
        }
        Btf types = found.get().module();
        int declared = own().type(extern.typeId()) instanceof BtfType.Func func ? func.type() : 0;
        int defined = types.type(found.get().id()) instanceof BtfType.Func func ? func.type() : 0;
        if (!goTogether(declared, types, defined)) {
            require(extern, false, "a function " + name + " of the parameters that it declares");
            return new Resolved(extern, 0, 0);
        }
        return resolved(extern, found.get());
    }

    private static Resolved resolved(ExternSpec extern, KernelModules.Found found) {
        boolean inModule = found.module().base().isPresent();
        return new Resolved(extern, 0, found.id(), inModule ? found.module() : null);
    }

    private Btf own() {
        return spec.btf().orElseThrow();
    }

    private boolean goTogether(int declared, Btf types, int defined) {
        try {
            return TypeCompatibility.declared(own(), declared, types, defined);
        } catch (CoreException e) {
            throw new RelocationException(spec.source() + ": " + e.getMessage(), e);
        }
    }

    /** {@code STRUCT rq}. */
    private static String described(Btf types, int id) {
        int resolved = types.resolve(id);
        String name = types.name(resolved);
        return name.isEmpty() ? types.kind(resolved).name() : types.kind(resolved) + " " + name;
    }

    /** In the kernel, or else in its modules. */
    private Optional<KernelModules.Found> find(ExternSpec extern, String name, BtfKind kind) {
        try {
            Btf types = kernel.get().kernel();
            OptionalInt id = types.find(name, kind);
            return id.isPresent()
                    ? Optional.of(new KernelModules.Found(types, id.getAsInt()))
                    : modules.find("", name, kind);
        } catch (RelocationException e) {
            // A kernel that shows no types of its own has none that this extern could be.
            if (extern.weak()) {
                return Optional.empty();
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
