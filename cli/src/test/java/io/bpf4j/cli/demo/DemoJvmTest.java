package io.bpf4j.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DemoJvmTest {
    @Test
    void worksWhenToldToAndEndsByItself() throws InterruptedException {
        try (DemoJvm jvm = DemoJvm.start(Duration.ofMillis(300))) {
            Thread.sleep(400);
            assertThat(jvm.isAlive()).as("waits").isTrue();
            jvm.go();
            long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
            while (jvm.isAlive()) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                Thread.sleep(10);
            }
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
