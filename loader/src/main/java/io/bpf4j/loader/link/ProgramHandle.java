package io.bpf4j.loader.link;

import io.bpf4j.loader.Program;
import java.util.Optional;

/**
 * A program in the kernel that a link refers to: to replace another program, or to define a place in an order.
 * <i>Thread-safe.</i>
 */
public sealed interface ProgramHandle permits Program {
    /** Its name in its object. */
    String name();

    /**
     * The kernel's id of the program, by a system call.
     *
     * @throws IllegalStateException if the program is closed
     */
    int id();

    /** The implementation as an internal type of bpf4j; empty for all other types. */
    <T> Optional<T> unwrap(Class<T> type);
}
