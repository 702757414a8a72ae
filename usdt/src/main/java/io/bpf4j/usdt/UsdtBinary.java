package io.bpf4j.usdt;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.usdt.site.Machine;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file with probes. <b>Immutable</b>.
 *
 * @param path for opening the file. For a file of another mount namespace or a deleted file the path leads through
 *     {@code /proc/PID}. Do not display it: its bytes need not be valid text
 * @param name for display: the file as its own process names it, in which an invalid byte is shown as {@code \xff}; the
 *     text of {@code path} for a file that was given by path
 * @param machine the machine that the file is compiled for
 * @param fixedAddress whether the file is loaded at the addresses in its headers (ELF type ET_EXEC), rather than at any
 *     address
 * @param identity the identity of the file when its notes were read: attaching refuses another file
 * @param refusal why no process of this machine runs the file, in words that follow its name, such as {@code "is an
 *     object file …"}: attaching to such a file is refused. Null for a file that can be attached to
 */
public record UsdtBinary(
        Path path,
        String name,
        Machine machine,
        boolean fixedAddress,
        FileIdentity identity,
        @Nullable String refusal) {

    /** A file that can be attached to. */
    public UsdtBinary(Path path, String name, Machine machine, boolean fixedAddress, FileIdentity identity) {
        this(path, name, machine, fixedAddress, identity, null);
    }
}
