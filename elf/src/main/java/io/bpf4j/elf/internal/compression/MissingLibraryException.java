package io.bpf4j.elf.internal.compression;

import java.io.IOException;

/**
 * A file needs a library that is missing, or of another version. The message names the format of the file and the
 * libraries to add.
 */
public final class MissingLibraryException extends IOException {
    private static final long serialVersionUID = 1;

    MissingLibraryException(String format, LinkageError cause) {
        super(
                format
                        + " needs the libraries org.apache.commons:commons-compress 1.28 or later and org.tukaani:xz, with"
                        + " all that they depend on (" + cause + "): add them to the class path, or to the module path"
                        + " with --add-modules"
                        + " org.apache.commons.compress,org.tukaani.xz",
                cause);
    }
}
