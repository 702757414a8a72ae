package io.bpf4j.elf.internal.compression;

import java.io.IOException;

/** A file needs a library that is not there. The message says what the file is, and which libraries to add. */
public final class MissingLibraryException extends IOException {
    private static final long serialVersionUID = 1;

    MissingLibraryException(String format, LinkageError cause) {
        super(
                format
                        + " takes the libraries org.apache.commons:commons-compress and org.tukaani:xz, which are not on the"
                        + " class path, or on the module path not resolved: --add-modules"
                        + " org.apache.commons.compress,org.tukaani.xz",
                cause);
    }
}
