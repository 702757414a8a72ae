package io.bpf4j.core;

import io.bpf4j.elf.Bpf4jException;

/**
 * A relocation without a defined result: the program is invalid, or the target gives two different values.
 *
 * <p>If the target lacks a type or a field, the result is a {@link CoreFixup.Poison}, not an exception, because
 * programs guard such instructions. The message names the relocation, and for an ambiguity both candidates.
 * <i>Immutable.</i>
 */
public final class CoreException extends Bpf4jException {
    private static final long serialVersionUID = 1L;

    public CoreException(String message) {
        super(message);
    }
}
