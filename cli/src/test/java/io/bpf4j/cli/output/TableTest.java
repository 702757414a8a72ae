package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
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

    @Test
    void fitsATerminal() {
        Table table =
                new Table("").header("COUNT", "query").row("1", "x".repeat(100)).row("2", "\u4f60".repeat(50));
        assertThat(table.lines(OptionalInt.of(20), Paint.NONE))
                .containsExactly(
                        "COUNT  query", "1      " + "x".repeat(12) + "…", "2      " + "\u4f60".repeat(6) + "…");
        assertThat(table.lines(OptionalInt.of(200), Paint.NONE)).contains("1      " + "x".repeat(100));
        assertThat(CellWidth.of("e\u0301\u4f60a")).isEqualTo(4);
    }

    @Test
    void textIsBrokenAtBlanksAndInLongWords() {
        assertThat(CellWidth.lines("one two three", 7)).containsExactly("one two", "three");
        assertThat(CellWidth.lines("longer words", 4)).containsExactly("long", "er", "word", "s");
        assertThat(CellWidth.lines("漢字漢字", 5)).containsExactly("漢字", "漢字");
        assertThat(CellWidth.lines("", 5)).containsExactly("");
    }
}
