package io.bpf4j.cli.trace;

import io.bpf4j.process.hold.IgnoredSignals;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.proc.StatusFile;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/**
 * Sets handlers for the signals that end a process.
 *
 * <p>A shutdown hook sees only the first signal, and the JVM handles no second signal while hooks run. But here a
 * second Ctrl-C has a meaning of its own. {@code sun.misc.Signal} is the only API of the JDK that sets a handler. It is
 * supported ({@code jdk.unsupported} exports it), but javac's warning about it can't be suppressed for one file, so it
 * is called by reflection.
 *
 * <p>Tested by {@code InterruptionTest}.
 */
public final class Signals {
    private Signals() {}

    /** Runs {@code handler} each time that the size of the terminal changes. */
    public static void onResize(Runnable handler) {
        boolean _ = handle("WINCH", handler);
    }

    /**
     * The same for a signal that ends a trace, even if a shell has started this process with the signal ignored, as for
     * background jobs of scripts.
     *
     * @param number the signal's number
     */
    static boolean handleAlways(String name, int number, Runnable handler) {
        if (isIgnored(number)) {
            try {
                IgnoredSignals.restore(number);
            } catch (BpfException e) {
                return false; // no native access; the code that needs it reports that
            }
        }
        return handle(name, handler);
    }

    /**
     * Read from /proc, because most runs need no system call by bpf4j, and the first such call takes a tenth of a
     * second.
     */
    private static boolean isIgnored(int number) {
        String ignored = StatusFile.readIfRunning(Host.running().self()).field("SigIgn");
        return !ignored.isEmpty() && (Long.parseUnsignedLong(ignored, 16) >>> (number - 1) & 1) != 0;
    }

    /**
     * Runs {@code handler} in a thread of the JVM each time that the signal arrives. A signal that is ignored stays
     * ignored, as {@code nohup} requires.
     *
     * @param name without SIG: {@code INT}
     * @return whether the signal is handled now
     */
    @SuppressWarnings("ReferenceEquality") // handlers are compared by identity
    static boolean handle(String name, Runnable handler) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            InvocationHandler calls = (proxy, method, args) -> switch (method.getName()) {
                case "handle" -> {
                    handler.run();
                    yield null;
                }
                case "equals" -> args != null && proxy == args[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "handler of SIG" + name;
            };
            Object ours = Proxy.newProxyInstance(handlerType.getClassLoader(), new Class<?>[] {handlerType}, calls);
            Object which = signal.getConstructor(String.class).newInstance(name);
            Object before = signal.getMethod("handle", signal, handlerType).invoke(null, which, ours);
            Object ignoring = handlerType.getField("SIG_IGN").get(null);
            if (before.equals(ignoring)) {
                signal.getMethod("handle", signal, handlerType).invoke(null, which, before);
                return false;
            }
            return true;
        } catch (InvocationTargetException e) {
            // -Xrs: the JVM leaves signals to the system, and so does this class.
            return false;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this Java runtime has no module jdk.unsupported", e);
        }
    }
}
