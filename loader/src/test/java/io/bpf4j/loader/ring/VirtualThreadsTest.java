package io.bpf4j.loader.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Virtual threads that wait for events leave their carriers to others. */
class VirtualThreadsTest {
    private static final int POLLERS = 5;

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void moreOfThemWaitThanThereAreCarriersAndOthersWork(int carriers) throws Exception {
        assertThat(run(carriers).lines())
                .startsWith("worked")
                .containsAll(Collections.nCopies(POLLERS, "0 and 0 after 2 waits, interrupted false and true"))
                .hasSize(POLLERS + 1);
    }

    private static String run(int carriers) throws IOException, InterruptedException {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        // The JVM warns on standard output if it can't lock its file of counters.
                        "-XX:-UsePerfData",
                        "-Djdk.virtualThreadScheduler.parallelism=" + carriers,
                        "-Djdk.virtualThreadScheduler.maxPoolSize=" + carriers,
                        "-cp",
                        System.getProperty("java.class.path"),
                        VirtualPollers.class.getName(),
                        String.valueOf(POLLERS))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        CompletableFuture<String> output = CompletableFuture.supplyAsync(() -> text(child));
        try {
            // A second on an idle machine.
            assertThat(child.waitFor(15, TimeUnit.MINUTES))
                    .as("the child ends; without a carrier for the worker it never does")
                    .isTrue();
            return output.join();
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    private static String text(Process child) {
        try {
            return new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
