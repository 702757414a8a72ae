package io.bpf4j.sys;

/**
 * What a caller must know to judge a result, and what is no failure: a site that is left out, a probe that may never
 * fire. <i>Immutable.</i>
 *
 * <p>Subject and message may contain names that other users chose, and bytes of files: escape them for a terminal.
 *
 * @param kind what it means for the result
 * @param subject a probe ({@code provider:name}), the name of a file, a process ({@code process 4711}), or what else
 *     the method that returns the diagnostic documents; empty if there is no single one
 * @param message a sentence for a user, without a full stop, that is complete without the subject
 */
public record Diagnostic(Kind kind, String subject, String message) {
    /** What a diagnostic means for the result. */
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
        /** Events of the subject do not count exactly what they are meant to count. */
        INEXACT,
        /** Functions of the subject have no names. */
        UNNAMED,
        /** What is attached to the subject may end a process. */
        RISK,
        /** The result lacks nothing, but can be had, or read, in a better way. */
        HINT
    }

    /** The message. */
    @Override
    public String toString() {
        return message;
    }
}
