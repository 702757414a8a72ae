package io.bpf4j.loader.feature;

import io.bpf4j.btf.BtfKind;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.linux.Kallsyms;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The features that a kernel shows by files, such as those of sysfs. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code FeaturesTest}.
 */
record KernelFiles(Host host) {
    private static final List<String> WRAPPERS =
            List.of("__x64_sys_bpf", "__arm64_sys_bpf", "__s390x_sys_bpf", "__riscv_sys_bpf");

    Support number(OptionalInt number, String attribute) {
        return number.isPresent()
                ? new Support.Present("sysfs has " + attribute)
                : missing("bus", "sysfs does not have " + attribute);
    }

    /** A file of sysfs. */
    Support file(String path) {
        Path file = host.sys().resolve(path);
        if (Files.isReadable(file)) {
            return new Support.Present(file + " exists");
        }
        return Files.exists(file)
                ? unreadable(file, Errno.EACCES, "this user may not read it")
                : missing("kernel", file + " does not exist");
    }

    /** A container may have no sysfs, or an empty one: then the result is unknown. */
    private Support missing(String directoryName, String reason) {
        Path directory = host.sys().resolve(directoryName);
        return Files.isDirectory(directory)
                ? new Support.Absent(reason)
                : unreadable(directory, Errno.ENOENT, "sysfs is not mounted here");
    }

    /**
     * Entry points of system calls have the architecture in their name if a wrapper exists. The kernel's BTF is read
     * and indexed for other reasons, too; the symbol list would be read only for this. BTF without the function may be
     * reduced, or written by tools that omit functions: then the result is unknown.
     */
    Support syscallWrapper() {
        for (String name : WRAPPERS) {
            if (type(name, BtfKind.FUNC).isPresent()) {
                return new Support.Present("the kernel's BTF has " + name);
            }
        }
        Path symbols = Kallsyms.of(host).file();
        try {
            return Kallsyms.of(host).addresses(Set.copyOf(WRAPPERS)).keySet().stream()
                    .findFirst()
                    .<Support>map(name -> new Support.Present("the kernel has " + name))
                    .orElse(new Support.Absent("the kernel has no entry point such as __x64_sys_bpf"));
        } catch (AccessDeniedException e) {
            return unreadable(symbols, Errno.EACCES, "this user may not read it");
        } catch (NoSuchFileException e) {
            return unreadable(symbols, Errno.ENOENT, "proc is not mounted here, or the kernel has no KALLSYMS");
        } catch (IOException e) {
            return unreadable(symbols, Errno.EIO, e.toString());
        }
    }

    /** A type of the kernel's BTF; empty if it has none of that name, or the BTF can't be read. */
    OptionalInt type(String name, BtfKind kind) {
        try {
            return KernelBtf.of(host).find().map(btf -> btf.find(name, kind)).orElse(OptionalInt.empty());
        } catch (RelocationException e) {
            return OptionalInt.empty();
        }
    }

    private static Support unreadable(Path file, Errno errno, String remedy) {
        return new Support.Unknown("read " + file, errno.number(), Optional.of(remedy));
    }
}
