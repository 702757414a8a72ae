package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class PaintTest {
    @Test
    void onlyATerminalHasColours() {
        Map<String, String> xterm = Map.of("TERM", "xterm");
        assertThat(shown(Paint.Choice.AUTO, true, xterm)).isEqualTo("\u001b[1mx\u001b[0m");
        assertThat(shown(Paint.Choice.AUTO, false, xterm)).isEqualTo("x");
        assertThat(shown(Paint.Choice.NEVER, true, xterm)).isEqualTo("x");
        assertThat(shown(Paint.Choice.ALWAYS, false, Map.of("NO_COLOR", "1"))).isEqualTo("\u001b[1mx\u001b[0m");
    }

    @Test
    void theEnvironmentForbidsColours() {
        assertThat(shown(Paint.Choice.AUTO, true, Map.of("TERM", "xterm", "NO_COLOR", "1")))
                .isEqualTo("x");
        assertThat(shown(Paint.Choice.AUTO, true, Map.of("TERM", "xterm", "NO_COLOR", "")))
                .as("empty is unset, by no-color.org")
                .isNotEqualTo("x");
        assertThat(shown(Paint.Choice.AUTO, true, Map.of("TERM", "dumb"))).isEqualTo("x");
        assertThat(shown(Paint.Choice.AUTO, true, Map.of())).isEqualTo("x");
    }

    @Test
    void shadesAreBlocksWhereThereAreFewColours() {
        assertThat(Paint.NONE.shade(0, 2)).isEqualTo("  ");
        assertThat(Paint.NONE.shade(1, 1)).isEqualTo("░");
        assertThat(Paint.NONE.shade(Paint.SHADES, 3)).isEqualTo("███");
        Paint many = Paint.of(Paint.Choice.AUTO, true, Map.of("TERM", "xterm-256color"));
        for (int level = 1; level <= Paint.SHADES; level++) {
            assertThat(many.shade(level, 1)).startsWith("\u001b[48;5;").endsWith("m \u001b[0m");
        }
    }

    private static String shown(Paint.Choice choice, boolean terminal, Map<String, String> environment) {
        return Paint.of(choice, terminal, environment).strong("x");
    }
}
