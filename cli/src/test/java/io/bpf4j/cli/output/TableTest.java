package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TableTest {
    @Test
    void alignsColumnsAndLeavesNoTrailingBlanks() {
        Table table = new Table("  ")
                .row("PROBE", "SITES", "ARGUMENTS")
                .row("a:b", "1", "")
                .row("provider:name", "12", "8@%rax");
        assertThat(table.lines())
                .containsExactly(
                        "  PROBE          SITES  ARGUMENTS", "  a:b            1", "  provider:name  12     8@%rax");
    }

    @Test
    void oneVeryLongCellDoesNotWidenEveryRow() {
        Table table = new Table("").row("x".repeat(500), "1").row("short", "2");
        assertThat(table.lines()).containsExactly("x".repeat(500) + "  1", "short" + " ".repeat(61) + "2");
    }

    @Test
    void aCellCannotDriveTheTerminal() {
        assertThat(new Table("").row("a\u001b[2J", "b\nc").lines()).containsExactly("a\\x1b[2J  b\\nc");
    }
}
