package io.bpf4j.loader.internal.types;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A kernel's own types, read and indexed once: several megabytes, shared by all objects that are relocated against
 * them. A failure is not cached: the files may be mounted later, or become readable. <i>Thread-safe.</i>
 *
 * <p>The kernel exports its types (Linux 5.4 with CONFIG_DEBUG_INFO_BTF). If it doesn't, for example without sysfs, or
 * if {@code pahole -J} added the types to an older kernel, its ELF file may have them: {@code vmlinux}, at one of the
 * paths where libbpf looks (btf__load_vmlinux_btf() in its btf.c).
 */
public final class KernelBtf {
    private final Host host;
    private final Path folder;
    private final Path vmlinux;
    private @Nullable Btf kernel; // guarded by this

    private KernelBtf(Host host) {
        this.host = host;
        this.folder = host.sys().resolve("kernel/btf");
        this.vmlinux = folder.resolve("vmlinux");
    }

    /** The types of a machine's kernel; the same object each time. */
    public static KernelBtf of(Host host) {
        return host.known(KernelBtf.class, KernelBtf::new);
    }

    /**
     * The types of the kernel, and of the modules that are loaded when they are first needed. So each loaded object has
     * its own target.
     *
     * @throws RelocationException if they are not found, or the data that the kernel exports is not BTF
     */
    public CoreTarget target() {
        return CoreTarget.of(types(), this::modules);
    }

    /**
     * The types of the kernel without those of its modules.
     *
     * @throws RelocationException if they are not found, or the data that the kernel exports is not BTF
     */
    public Btf types() {
        return find().orElseThrow(() -> new RelocationException("this kernel has no BTF at " + vmlinux
                + " (Linux >= 5.4 with CONFIG_DEBUG_INFO_BTF has it), and none of these files has BTF: "
                + String.join(", ", vmlinuxPaths()) + "; pass the BTF of this kernel to the loader instead"));
    }

    /**
     * The types of the kernel without those of its modules; empty if they are not found.
     *
     * @throws RelocationException if the data that the kernel exports is not BTF
     */
    public synchronized Optional<Btf> find() {
        if (kernel == null) {
            kernel = search().orElse(null);
        }
        return Optional.ofNullable(kernel);
    }

    private Optional<Btf> search() {
        if (Files.isReadable(vmlinux)) {
            return Optional.of(read(vmlinux, null));
        }
        for (String path : vmlinuxPaths()) {
            Path file = host.root().resolve(path.substring(1));
            if (Files.isReadable(file) && Files.isRegularFile(file)) {
                try {
                    return Optional.of(BtfFile.read(file));
                } catch (IOException | MalformedDataException e) {
                    // Most of these files have no BTF; the next one may have it.
                }
            }
        }
        return Optional.empty();
    }

    /** The paths of a kernel's ELF file in distributions, source trees and debug packages. */
    private List<String> vmlinuxPaths() {
        String release = host.release();
        return List.of(
                "/boot/vmlinux-" + release,
                "/lib/modules/" + release + "/vmlinux-" + release,
                "/lib/modules/" + release + "/build/vmlinux",
                "/usr/lib/modules/" + release + "/kernel/vmlinux",
                "/usr/lib/debug/boot/vmlinux-" + release,
                "/usr/lib/debug/boot/vmlinux-" + release + ".debug",
                "/usr/lib/debug/lib/modules/" + release + "/vmlinux");
    }

    /**
     * The types of a loaded module, on top of the kernel's; the kernel's own if the name is empty. Empty if no module
     * of that name exports types.
     */
    public Optional<Btf> ofModule(String name) {
        if (name.isEmpty()) {
            return find();
        }
        FileName module = FileName.of(name);
        if (!module.isPlain()) {
            return Optional.empty();
        }
        Path file = module.below(folder);
        return !file.equals(vmlinux) && Files.isReadable(file) ? ofLoaded(file) : Optional.empty();
    }

    /** The types of a module; empty if it was unloaded since its file was seen. */
    private Optional<Btf> ofLoaded(Path file) {
        try {
            return Optional.of(read(file, types()));
        } catch (RelocationException e) {
            if (e.getCause() instanceof NoSuchFileException) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static Btf read(Path file, @Nullable Btf base) {
        try {
            ByteView bytes = ByteView.of(file.toString(), Files.readAllBytes(file), ByteOrder.nativeOrder());
            return base == null ? Btf.parse(bytes) : Btf.parse(bytes, base);
        } catch (IOException | MalformedDataException e) {
            throw new RelocationException("can't read " + file + ": " + e.getMessage(), e);
        }
    }

    /** Types of the modules that are loaded now, each on top of the kernel's (Linux 5.11). */
    private List<Btf> modules() {
        List<Btf> modules = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return modules;
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(f -> !f.equals(vmlinux)).sorted().toList()) {
                ofLoaded(file).ifPresent(modules::add);
            }
        } catch (IOException e) {
            throw new RelocationException("can't list " + folder + ": " + e.getMessage(), e);
        }
        return modules;
    }
}
