package io.bpf4j.process.hold;

/**
 * An event of a traced process. Except for {@link Kind#ENDED}, one of its threads is stopped, before it executes
 * another instruction, until {@link ProcessTracer#resume}. <i>Immutable.</i>
 *
 * <p>Compared by identity: another thread may get the number of a thread that is killed while it is held, for example a
 * thread that calls exec gets the number of the first thread.
 */
@SuppressWarnings("ClassCanBeRecord")
public final class ProcessStop {
    private final Kind kind;
    private final int pid;
    private final boolean renumbered;
    private final int tid;
    private final boolean inGroupStop;

    /**
     * Created by the tracing thread.
     *
     * @param tid the stopped thread
     * @param inGroupStop whether a signal has stopped its process, which stays stopped
     */
    ProcessStop(Kind kind, int pid, boolean renumbered, int tid, boolean inGroupStop) {
        this.kind = kind;
        this.pid = pid;
        this.renumbered = renumbered;
        this.tid = tid;
        this.inGroupStop = inGroupStop;
    }

    /** The kind of event. */
    public enum Kind {
        /**
         * Another traced process created it by fork, vfork or clone. It has the memory of its parent, and has not run
         * yet.
         */
        BORN,
        /** It executes another program, which is mapped, with its dynamic loader if it has one, and has not run yet. */
        EXEC,
        /** A thread reached an instruction of {@link ProcessTracer#breakAt}; the other threads continue. */
        BREAKPOINT,
        /**
         * The process has ended. No thread is stopped. A child that is killed before it first runs ends without an
         * event {@link #BORN}. A thread that is killed so early is reported, too, by its own number: the kernel does
         * not tell whether it was a process.
         */
        ENDED
    }

    public Kind kind() {
        return kind;
    }

    /** The process id, in this process's namespace. */
    public int pid() {
        return pid;
    }

    /**
     * For {@link Kind#EXEC}, whether a thread other than the first called exec. That thread now has the process's id,
     * and links attached to this id before belong to a thread that no longer exists.
     */
    public boolean isRenumbered() {
        return renumbered;
    }

    int tid() {
        return tid;
    }

    boolean inGroupStop() {
        return inGroupStop;
    }

    @Override
    public String toString() {
        return kind + " of process " + pid + (renumbered ? " by another thread than its first" : "");
    }
}
