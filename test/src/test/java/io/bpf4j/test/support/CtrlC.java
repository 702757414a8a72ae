package io.bpf4j.test.support;

import java.io.IOException;
import java.util.List;

/** A user who presses Ctrl-C again and again. */
public final class CtrlC {
    /** The command takes two signals within 50 ms for one, so there is a pause after each. */
    private static final String UNTIL_END = "while kill -INT \"$0\" 2>/dev/null; do sleep 0.2; done";

    private CtrlC() {}

    /** Interrupts a process until it is gone. */
    public static void untilEnd(long pid) throws IOException, InterruptedException {
        Commands.check(List.of("sh", "-c", UNTIL_END, Long.toString(pid)));
    }
}
