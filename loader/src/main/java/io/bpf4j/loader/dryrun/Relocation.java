package io.bpf4j.loader.dryrun;

import java.util.OptionalLong;

/**
 * What became of one CO-RE relocation. <i>Immutable.</i>
 *
 * @param place the instruction
 * @param question what is asked of what: {@code byte offset of struct task_struct.mm}
 * @param local the answer for the types of the object; empty if the kernel lacks what is asked for
 * @param target the answer for those of the kernel; empty if it lacks what is asked for
 */
public record Relocation(Finding.Place place, String question, OptionalLong local, OptionalLong target) {
    /** Whether the kernel has what is asked for, or the question was whether it does. */
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
