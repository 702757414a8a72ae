package io.bpf4j.loader.link;

import io.bpf4j.loader.internal.attach.OpenIterator;
import java.io.InputStream;

/** An attached iterator: each opened stream is a new run. <i>Thread-safe.</i> */
public sealed interface IteratorLink extends Link permits OpenIterator {
    /**
     * Opens a stream of the program's output ({@code bpf_seq_write}, {@code bpf_seq_printf}) while the kernel iterates
     * over its objects. Reading runs the program, in the thread that reads. If a stream isn't read to its end, the
     * program does not run for the remaining objects. At the end, {@code read} returns -1.
     *
     * <p>The stream is <i>confined</i>, must be closed, and may outlive the link.
     *
     * @throws io.bpf4j.sys.SyscallException if the kernel refuses
     */
    InputStream open();
}
