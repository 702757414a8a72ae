package io.bpf4j.usdt;

import io.bpf4j.loader.process.ProcessStop;
import io.bpf4j.usdt.internal.process.DynamicLoaders;
import io.bpf4j.usdt.internal.process.MappedFile;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;

/**
 * One look at a process, in steps: its mappings are searched for new code, the new files are read, the listener is told,
 * and the threads that were held for it go on. One search serves all threads that were stopped before it began.
 * <b>Confined</b> to the thread of a {@link UsdtWatch}.
 */
final class Visit {
    final int pid;

    /** Threads that go on when the visit has ended. */
    final List<ProcessStop> served = new ArrayList<>();

    /** Threads that stopped after the search had begun, and may have passed what is new: another visit is for them. */
    final List<ProcessStop> waiting = new ArrayList<>();

    final Queue<MappedFile> unread = new ArrayDeque<>();
    final List<UsdtScan.File> read = new ArrayList<>();

    /** Set if the dynamic loader is to be found. */
    Optional<DynamicLoaders.Start> loader = Optional.empty();

    Stage stage = Stage.BEGIN;

    /** The time that its steps have taken. */
    long nanos;

    /** What the next step does. */
    enum Stage {
        BEGIN,
        SEARCH,
        READ
    }

    Visit(int pid) {
        this.pid = pid;
    }

    /** A thread has stopped. A search that no thread waits for begins anew for it. */
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
