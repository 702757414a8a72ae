package io.bpf4j.loader;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Fails a test that computes for minutes. What counts is the time that its thread has had a processor: on a busy
 * machine it waits for one many times as long, and still passes. A thread that does not end is left behind.
 */
final class ProcessorTimeLimit implements InvocationInterceptor {
    /** The longest of the tests takes half a minute, and a search in place of a look-up hours. */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(200);

    @Override
    public void interceptTestMethod(
            Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        limited(test);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        limited(test);
    }

    private static void limited(Invocation<Void> test) throws Throwable {
        AtomicReference<Path> task = new AtomicReference<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread thread = Thread.ofPlatform().daemon().name("limited-test").start(() -> {
            try {
                task.set(Path.of("/proc/thread-self").toRealPath());
                test.proceed();
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        while (!thread.join(BETWEEN_LOOKS)) {
            Path started = task.get();
            if (started != null && processorTime(started).compareTo(LIMIT) > 0) {
                AssertionError late = new AssertionError("computes for " + LIMIT.toMinutes() + " minutes, now here");
                late.setStackTrace(thread.getStackTrace());
                throw late;
            }
        }
        Throwable thrown = failure.get();
        if (thrown != null) {
            throw thrown;
        }
    }

    private static Duration processorTime(Path task) {
        String stat;
        try {
            stat = Files.readString(task.resolve("stat"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return Duration.ZERO; // it has just ended
        }
        // "4711 (name) R 1 …", proc_pid_stat(5): field 3 is the state, 14 and 15 are utime and stime, in hundredths of
        // a second.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return Duration.ofMillis(10 * (Long.parseLong(fields[11]) + Long.parseLong(fields[12])));
    }
}
