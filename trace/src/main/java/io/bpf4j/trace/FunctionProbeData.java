package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The one implementation of {@link FunctionProbe}.
 *
 * @param place where the function starts; empty if it is looked up by its name when it is attached
 */
record FunctionProbeData(Path file, String function, boolean returns, Optional<Place> place) implements FunctionProbe {
    /**
     * The start of a function.
     *
     * @param file the file that the kernel opens; for a library stored in an archive, the archive
     * @param identity of the file whose symbols were read
     * @param offset in the file, in bytes
     * @param oneOfMany whether it was found by a wildcard, and may be left out
     */
    record Place(Path file, FileIdentity identity, long offset, boolean oneOfMany) {}

    /** The entry or the return of the same function. */
    FunctionProbeData withReturns(boolean returns) {
        return new FunctionProbeData(file, function, returns, place);
    }

    @Override
    public String toString() {
        return fullName() + " in " + file;
    }
}
