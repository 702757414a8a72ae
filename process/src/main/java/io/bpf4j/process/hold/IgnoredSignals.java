package io.bpf4j.process.hold;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;

/**
 * Signals that the parent of this process set to be ignored. <i>Thread-safe.</i>
 *
 * <p>A shell starts {@code tracer … &} in a script with SIGINT ignored, and Java then refuses to handle it: a tracer
 * that detaches and prints its totals at SIGINT would never end.
 */
public final class IgnoredSignals {
    private IgnoredSignals() {}

    /**
     * Gives a signal its default action, if it is ignored; after this, Java can handle it.
     *
     * @param number such as 2, SIGINT
     * @return whether it was ignored
     * @throws io.bpf4j.sys.SyscallException if the signal does not exist, or is SIGKILL or SIGSTOP
     */
    public static boolean restore(int number) {
        return Kernel.of(Host.running()).execute(new FileCommand.StopIgnoring(number)) != 0;
    }
}
