package io.bpf4j.loader.link;

/** The processes in which a probe fires. <i>Immutable.</i> */
public sealed interface ProcessFilter {
    /** Every process that executes the file, now or later. */
    record Any() implements ProcessFilter {}

    /** The calling process. */
    record Self() implements ProcessFilter {}

    /**
     * One process.
     *
     * @param pid as this process sees it
     */
    record Pid(int pid) implements ProcessFilter {
        public Pid {
            if (pid <= 0) {
                throw new IllegalArgumentException("pid " + pid + " is not a process");
            }
        }
    }

    static ProcessFilter any() {
        return new Any();
    }

    static ProcessFilter self() {
        return new Self();
    }

    static ProcessFilter pid(int pid) {
        return new Pid(pid);
    }

    /** The process id; 0 for any. */
    default int pidOrZero() {
        return switch (this) {
            case Any any -> 0;
            case Self self -> (int) ProcessHandle.current().pid();
            case Pid one -> one.pid();
        };
    }
}
