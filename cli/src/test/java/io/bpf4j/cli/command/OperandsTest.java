package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OperandsTest {
    @TempDir
    Path directory;

    @Test
    void tellsFilesFromPatterns() throws IOException {
        Path withColon = Files.createFile(directory.resolve("odd:name"));
        Operands operands = Operands.of(List.of("libjvm.so", "hotspot*:gc__*", withColon.toString(), "/no/such:file"));
        assertThat(operands.files()).containsExactly(Path.of("libjvm.so"), withColon, Path.of("/no/such:file"));
        assertThat(operands.patterns()).containsExactly("hotspot*:gc__*");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":x", "x:", "a:b:c", ":"})
    void refusesWhatIsNeither(String operand) {
        assertThatThrownBy(() -> Operands.of(List.of(operand))).isInstanceOf(UsageException.class);
    }
}
