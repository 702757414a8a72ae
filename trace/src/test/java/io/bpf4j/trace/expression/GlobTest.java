package io.bpf4j.trace.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GlobTest {
    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '"', textBlock = """
            "";         "";             true
            "";         a;              false
            *;          "";             true
            *;          abc;            true
            **;         abc;            true
            abc;        abc;            true
            abc;        ab;             false
            abc;        abcd;           false
            a?c;        abc;            true
            a?c;        ac;             false
            a*c;        ac;             true
            a*c;        abbbc;          true
            a*c;        abbb;           false
            *c;         abc;            true
            *ab*ab*;    xabyabz;        true
            *ab*ab*;    xabyaz;         false
            *aab;       aaab;           true
            [a-c]x;     bx;             true
            [a-c]x;     dx;             false
            [!a-c]x;    dx;             true
            [^a-c]x;    bx;             false
            []x];       ];              true
            [x-];       -;              true
            [!]];       ];              false
            [a-cx-z];   y;              true
            [\\]a];     ];              true
            [\\--0];    .;              true
            a\\*b;      a*b;            true
            a\\*b;      axb;            false
            \\\\;       \\;             true
            ?;          ä;              false
            ??;         ä;              true
            *ä*;        "das ähnelt";   true
            """)
    void patternsMatchWholeTexts(String pattern, String text, boolean matches) {
        assertThat(Glob.parse(Bytes.of(pattern)).matches(Bytes.of(text))).isEqualTo(matches);
    }

    @Test
    void aPatternHasAtMost63BytesBesidesStars() {
        Glob longest = Glob.parse(Bytes.of("*" + "?*".repeat(63)));
        assertThat(longest.matches(Bytes.of("x".repeat(63)))).isTrue();
        assertThat(longest.matches(Bytes.of("x".repeat(62)))).isFalse();
        assertThatThrownBy(() -> Glob.parse(Bytes.of("x".repeat(64)))).hasMessageContaining("at most 63 bytes");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '\0', textBlock = """
            [abc;   '[' without ']'
            [;      '[' without ']'
            [!;     '[' without ']'
            [];     '[' without ']'
            [a-;    '[' without ']'
            [\\];   '[' without ']'
            [z-a];  ends before it begins
            [ä];    not ASCII
            a\\;    nothing follows the backslash
            """)
    void whatIsNoPatternIsRefused(String pattern, String reason) {
        assertThatThrownBy(() -> Glob.parse(Bytes.of(pattern)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
    }
}
