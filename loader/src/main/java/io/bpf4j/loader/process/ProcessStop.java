package io.bpf4j.loader.process;

import io.bpf4j.loader.internal.process.TracerThread;
import org.jspecify.annotations.Nullable;

/**
 * A moment in the life of a traced process. Except for {@link Kind#ENDED} one of its threads is held there, before it
 * executes another instruction, until {@link ProcessTracer#resume}. <i>Immutable.</i>
 */
public final class ProcessStop {
    private final Kind kind;
    private final int pid;
    private final boolean renumbered;
    private final TracerThread.@Nullable Hold hold;

    ProcessStop(Kind kind, int pid, boolean renumbered, TracerThread.@Nullable Hold hold) {
        this.kind = kind;
        this.pid = pid;
        this.renumbered = renumbered;
        this.hold = hold;
    }

    /** What happened. */
    public enum Kind {
        /** Another traced process made it by fork, vfork or clone. It has the memory of that one, and has not run yet. */
        BORN,
        /** It became another program, which is mapped, with its dynamic loader if it has one, and has not run yet. */
        EXEC,
        /** A thread came to an instruction that {@link ProcessTracer#breakAt} named; the other threads go on. */
        BREAKPOINT,
        /** It is gone. Nothing is held. */
        ENDED
    }

    public Kind kind() {
        return kind;
    }

    /** The process, as this process numbers it. */
    public int pid() {
        return pid;
    }

    /**
     * For {@link Kind#EXEC}, whether another thread than the first called exec. It has the number of the process since
     * then, and what was attached to that number before is attached to a thread that is gone.
     */
    public boolean isRenumbered() {
        return renumbered;
    }

    TracerThread.@Nullable Hold hold() {
        return hold;
    }

    @Override
    public String toString() {
        return kind + " of process " + pid + (renumbered ? " by another thread than its first" : "");
    }
}
