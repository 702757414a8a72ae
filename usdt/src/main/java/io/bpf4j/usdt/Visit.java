package io.bpf4j.usdt;

import io.bpf4j.process.DynamicLoaders;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.hold.ProcessStop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;

/**
 * One search of a process, in steps: its mappings are searched for new code, the new files are read, the listener is
 * called, and the threads that were held for it are resumed. One search serves all threads that were stopped before it
 * began. <i>Confined</i> to the thread of a {@link UsdtWatch}.
 */
final class Visit {
    final int pid;

    /** Threads that are resumed when the visit ends. */
    final List<ProcessStop> served = new ArrayList<>();

    /**
     * Threads that stopped after the search had begun. It may have passed their new code already, so another visit
     * serves them.
     */
    final List<ProcessStop> waiting = new ArrayList<>();

    final Queue<MappedFile> unread = new ArrayDeque<>();
    final List<UsdtScan.File> read = new ArrayList<>();

    /** Files with probes that the process has no code of any more. */
    final List<UsdtScan.File> unmapped = new ArrayList<>();

    /** Set if the search must find the dynamic loader, too. */
    Optional<DynamicLoaders.Start> loader = Optional.empty();

    Stage stage = Stage.BEGIN;

    /** The time that its steps have taken. */
    long nanos;

    /** The kind of the next step. */
    enum Stage {
        BEGIN,
        SEARCH,
        READ
    }

    Visit(int pid) {
        this.pid = pid;
    }

    /** Adds a thread that has stopped. A search for which no thread waits starts again. */
    void add(ProcessStop stop) {
        waiting.add(stop);
        if (served.isEmpty() && stage == Stage.SEARCH) {
            stage = Stage.BEGIN;
        }
    }

    void begin() {
        served.addAll(waiting);
        waiting.clear();
        stage = Stage.SEARCH;
    }

    void searched(List<MappedFile> appeared) {
        unread.addAll(appeared);
        stage = Stage.READ;
    }

    /** Whether a thread waits. */
    boolean isHeld() {
        return !served.isEmpty() || !waiting.isEmpty();
    }
}
