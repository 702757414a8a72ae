package io.bpf4j.cli.command;

import io.bpf4j.sys.internal.thread.Threads;
import io.bpf4j.trace.Question;

/**
 * Prepares, on a separate thread, the parts that every command with kernel access needs, while picocli reads the
 * command line: each part takes some tenths of the start-up time. <i>Confined.</i>
 *
 * <p>The command waits for it before it does anything. Otherwise two threads would initialize classes of bpf4j at the
 * same time, which can deadlock if two classes need each other.
 */
final class Preparation {
    private final Thread thread = Thread.ofPlatform()
            .name("bpf4j-preparation")
            .daemon()
            // The command will fail in the same way, and report the failure with its context.
            .uncaughtExceptionHandler((_, _) -> {})
            .start(Question::prepare);

    /** Waits for the end of the preparation. */
    void await() {
        Threads.join(thread);
    }
}
