package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class LinkHandoverTest {
    @Test
    void theSuccessorIsStartedAsThisCommandWas() throws IOException {
        assertStartedAgain(List.of("@options", "-cp", "bpf4j.jar", "io.bpf4j.cli.Main"));
        assertStartedAgain(List.of("-XX:+UseSerialGC", "-p", "modules", "-m", "io.bpf4j.cli/io.bpf4j.cli.Main"));
        assertStartedAgain(List.of("-XX:+UseSerialGC", "-jar", "/opt/bpf4j.jar"));
        assertThatThrownBy(() -> LinkHandover.thisCommand("java\0-cp\0test.jar\0org.example.Main\0trace\0"))
                .isInstanceOf(IOException.class);
    }

    private static void assertStartedAgain(List<String> options) throws IOException {
        List<String> command = LinkHandover.thisCommand("java\0" + String.join("\0", options) + "\0trace\0probe\0");
        assertThat(command.getFirst()).isEqualTo(System.getProperty("java.home") + "/bin/java");
        assertThat(command.subList(1, command.size())).isEqualTo(options);
    }
}
