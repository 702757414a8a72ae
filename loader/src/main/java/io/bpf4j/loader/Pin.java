package io.bpf4j.loader;

import io.bpf4j.sys.Diagnostic;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A name in a BPF file system, and what is pinned there. <i>Immutable.</i>
 *
 * <p>Any process may have chosen the name. The path has exactly its bytes, even if they are not text in any encoding.
 *
 * @param path the listed directory's path, and the names below it
 * @param kind what is pinned; empty for a directory or pin that was not opened
 * @param id the kernel's id, by which {@link Programs}, {@link Maps} and {@link Links} open it; 0 without a kind
 * @param name of the program or map in the kernel, at most 15 bytes; empty for links
 * @param owner of the pin or directory; empty if its name could not be looked up
 * @param problem why the pin or directory was not opened, or not listed in full; empty if it was
 */
public record Pin(
        Path path, Optional<Kind> kind, int id, String name, Optional<Owner> owner, Optional<Diagnostic> problem) {
    /** What is pinned. */
    public enum Kind {
        PROGRAM,
        MAP,
        LINK
    }

    /**
     * Who may open a pin. Opening a map or program needs permission to read and, unless it is opened read-only, to
     * write; opening a link needs both.
     *
     * @param user the id of the user, as this process's user namespace has it
     * @param group the id of the group, likewise
     * @param permissions as {@code chmod} takes them: 0600 for a new pin
     */
    public record Owner(int user, int group, int permissions) {}
}
