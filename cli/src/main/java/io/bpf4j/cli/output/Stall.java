package io.bpf4j.cli.output;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.proc.StatusFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How long a reader has taken nothing of what is written to it. <i>Thread-safe.</i>
 *
 * <p>A write hands over a block of many KiB, and returns when all of it is taken: for a slow reader, who takes some bytes
 * now and then, that is much later. Meanwhile the writer sleeps, and the kernel wakes it whenever there is room again; in a
 * pipe, when the reader has taken the rest of a page of 4 KiB. So a thread that has gone to sleep again and again
 * ({@code voluntary_ctxt_switches}, proc_pid_status(5)) has a reader who reads.
 *
 * <p>Rejected: writing small pieces, each of which is a system call more for every reader; and the number of bytes that
 * wait in the pipe (FIONREAD), which the writer fills up again at once.
 *
 * <p>Tested by {@code StallTest} and {@code CliSlowReaderTest}.
 */
final class Stall {
    private @Nullable State seen;
    private long since;

    /** A write in progress. Two writes are never equal. */
    static final class Write {
        /** The folder of the writing thread in {@code /proc}. */
        private final Path thread;

        Write(Path thread) {
            this.thread = thread;
        }
    }

    /** @param sleeps how often its thread has gone to sleep; empty if that is not known, and then a write is one piece */
    private record State(Write write, String sleeps) {}

    /** The folder of this thread in {@code /proc}; one that does not exist if it can't be found out. */
    static Path folderOfThisThread() {
        Path proc = Host.running().proc();
        try {
            return proc.resolve(Files.readSymbolicLink(proc.resolve("thread-self")));
        } catch (IOException e) {
            return proc.resolve("unknown");
        }
    }

    /**
     * Whether the same write has gone on for so long without progress.
     *
     * @param write the one in progress; null if there is none
     * @param now {@code System.nanoTime()}
     */
    synchronized boolean lastsFor(Duration time, @Nullable Write write, long now) {
        State state = write == null
                ? null
                : new State(write, StatusFile.readIfRunning(write.thread).field("voluntary_ctxt_switches"));
        if (state == null || !Objects.equals(state, seen)) {
            seen = state;
            since = now;
            return false;
        }
        return now - since >= time.toNanos();
    }
}
