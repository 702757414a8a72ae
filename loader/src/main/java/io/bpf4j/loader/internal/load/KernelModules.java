package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.internal.sys.BtfInfo;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.ObjectCommand;
import io.bpf4j.loader.kernel.Errno;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the kernel's modules have: functions to call and to attach to, and variables (Linux 5.11 with
 * CONFIG_DEBUG_INFO_BTF_MODULES). Looked at where the kernel itself has nothing of a name.
 *
 * <p>An id in a module's BTF says nothing without the module, so the kernel wants a descriptor of that BTF beside it, and
 * gives one by the number that the BTF has in the system. Types are read from /sys/kernel/btf, where the modules have
 * names; the number is searched for by the name. <i>Confined</i>; the descriptors are the loading's to close.
 */
final class KernelModules {
    private final @Nullable Kernel kernel;
    private final Supplier<CoreTarget> types;
    private final Map<String, Fd> opened = new LinkedHashMap<>();

    KernelModules(@Nullable Kernel kernel, Supplier<CoreTarget> types) {
        this.kernel = kernel;
        this.types = types;
    }

    /** To look things up, without descriptors. */
    static KernelModules withoutKernel(Supplier<CoreTarget> types) {
        return new KernelModules(null, types);
    }

    /**
     * A type and the BTF that has it.
     *
     * @param module the module's BTF; the kernel's own where nobody has looked further
     */
    record Found(Btf module, int id) {}

    /**
     * The first module that has something of that name and kind.
     *
     * @param only the one module that is meant; empty for any
     */
    Optional<Found> find(String only, String name, BtfKind kind) {
        for (Btf module : types.get().modules()) {
            if (only.isEmpty() || only.equals(nameOf(module))) {
                OptionalInt id = module.find(name, kind);
                // Split BTF finds what its base has, too.
                if (id.isPresent() && id.getAsInt() >= module.firstId()) {
                    return Optional.of(new Found(module, id.getAsInt()));
                }
            }
        }
        return Optional.empty();
    }

    /** The module of that name, if it shows its types. */
    Optional<Btf> find(String name) {
        return types.get().modules().stream()
                .filter(module -> nameOf(module).equals(name))
                .findFirst();
    }

    /** For messages: where was searched. */
    String searched() {
        List<Btf> modules = types.get().modules();
        return modules.isEmpty()
                ? "nor a module, of which none shows its types"
                : "nor one of its modules: "
                        + modules.stream().map(KernelModules::nameOf).sorted().collect(Collectors.joining(", "));
    }

    /** Its file in /sys/kernel/btf has its name. */
    static String nameOf(Btf module) {
        return module.source().substring(module.source().lastIndexOf('/') + 1);
    }

    /**
     * A descriptor of a module's BTF, the same each time.
     *
     * @throws RelocationException if the module is gone
     */
    Fd descriptor(Btf module) {
        return opened.computeIfAbsent(nameOf(module), this::open);
    }

    /** The descriptors that were asked for. */
    List<Fd> descriptors() {
        return List.copyOf(opened.values());
    }

    void close() {
        List<Fd> all = new ArrayList<>(opened.values());
        opened.clear();
        all.reversed().forEach(Fd::close);
    }

    private Fd open(String module) {
        Kernel kernel = Objects.requireNonNull(this.kernel, "a kernel");
        int id = 0;
        for (OptionalInt next = nextId(kernel, id); next.isPresent(); next = nextId(kernel, id)) {
            id = next.getAsInt();
            Fd fd;
            try {
                fd = kernel.execute(new ObjectCommand.FdById(ObjectCommand.Kind.BTF, id));
            } catch (SyscallException e) {
                if (e.errno() == Errno.ENOENT) {
                    continue; // gone in between
                }
                throw e;
            }
            if (isOf(kernel, fd, module)) {
                return fd;
            }
            fd.close();
        }
        throw new RelocationException("the kernel shows types of a module \"" + module
                + "\", and has no BTF of that name loaded: it went away in between");
    }

    private static OptionalInt nextId(Kernel kernel, int after) {
        return kernel.execute(new ObjectCommand.NextId(ObjectCommand.Kind.BTF, after));
    }

    private static boolean isOf(Kernel kernel, Fd fd, String module) {
        try {
            BtfInfo info = kernel.execute(new ObjectCommand.InfoOfBtf(fd));
            return info.ofKernel() && info.name().equals(module);
        } catch (RuntimeException e) {
            fd.close();
            throw e;
        }
    }
}
