package io.bpf4j.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class DemoJvmTest {
    @Test
    @Timeout(600) // against a hang: a JVM starts and works
    void worksWhenToldToAndEndsByItself() throws InterruptedException {
        try (DemoJvm jvm = DemoJvm.start(Duration.ofMillis(300))) {
            assertThat(jvm.isAlive()).as("waits").isTrue();
            jvm.go();
            awaitEnd(jvm);
        }
    }

    private static void awaitEnd(DemoJvm jvm) throws InterruptedException {
        while (jvm.isAlive()) {
            Thread.sleep(10);
        }
    }

    @Test
    void closingEndsIt() {
        DemoJvm jvm = DemoJvm.start(Duration.ofMinutes(5));
        jvm.go();
        jvm.close();
        assertThat(jvm.isAlive()).isFalse();
    }
}
