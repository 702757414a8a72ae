package io.bpf4j.usdt;

import io.bpf4j.process.Turns;
import io.bpf4j.process.hold.ProcessStop;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The visits that have not ended, at most one for each process, and the order of their steps. <i>Confined.</i>
 *
 * <p>Tested by {@code UsdtWatchTurnsTest}.
 */
final class Visits {
    private final Map<Integer, Visit> visits = new HashMap<>();
    private final Turns<Integer> turns = new Turns<>();

    /**
     * The number of searches that each process that existed before the watch still needs until the watch has started.
     */
    private final Map<Integer, Integer> firstLooks = new HashMap<>();

    /** Queues a stopped process. */
    void add(ProcessStop stop) {
        int process = stop.pid();
        visits.computeIfAbsent(process, Visit::new).add(stop);
        turns.addHeld(process);
    }

    /** Queues a running process. */
    void add(int process) {
        visits.computeIfAbsent(process, Visit::new);
        turns.add(process);
    }

    /**
     * Queues a process that existed before the watch: it is visited this number of times before the watch has started.
     */
    void addFirst(int process, int looks) {
        firstLooks.put(process, looks);
        add(process);
    }

    /** Whether a process still needs a first search. */
    boolean isFirst(int process) {
        return firstLooks.containsKey(process);
    }

    /** Whether any process still needs a first search. */
    boolean hasFirst() {
        return !firstLooks.isEmpty();
    }

    /** Whether no process waits for its turn. */
    boolean isEmpty() {
        return turns.isEmpty();
    }

    /** The visit whose turn it is; empty if it was dropped. */
    Optional<Visit> next() {
        return Optional.ofNullable(visits.get(turns.next()));
    }

    /** Whether a visit continues: its process has neither ended nor called exec since. */
    boolean isCurrent(Visit visit) {
        return visits.get(visit.pid) == visit;
    }

    /** Queues a visit for its next turn. */
    void again(Visit visit) {
        if (visit.isHeld()) {
            turns.addHeld(visit.pid);
        } else {
            turns.add(visit.pid);
        }
    }

    /** Ends a visit; another one follows for threads that have stopped since, or if a first search is missing. */
    void end(Visit visit) {
        int process = visit.pid;
        visits.remove(process);
        boolean again = firstLooks.computeIfPresent(process, (_, looks) -> looks == 1 ? null : looks - 1) != null;
        if (!visit.waiting.isEmpty()) {
            visit.waiting.forEach(this::add);
        } else if (again) {
            add(process);
        }
    }

    /** Drops the visit of a process and returns it, if there is one. */
    Optional<Visit> drop(int process) {
        turns.remove(process);
        return Optional.ofNullable(visits.remove(process));
    }

    /** Notes that a process has ended, so it no longer needs a first search. */
    void forgetFirst(int process) {
        firstLooks.remove(process);
    }
}
