package org.example;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.UsdtScan;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/**
 * The pauses of a JVM's garbage collections as meters of Micrometer: how many, how long together, and the longest. The
 * kernel counts; a registry reads the counts when it publishes. Micrometer has no meter for a histogram that is counted
 * already: the example prometheus has one.
 *
 * <pre>java -jar target/micrometer.jar PID SECONDS</pre>
 */
public class Meters {
    public static void main(String[] args) throws Exception {
        UsdtScan jvm = UsdtScan.ofProcess(Integer.parseInt(args[0]));
        try (Answer pauses = Question.on(jvm.matching("hotspot:gc__*"))
                .latency("gc__begin", "gc__end")
                .by("begin.full")
                .open()) {
            SimpleMeterRegistry registry = new SimpleMeterRegistry(); // or that of your monitoring system
            bind(registry, pauses, false);
            bind(registry, pauses, true);
            Thread.sleep(Long.parseLong(args[1]) * 1000);
            System.out.println(registry.getMetersAsString());
            pauses.hints().forEach(System.out::println); // why there may be no events
            registry.close(); // before the answer, from which its meters read
        }
    }

    /** The registry refers to the answer weakly: somebody else must hold it. */
    private static void bind(MeterRegistry registry, Answer pauses, boolean full) {
        String name = "jvm.gc.pause.traced";
        FunctionTimer.builder(name, pauses, a -> times(a, full).count(), a -> times(a, full).sum(), NANOSECONDS)
                .tag("full", String.valueOf(full))
                .register(registry);
        TimeGauge.builder(name + ".max", pauses, NANOSECONDS, a -> times(a, full).max())
                .tag("full", String.valueOf(full))
                .register(registry);
    }

    /** The times of one kind of collection so far; there is no row before the first event. */
    private static Distribution times(Answer answer, boolean full) {
        return answer.rows().stream()
                .filter(row -> row.key().get("begin.full").equals(full))
                .flatMap(row -> row.distribution().stream())
                .findFirst()
                .orElseGet(() -> Distribution.withoutEvents(true));
    }
}
