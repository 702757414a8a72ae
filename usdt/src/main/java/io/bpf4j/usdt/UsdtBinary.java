package io.bpf4j.usdt;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.usdt.site.Machine;
import java.nio.file.Path;
import java.util.Optional;

/** A file with probes. <i>Immutable.</i> */
public sealed interface UsdtBinary permits UsdtBinaryData {
    /** A file that is named by its path, is loaded at any address and can be attached to. */
    static UsdtBinary of(Path path, Machine machine, FileIdentity identity) {
        return new UsdtBinaryData(path, path.toString(), machine, false, identity, Optional.empty());
    }

    /**
     * For opening the file. For a file of another mount namespace or a deleted file the path leads through
     * {@code /proc/PID}. Do not display it: its bytes need not be valid text.
     */
    Path path();

    /**
     * For display: the file as its own process names it, in which an invalid byte is shown as {@code \xff}; the text of
     * {@link #path} for a file that was given by path.
     */
    String name();

    /** The machine that the file is compiled for. */
    Machine machine();

    /** Whether the file is loaded at the addresses in its headers (ELF type ET_EXEC), rather than at any address. */
    boolean fixedAddress();

    /** The identity of the file when its notes were read: attaching refuses another file. */
    FileIdentity identity();

    /**
     * Why no process of this machine runs the file, in words that follow its name, such as {@code "is an object file
     * …"}: attaching to such a file is refused. Empty for a file that can be attached to.
     */
    Optional<String> refusal();
}
