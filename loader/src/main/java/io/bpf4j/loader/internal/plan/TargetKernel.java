package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.linux.Kallsyms;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The kernel that a plan is for: its features, its types and those of its modules, and its machine. For a kernel other
 * than the running one only types are known. <i>Confined.</i>
 *
 * <p>Modules have functions to call and to attach to, and variables (Linux 5.11 with CONFIG_DEBUG_INFO_BTF_MODULES).
 * Modules are searched if the kernel itself does not have a name. An id in a module's BTF is meaningless without the
 * module, so it always comes with the module's name.
 *
 * <p>Tested by {@code LoadPlanTest} and {@code KernelFunctionCallsTest}.
 */
public final class TargetKernel {
    private final @Nullable Host host;
    private final @Nullable Kallsyms symbols;
    private final Features features;
    private final Supplier<CoreTarget> source;
    private @Nullable CoreTarget types;

    private TargetKernel(
            @Nullable Host host, @Nullable Kallsyms symbols, Features features, Supplier<CoreTarget> source) {
        this.host = host;
        this.symbols = symbols;
        this.features = features;
        this.source = source;
    }

    /** The kernel of a machine; its types are read when they are first needed. */
    public TargetKernel(Host host, Features features) {
        this(host, Kallsyms.of(host), features, () -> KernelBtf.of(host).target());
    }

    /** The kernel of a machine that has these types. */
    public TargetKernel(Host host, Features features, CoreTarget types) {
        this(host, Kallsyms.of(host), features, () -> types);
    }

    /**
     * A kernel that is only compared with. It is assumed to have every feature.
     *
     * @param symbols its table of symbols; null if it is unknown, as for kernels that are not running
     */
    public static TargetKernel ofTypes(CoreTarget types, @Nullable Kallsyms symbols) {
        return new TargetKernel(null, symbols, Features.of(_ -> new Support.Present("not probed")), () -> types);
    }

    Features features() {
        return features;
    }

    /** The kernel's table of symbols; null if it is unknown. */
    @Nullable
    Kallsyms symbols() {
        return symbols;
    }

    /** Null if nothing is loaded into this kernel. */
    @Nullable
    Host host() {
        return host;
    }

    /**
     * The types of the kernel and of its modules.
     *
     * @throws io.bpf4j.loader.error.RelocationException if the kernel has no BTF
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
     * @param module that the types belong to; empty for the kernel itself
     */
    record Found(Btf types, int id, String module) {
        private static Found of(Btf types, int id) {
            return new Found(types, id, types.base().isPresent() ? nameOf(types) : "");
        }
    }

    /** The type with that name and kind in the kernel, or else in the first module that has it. */
    Optional<Found> find(String name, BtfKind kind) {
        return find("", name, kind);
    }

    /**
     * The same lookup in one BTF.
     *
     * @param only the module to search, {@code vmlinux} for the kernel itself; empty for any
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
                // A look-up in split BTF also finds types of its base.
                if (id.isPresent() && id.getAsInt() >= module.firstId()) {
                    return Optional.of(Found.of(module, id.getAsInt()));
                }
            }
        }
        return Optional.empty();
    }

    /** Whether a module of that name has BTF. */
    boolean hasModule(String name) {
        return types().modules().stream().anyMatch(module -> nameOf(module).equals(name));
    }

    /** The places that were searched, for messages. */
    String searched() {
        List<Btf> modules = types().modules();
        return modules.isEmpty()
                ? "and no module has BTF"
                : "nor has any of its modules: "
                        + modules.stream().map(TargetKernel::nameOf).sorted().collect(Collectors.joining(", "));
    }

    /** Its file in /sys/kernel/btf has the module's name. */
    private static String nameOf(Btf module) {
        return module.source().substring(module.source().lastIndexOf('/') + 1);
    }
}
