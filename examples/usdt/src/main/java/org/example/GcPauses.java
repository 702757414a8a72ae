package org.example;

import io.bpf4j.loader.ring.RecordLoop;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
import java.time.Duration;

/**
 * Prints each garbage collection of a JVM, for some seconds.
 *
 * <pre>java -jar target/usdt.jar PID SECONDS</pre>
 */
public class GcPauses {
    public static void main(String[] args) throws Exception {
        UsdtScan jvm = UsdtScan.ofProcess(Integer.parseInt(args[0]));
        try (Gc gc = Gc.open().load();
                UsdtLink _ = Usdt.of(gc.object()).attach(gc.gcBegin(), jvm.matching("hotspot:gc__begin"));
                UsdtLink ends = Usdt.of(gc.object()).attach(gc.gcEnd(), jvm.matching("hotspot:gc__end"));
                RecordLoop pauses = gc.pauses() // handles events in a thread of its own
                        .run(pause -> System.out.printf(
                                "%s collection: %.1f ms%n",
                                pause.full() ? "full" : "partial", pause.durationNs() / 1e6))) {
            System.out.println("attached " + ends.strategy());
            pauses.join(Duration.ofSeconds(Integer.parseInt(args[1]))); // ends earlier if the handler fails
        }
    }
}
