package io.bpf4j.cli.command;

import io.bpf4j.trace.Question;

/**
 * What a command that asks the kernel needs in any case, done by a thread of its own while picocli reads the command
 * line: both take some tenths of a start. <i>Confined.</i>
 *
 * <p>The command waits for it before it does anything. Otherwise two threads would initialize classes of bpf4j at the
 * same time, which may lock each other out for ever where two classes need each other.
 */
final class Preparation {
    private final Thread thread = Thread.ofPlatform()
            .name("bpf4j-preparation")
            .daemon()
            // The command meets the same failure, and says what it was about to do.
            .uncaughtExceptionHandler((_, _) -> {})
            .start(Question::prepare);

    /** Waits until it is done. */
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
