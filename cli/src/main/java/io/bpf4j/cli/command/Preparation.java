package io.bpf4j.cli.command;

import io.bpf4j.trace.Question;

/**
 * Prepares, on a thread of its own, what every command that uses the kernel needs, while picocli reads the command
 * line: each takes some tenths of the time of a start. <i>Confined.</i>
 *
 * <p>The command waits for it before it does anything. Otherwise two threads would initialize classes of bpf4j at the
 * same time, which can deadlock if two classes need each other.
 */
final class Preparation {
    private final Thread thread = Thread.ofPlatform()
            .name("bpf4j-preparation")
            .daemon()
            // The command meets the same failure, and reports it with its context.
            .uncaughtExceptionHandler((_, _) -> {})
            .start(Question::prepare);

    /** Waits for the end of the preparation. */
    void await() {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
