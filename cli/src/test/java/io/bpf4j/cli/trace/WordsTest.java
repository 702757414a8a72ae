package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class WordsTest {
    @Test
    void splitsAndQuotesAsTheShellDoes() {
        assertThat(Words.split("  java -cp 'a b' Main\t\"x 'y' z\"  "))
                .containsExactly("java", "-cp", "a b", "Main", "x 'y' z");
        assertThat(Words.split("echo '' a\\ b \"q\\\"q\" 'n\\n' $HOME|cat"))
                .containsExactly("echo", "", "a b", "q\"q", "n\\n", "$HOME|cat");
        assertThat(Words.split("a'b'\"c\"d")).containsExactly("abcd");
    }

    /** A regular expression, or the format of a {@code printf}, would be another one without its backslashes. */
    @Test
    void aBackslashInQuotesStandsForItselfBeforeMostCharacters() {
        assertThat(Words.split("grep \"\\d+\\.txt\" x")).containsExactly("grep", "\\d+\\.txt", "x");
        assertThat(Words.split("\"\\$HOME \\` \\\\ \\' \\n\"")).containsExactly("$HOME ` \\ \\' \\n");
        assertThat(Words.split("\\d \\$ \\'")).containsExactly("d", "$", "'");
        assertThat(Words.split("a\\\nb \"c\\\nd\" \\\n e")).containsExactly("ab", "cd", "e");
    }

    @Test
    void refusesWhatHasNoWord() {
        assertThatThrownBy(() -> Words.split("  ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Words.split("echo 'x")).hasMessageContaining("never closed");
    }
}
