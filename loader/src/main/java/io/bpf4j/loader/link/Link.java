package io.bpf4j.loader.link;

/**
 * A program attached to something. It belongs to whoever attached; closing it detaches. <i>Thread-safe.</i>
 *
 * <p>A link outlives the object that its program came from, if that is closed first: the kernel keeps the program for as
 * long as the link is there.
 */
public interface Link extends AutoCloseable {
    /** What is attached to what, for messages: {@code on_gc to uprobes in …/libjvm.so}. */
    String description();

    boolean isClosed();

    /**
     * Detaches. May wait for the kernel to see the last running program out: tens of milliseconds for uprobes, whatever
     * the number of sites. Does nothing the second time.
     */
    @Override
    void close();
}
