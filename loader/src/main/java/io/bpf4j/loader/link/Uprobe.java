package io.bpf4j.loader.link;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A function or an instruction of a program or library, through a perf event; {@code SEC("uprobe")}, {@code
 * SEC("uretprobe")}.
 *
 * <p>The name of a function is looked up in the file's symbols, and in a stripped file's separate debug symbols:
 * {@code .gnu_debugdata}, or the file that the build ID or debug link names below /usr/lib/debug. The name may have
 * a version, as in {@code memcpy@GLIBC_2.2.5}; without a version it means the default version. C++ and Rust
 * functions have their mangled names. These are refused, with the reason: a name that the file doesn't have, a name
 * of several functions, and an indirect function (IFUNC), because it is not the code that runs.
 */
public sealed interface Uprobe extends AttachTarget {
    /**
     * The start of a function, in every process.
     *
     * @param file {@link LibrarySearch} finds one by name. It may be stored uncompressed in an archive: {@code
     *     app.apk!/lib/x86_64/libx.so}
     */
    static Uprobe entry(Path file, String function) {
        return new UprobeData(TargetFile.of(file), Optional.of(function), 0, false, 0, 0, OptionalInt.empty());
    }

    /** The return of a function; {@code file} as for {@link #entry}. */
    static Uprobe exit(Path file, String function) {
        return new UprobeData(TargetFile.of(file), Optional.of(function), 0, true, 0, 0, OptionalInt.empty());
    }

    /** An instruction, by its offset in the file in bytes. */
    static Uprobe at(TargetFile file, long offset) {
        return new UprobeData(file, Optional.empty(), offset, false, 0, 0, OptionalInt.empty());
    }

    /** The return of the function that starts at an offset in the file, in bytes. */
    static Uprobe exitAt(TargetFile file, long offset) {
        return new UprobeData(file, Optional.empty(), offset, true, 0, 0, OptionalInt.empty());
    }

    TargetFile file();

    /** Empty if the target is given by its offset in the file. */
    Optional<String> function();

    /** Bytes from the start of the function; without a function from the start of the file. */
    long offset();

    /** Whether to fire when the function returns. */
    boolean returns();

    /** File offset of the semaphore in bytes; 0 for none. */
    long semaphore();

    long cookie();

    /** The process; empty for all. */
    OptionalInt pid();

    /**
     * An instruction of the function, by its distance from the function's start in bytes.
     *
     * @throws IllegalArgumentException for the return of a function
     */
    default Uprobe withOffset(long bytes) {
        return new UprobeData(file(), function(), bytes, returns(), semaphore(), cookie(), pid());
    }

    /**
     * With a semaphore: a 16-bit counter that the kernel increments while a probe is attached (Linux 4.20).
     *
     * @param fileOffset in bytes; 0 for none
     */
    default Uprobe withSemaphore(long fileOffset) {
        return new UprobeData(file(), function(), offset(), returns(), fileOffset, cookie(), pid());
    }

    default Uprobe withCookie(long cookie) {
        return new UprobeData(file(), function(), offset(), returns(), semaphore(), cookie, pid());
    }

    /** In one process only. The probe does not fire before the process maps the file. */
    default Uprobe inProcess(int pid) {
        return new UprobeData(file(), function(), offset(), returns(), semaphore(), cookie(), OptionalInt.of(pid));
    }
}

record UprobeData(
        TargetFile file,
        Optional<String> function,
        long offset,
        boolean returns,
        long semaphore,
        long cookie,
        OptionalInt pid)
        implements Uprobe {
    UprobeData {
        if (returns && function.isPresent() && offset != 0) {
            throw new IllegalArgumentException(
                    "a return probe can't have an offset: offset " + offset + " in " + function.get());
        }
        TargetArguments.requirePid(pid);
    }

    @Override
    public String description() {
        String place = file + "+0x" + Long.toHexString(offset);
        return function.map(name -> TargetArguments.returnPrefix(returns) + name
                        + (offset == 0 ? "" : "+0x" + Long.toHexString(offset)) + " in "
                        + file)
                .orElse((returns ? "uretprobe at " : "uprobe at ") + place);
    }
}
