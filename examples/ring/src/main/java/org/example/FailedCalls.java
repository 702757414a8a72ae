package org.example;

import io.bpf4j.loader.binding.EventMap;
import io.bpf4j.loader.link.Link;
import io.bpf4j.sys.kernel.Errno;
import java.time.Duration;

/**
 * Prints the system calls of a process that fail, for some seconds, and how often each error came.
 *
 * <pre>java -jar target/ring.jar PID SECONDS</pre>
 */
public class FailedCalls {
    public static void main(String[] args) throws Exception {
        try (Calls calls = Calls.open().process(Integer.parseInt(args[0])).load();
                Link _ = calls.attach();
                EventMap.Reader failures = calls.failures()
                        .open(failure -> System.out.println(
                                failure.comm() + " " + failure.thread() + ": " + Errno.of(failure.error())))) {
            failures.pollFor(Duration.ofSeconds(Integer.parseInt(args[1])));
            calls.counts().forEach((error, count) -> System.out.println(Errno.of(error) + " " + count + " times"));
        }
    }
}
