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

    @Test
    void refusesWhatHasNoWord() {
        assertThatThrownBy(() -> Words.split("  ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Words.split("echo 'x")).hasMessageContaining("never closed");
    }
}
