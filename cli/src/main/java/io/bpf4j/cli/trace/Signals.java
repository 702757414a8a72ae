package io.bpf4j.cli.trace;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/**
 * Sets handlers for the signals that end a process.
 *
 * <p>A shutdown hook sees the first signal only, and while hooks run the JVM takes no second one; but a person who presses
 * Ctrl-C twice means something by it. {@code sun.misc.Signal} is the one way to a handler in the JDK. It is supported
 * ({@code jdk.unsupported} exports it), but javac warns of it in a way that can't be suppressed for one file, so it is
 * called by reflection.
 */
final class Signals {
    private Signals() {}

    /**
     * Runs {@code handler} in a thread of the JVM each time that the signal comes. A signal that is ignored stays so: that
     * is what {@code nohup} and background jobs of a shell are about.
     *
     * @param name without SIG: {@code INT}
     * @return whether the signal is handled now
     */
    @SuppressWarnings("ReferenceEquality") // a handler is itself and no other
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
            // -Xrs: the JVM leaves signals to the system, and so do we.
            return false;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this Java runtime has no module jdk.unsupported", e);
        }
    }
}
