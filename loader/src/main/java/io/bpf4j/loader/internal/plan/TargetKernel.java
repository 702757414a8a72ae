package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.host.Host;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The kernel that a plan is for: what it can do, the types that it and its modules have, and the machine that it runs on.
 * Of a kernel that runs elsewhere there are types only. <i>Confined.</i>
 *
 * <p>Modules have functions to call and to attach to, and variables (Linux 5.11 with CONFIG_DEBUG_INFO_BTF_MODULES). They
 * are looked at where the kernel itself has nothing of a name. An id in a module's BTF says nothing without the module, so
 * whoever gets one gets the module's name beside it.
 */
public final class TargetKernel {
    private final @Nullable Host host;
    private final Features features;
    private final Supplier<CoreTarget> source;
    private @Nullable CoreTarget types;

    private TargetKernel(@Nullable Host host, Features features, Supplier<CoreTarget> source) {
        this.host = host;
        this.features = features;
        this.source = source;
    }

    /** The kernel of a machine, with the types that this shows when they are first needed. */
    public TargetKernel(Host host, Features features) {
        this(host, features, () -> host.types().target());
    }

    /** The kernel of a machine that has these types. */
    public TargetKernel(Host host, Features features, CoreTarget types) {
        this(host, features, () -> types);
    }

    /** One that runs elsewhere, and is taken to have every feature. */
    public static TargetKernel ofTypes(CoreTarget types) {
        return new TargetKernel(null, Features.of(_ -> Support.yes("not asked")), () -> types);
    }

    Features features() {
        return features;
    }

    /** Null if the kernel runs elsewhere. */
    @Nullable
    Host host() {
        return host;
    }

    /**
     * The types of the kernel and of its modules.
     *
     * @throws io.bpf4j.loader.error.RelocationException if it shows none
     */
    CoreTarget types() {
        CoreTarget known = types;
        if (known == null) {
            known = source.get();
            types = known;
        }
        return known;
    }

    /**
     * A type.
     *
     * @param types that have it
     * @param module whose types these are; empty for the kernel's own
     */
    record Found(Btf types, int id, String module) {
        private static Found of(Btf types, int id) {
            return new Found(types, id, types.base().isPresent() ? nameOf(types) : "");
        }
    }

    /** What has that name and kind in the kernel, or else in the first module that has it. */
    Optional<Found> find(String name, BtfKind kind) {
        return find("", name, kind);
    }

    /**
     * The same in one place.
     *
     * @param only the module that is meant, {@code vmlinux} for the kernel itself; empty for any
     */
    Optional<Found> find(String only, String name, BtfKind kind) {
        if (only.isEmpty() || only.equals("vmlinux")) {
            Btf kernel = types().kernel();
            OptionalInt id = kernel.find(name, kind);
            if (id.isPresent()) {
                return Optional.of(Found.of(kernel, id.getAsInt()));
            }
        }
        for (Btf module : types().modules()) {
            if (only.isEmpty() || only.equals(nameOf(module))) {
                OptionalInt id = module.find(name, kind);
                // Split BTF finds what its base has, too.
                if (id.isPresent() && id.getAsInt() >= module.firstId()) {
                    return Optional.of(Found.of(module, id.getAsInt()));
                }
            }
        }
        return Optional.empty();
    }

    /** Whether a module of that name shows its types. */
    boolean hasModule(String name) {
        return types().modules().stream().anyMatch(module -> nameOf(module).equals(name));
    }

    /** For messages: where was searched. */
    String searched() {
        List<Btf> modules = types().modules();
        return modules.isEmpty()
                ? "nor a module, of which none shows its types"
                : "nor one of its modules: "
                        + modules.stream().map(TargetKernel::nameOf).sorted().collect(Collectors.joining(", "));
    }

    /** Its file in /sys/kernel/btf has its name. */
    private static String nameOf(Btf module) {
        return module.source().substring(module.source().lastIndexOf('/') + 1);
    }
}
