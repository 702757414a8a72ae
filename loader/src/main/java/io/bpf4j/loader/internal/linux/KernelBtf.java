package io.bpf4j.loader.internal.linux;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.FileName;
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
 *
 * <p>The kernel shows them itself (Linux 5.4 with CONFIG_DEBUG_INFO_BTF). Where it doesn't, for instance since there is no
 * sysfs, or since somebody gave an older kernel its types with {@code pahole -J}, the file that it was built as may have
 * them: {@code vmlinux}, in one of the places where libbpf looks (btf__load_vmlinux_btf() in its btf.c).
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
     * @throws RelocationException if they are nowhere, or what the kernel shows is no BTF
     */
    public static CoreTarget running() {
        return CoreTarget.of(types(), KernelBtf::modules);
    }

    /**
     * The types of the kernel without those of its modules.
     *
     * @throws RelocationException if they are nowhere, or what the kernel shows is no BTF
     */
    public static Btf types() {
        return find().orElseThrow(() -> new RelocationException("this kernel shows no BTF of itself at " + VMLINUX
                + " (Linux >= 5.4 with CONFIG_DEBUG_INFO_BTF does), and there is no vmlinux file with BTF in "
                + String.join(", ", places(KernelConfig.release()))
                + "; give the loader the BTF of this kernel instead"));
    }

    /**
     * The types of the kernel without those of its modules; empty if they are nowhere.
     *
     * @throws RelocationException if what the kernel shows is no BTF
     */
    public static synchronized Optional<Btf> find() {
        if (kernel == null) {
            kernel = find(Path.of("/"), KernelConfig.release()).orElse(null);
        }
        return Optional.ofNullable(kernel);
    }

    /**
     * Those of a kernel.
     *
     * @param root of the file system, or a folder that stands for it
     * @param release as uname(2) says it
     */
    static Optional<Btf> find(Path root, String release) {
        Path shown = root.resolve(Path.of("/").relativize(VMLINUX));
        if (Files.isReadable(shown)) {
            return Optional.of(read(shown, null));
        }
        for (String place : places(release)) {
            Path file = root.resolve(place.substring(1));
            if (Files.isReadable(file) && Files.isRegularFile(file)) {
                try {
                    return Optional.of(BtfFile.read(file));
                } catch (IOException | MalformedDataException e) {
                    // Most are without BTF; the next may have it.
                }
            }
        }
        return Optional.empty();
    }

    /** Where distributions, developers and debug packages put the file that a kernel was built as. */
    private static List<String> places(String release) {
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
     * The types of a loaded module, on top of the kernel's; the kernel's own if the name is empty. Empty if no module of
     * that name shows its types.
     */
    public static Optional<Btf> ofModule(String name) {
        if (name.isEmpty()) {
            return find();
        }
        FileName module = FileName.of(name);
        if (!module.isPlain()) {
            return Optional.empty();
        }
        Path file = module.below(FOLDER);
        return !file.equals(VMLINUX) && Files.isReadable(file) ? Optional.of(read(file, types())) : Optional.empty();
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
        if (!Files.isDirectory(FOLDER)) {
            return modules;
        }
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
