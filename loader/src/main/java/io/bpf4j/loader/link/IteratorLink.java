package io.bpf4j.loader.link;

import java.io.InputStream;

/** An attached iterator: each stream that is opened runs it anew. <i>Thread-safe.</i> */
public interface IteratorLink extends Link {
    /**
     * Opens a stream of what the program writes ({@code bpf_seq_write}, {@code bpf_seq_printf}) while the kernel takes it
     * over its objects. Reading runs the program, in the thread that reads; a stream that isn't read to its end stops
     * where it was read to. At the end, {@code read} gives -1.
     *
     * <p>The stream is <i>confined</i>, must be closed, and may outlive the link.
     *
     * @throws io.bpf4j.loader.error.SyscallException if the kernel refuses
     */
    InputStream open();
}
