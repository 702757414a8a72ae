package io.bpf4j.core;

/**
 * A relocation that can't be decided at all: the program is built wrongly, or the target answers it in two ways.
 *
 * <p>That the target lacks what is asked for is no exception but a {@link CoreFixup.Poison}, since programs guard such
 * instructions. The message names the relocation, and for an ambiguity both candidates. <i>Immutable.</i>
 */
public final class CoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CoreException(String message) {
        super(message);
    }
}
