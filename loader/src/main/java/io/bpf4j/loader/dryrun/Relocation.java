package io.bpf4j.loader.dryrun;

import java.util.OptionalLong;

/**
 * The result of one CO-RE relocation. <i>Immutable.</i>
 *
 * @param place the instruction
 * @param question the property and its subject: {@code byte offset of struct task_struct.mm}
 * @param local the value for the types of the object; empty if the kernel lacks the subject
 * @param target the value for the types of the kernel; empty if the kernel lacks the subject
 */
public record Relocation(Finding.Place place, String question, OptionalLong local, OptionalLong target) {
    /** Whether the kernel has the subject, or the relocation asks for its existence. */
    public boolean isResolved() {
        return target.isPresent();
    }

    @Override
    public String toString() {
        if (target.isEmpty()) {
            return question + ": missing";
        }
        return local.equals(target)
                ? question + ": " + target.getAsLong() + ", as compiled"
                : question + ": " + target.getAsLong() + " instead of " + local.orElseThrow();
    }
}
