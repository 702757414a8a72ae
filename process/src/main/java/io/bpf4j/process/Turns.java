package io.bpf4j.process;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.NoSuchElementException;
import java.util.Set;

/**
 * The order in which processes get the next step of their work: each in its turn. A process whose work has many steps
 * therefore delays another process by one step only. Every second step belongs to a process that is held, however many
 * other processes wait. <i>Confined.</i>
 *
 * <p>A process has one place. It loses the place when its turn comes; if work remains, the caller adds it again.
 *
 * <p>Tested by {@code TurnsTest}.
 *
 * @param <T> the type that identifies a process
 */
public final class Turns<T> {
    private final Set<T> held = new LinkedHashSet<>();
    private final Set<T> others = new LinkedHashSet<>();
    private boolean otherIsNext;

    /** Adds a process that is held until its work is done. */
    public void addHeld(T process) {
        others.remove(process);
        held.add(process);
    }

    /** Adds a process that runs; one that has a place keeps it. */
    public void add(T process) {
        if (!held.contains(process)) {
            others.add(process);
        }
    }

    /** Removes a process, which may have no place. */
    public void remove(T process) {
        held.remove(process);
        others.remove(process);
    }

    public boolean isEmpty() {
        return held.isEmpty() && others.isEmpty();
    }

    /**
     * Removes the process whose turn it is, and returns it.
     *
     * @throws NoSuchElementException if no process has work
     */
    public T next() {
        boolean other = held.isEmpty() || (otherIsNext && !others.isEmpty());
        otherIsNext = !other;
        Iterator<T> first = (other ? others : held).iterator();
        T process = first.next();
        first.remove();
        return process;
    }
}
