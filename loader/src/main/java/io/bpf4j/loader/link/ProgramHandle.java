package io.bpf4j.loader.link;

import java.util.Optional;

/**
 * A program in the kernel, as links take it: what is to run in place of another, or where in an order to attach. It is
 * what {@code io.bpf4j.loader.Program} is; only bpf4j implements this interface. <i>Thread-safe.</i>
 */
public interface ProgramHandle {
    /** Its name in its object. */
    String name();

    /** The kernel's id of it. */
    int id();

    /** What stands behind it, of a type that only bpf4j itself can name; empty for all others. */
    <T> Optional<T> unwrap(Class<T> type);
}
