package io.bpf4j.sys;

/**
 * A fact that a caller must know to judge a result, but that is not a failure: a site that is left out, a probe that
 * may never fire. <i>Immutable.</i>
 *
 * <p>Subject and message may contain names that other users chose, and bytes of files: escape them for a terminal.
 *
 * @param kind what it means for the result
 * @param subject a probe ({@code provider:name}), the name of a file, a process ({@code process 4711}), or another
 *     subject that the method that returns the diagnostic documents; empty if there is no single one
 * @param message a sentence for a user, without a full stop, that is complete without the subject
 */
public record Diagnostic(Kind kind, String subject, String message) {
    /** The meaning of a diagnostic for the result. */
    public enum Kind {
        /** The result lacks the subject: a process, a file or a part of it, sites of a probe. */
        LEFT_OUT,
        /**
         * The program can't read an argument of the subject, and gets an error; or this process can't read the subject, a
         * file, or tell what is pinned.
         */
        UNREADABLE,
        /** The subject may never fire, although it can be attached to. */
        MAY_NOT_FIRE,
        /** A process has not mapped the subject, a file: the file's probes fire only if the process maps it later. */
        NOT_MAPPED,
        /** Nothing is attached to the subject, or not in all processes: all its events may be missing. */
        NOT_ATTACHED,
        /** Code may have run before it was attached to: first events may be missing. */
        LATE,
        /** The number of the subject's events may differ from the number that they stand for, such as that of calls. */
        INEXACT,
        /** Functions of the subject have no names. */
        UNNAMED,
        /** A probe that is attached to the subject may end a process. */
        RISK,
        /** The result is complete, but there is a better way to get or read it. */
        HINT
    }

    /** The message. */
    @Override
    public String toString() {
        return message;
    }
}
