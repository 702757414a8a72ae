package io.bpf4j.loader.link;

import io.bpf4j.elf.FileIdentity;

/**
 * A file that is held open while programs are attached to it: whatever is renamed over its path meanwhile, they go into
 * the file that was opened. It may be closed as soon as they are attached. <i>Thread-safe</i>; it belongs to whoever
 * opened it.
 */
public interface OpenFile extends AutoCloseable {

    /** The target that means this very file. Good until this is closed. */
    TargetFile target();

    /** Which file it is: to compare with that of one that was read before. */
    FileIdentity identity();

    /** Closes the descriptor; what was attached stays attached. Does nothing the second time. */
    @Override
    void close();
}
