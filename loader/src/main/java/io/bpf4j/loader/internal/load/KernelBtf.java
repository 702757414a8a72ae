package io.bpf4j.loader.internal.load;

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
import java.util.stream.Stream;

/**
 * The running kernel's own types, read and indexed once per process: several megabytes, which every object that
 * relocates against them shares. <i>Thread-safe.</i>
 */
final class KernelBtf {
    private static final Path FOLDER = Path.of("/sys/kernel/btf");
    private static final Path VMLINUX = FOLDER.resolve("vmlinux");

    private KernelBtf() {}

    private static final class Running {
        static final Btf KERNEL = read(VMLINUX, null);
    }

    /**
     * The types: those of the kernel, and of the modules that are loaded when these are first asked for. So each object that
     * is loaded has a target of its own.
     *
     * @throws RelocationException if this kernel doesn't show them: Linux 5.4 with CONFIG_DEBUG_INFO_BTF does
     */
    static CoreTarget running() {
        if (!Files.isReadable(VMLINUX)) {
            throw new RelocationException(
                    "this kernel shows no BTF of itself at " + VMLINUX
                            + " (Linux >= 5.4 with CONFIG_DEBUG_INFO_BTF does); give the loader the BTF of this kernel instead");
        }
        return CoreTarget.of(Running.KERNEL, KernelBtf::modules);
    }

    private static Btf read(Path file, @org.jspecify.annotations.Nullable Btf base) {
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
                modules.add(read(file, Running.KERNEL));
            }
        } catch (IOException e) {
            throw new RelocationException("list " + FOLDER + ": " + e.getMessage(), e);
        }
        return modules;
    }
}
