package io.bpf4j.usdt;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.usdt.site.Machine;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file with probes. <b>Immutable</b>.
 *
 * @param path where to open it. For a file of another mount namespace or a deleted one this leads through
 *     {@code /proc/PID}. To open it, not to show it: its bytes may be no text
 * @param name what to show: the file as its own process calls it, in which a byte that is no text is {@code \xff}; the
 *     text of {@code path} for a file that was given by path
 * @param machine what it is compiled for
 * @param fixedAddress whether it is loaded at the addresses that the file gives (ELF type ET_EXEC), rather than
 *     anywhere
 * @param identity which file it was when its notes were read: attaching refuses another one
 * @param refusal why no process of this machine runs the file, in words that follow its name, such as {@code "is an object
 *     file …"}: attaching is refused then. Null for a file that can be attached to
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
