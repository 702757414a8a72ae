package io.bpf4j.loader.process;

import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.FileCommand;

/**
 * Signals that whoever started this process told it to ignore. <i>Thread-safe.</i>
 *
 * <p>A shell starts {@code tracer … &} in a script with SIGINT ignored, and Java then refuses to handle it: a tracer that
 * detaches and prints its sums at SIGINT would never end.
 */
public final class IgnoredSignals {
    private IgnoredSignals() {}

    /**
     * Gives a signal its default action, if it is ignored; after this, Java can handle it.
     *
     * @param number such as 2, SIGINT
     * @return whether it was ignored
     * @throws io.bpf4j.loader.error.SyscallException if there is no such signal, or it is SIGKILL or SIGSTOP
     */
    public static boolean restore(int number) {
        return Host.running().kernel().execute(new FileCommand.StopIgnoring(number)) != 0;
    }
}
