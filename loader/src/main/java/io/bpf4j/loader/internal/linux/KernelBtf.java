package io.bpf4j.loader.internal.linux;

import io.bpf4j.btf.Btf;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.RelocationException;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The running kernel's own types, read and indexed once per process: several megabytes, which every object that
 * relocates against them shares. <i>Thread-safe.</i>
 */
public final class KernelBtf {
    private static final Path FOLDER = Path.of("/sys/kernel/btf");
    private static final Path VMLINUX = FOLDER.resolve("vmlinux");

    private KernelBtf() {}

    private static @Nullable Btf kernel;

    /**
     * The types: those of the kernel, and of the modules that are loaded when these are first asked for. So each object that
     * is loaded has a target of its own.
     *
     * @throws RelocationException if this kernel doesn't show them: Linux 5.4 with CONFIG_DEBUG_INFO_BTF does
     */
    public static CoreTarget running() {
        if (!isReadable()) {
            throw new RelocationException(
                    "this kernel shows no BTF of itself at " + VMLINUX
                            + " (Linux >= 5.4 with CONFIG_DEBUG_INFO_BTF does); give the loader the BTF of this kernel instead");
        }
        return CoreTarget.of(types(), KernelBtf::modules);
    }

    /** Whether this kernel shows its types to this process. */
    public static boolean isReadable() {
        return Files.isReadable(VMLINUX);
    }

    /**
     * The types of the kernel without those of its modules.
     *
     * @throws RelocationException if they are not {@linkplain #isReadable readable}, or are no BTF
     */
    public static synchronized Btf types() {
        Btf read = kernel;
        if (read == null) {
            read = read(VMLINUX, null);
            kernel = read;
        }
        return read;
    }

    /**
     * The types of a loaded module, on top of the kernel's; the kernel's own if the name is empty. Empty if no module of
     * that name shows its types.
     */
    public static Optional<Btf> ofModule(String name) {
        if (name.isEmpty()) {
            return isReadable() ? Optional.of(types()) : Optional.empty();
        }
        Path file = FOLDER.resolve(name);
        return name.indexOf('/') < 0 && !file.equals(VMLINUX) && Files.isReadable(file)
                ? Optional.of(read(file, types()))
                : Optional.empty();
    }

    private static Btf read(Path file, @Nullable Btf base) {
        try {
            ByteView bytes = ByteView.of(file.toString(), Files.readAllBytes(file), ByteOrder.nativeOrder());
            return base == null ? Btf.parse(bytes) : Btf.parse(bytes, base);
        } catch (IOException | MalformedDataException e) {
            throw new RelocationException("read " + file + ": " + e.getMessage(), e);
        }
    }

    /** Types of the modules that are loaded now, each on top of the kernel's (Linux 5.11). */
    private static List<Btf> modules() {
        List<Btf> modules = new ArrayList<>();
        try (Stream<Path> files = Files.list(FOLDER)) {
            for (Path file : files.filter(f -> !f.equals(VMLINUX)).sorted().toList()) {
                modules.add(read(file, types()));
            }
        } catch (IOException e) {
            throw new RelocationException("list " + FOLDER + ": " + e.getMessage(), e);
        }
        return modules;
    }
}
