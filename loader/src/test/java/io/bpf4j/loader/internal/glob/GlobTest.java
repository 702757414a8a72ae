package io.bpf4j.loader.internal.glob;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GlobTest {
    private static String bytes(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '"', textBlock = """
            "";             "";             true
            "";             a;              false
            *;              "";             true
            *;              abc;            true
            **;             abc;            true
            abc;            abc;            true
            abc;            ab;             false
            abc;            abcd;           false
            a?c;            abc;            true
            a?c;            ac;             false
            a*c;            ac;             true
            a*c;            abbbc;          true
            a*c;            abbb;           false
            *c;             abc;            true
            *ab*ab*;        xabyabz;        true
            *ab*ab*;        xabyaz;         false
            *aab;           aaab;           true
            [a-c]x;         bx;             true
            [a-c]x;         dx;             false
            [!a-c]x;        dx;             true
            [^a-c]x;        bx;             false
            []x];           ];              true
            [x-];           -;              true
            [!]];           ];              false
            [a-cx-z];       y;              true
            [\\]a];         ];              true
            [\\--0];        .;              true
            a\\*b;          a*b;            true
            a\\*b;          axb;            false
            \\\\;           \\;             true
            {ab,c};         ab;             true
            {ab,c};         c;              true
            {ab,c};         abc;            false
            x{a,b}y;        xby;            true
            x{a,b}y;        xy;             false
            {a,b}{a,b};     ba;             true
            {a,{b,c}d};     cd;             true
            {a,{b,c}d};     c;              false
            {a*,b}?;        axyz;           true
            {,x}y;          y;              true
            {*a,*b};        xxb;            true
            {[,}],x};       ",";            true
            {[,}],x};       ",x";           false
            \\{a,b};        {a,b};          true
            {a\\,b,c};      a,b;            true
            {a};            {a};            true
            a,b;            a,b;            true
            a-b;            a-b;            true
            """)
    void patternsMatchWholeTexts(String pattern, String text, boolean matches) {
        assertThat(Glob.ofText(bytes(pattern)).matches(bytes(text))).isEqualTo(matches);
        assertThat(Glob.ofName(pattern).matches(text)).isEqualTo(matches);
    }

    @Test
    void aCharacterOfATextIsAByteAndOfANameACodePoint() {
        assertThat(Glob.ofText("?").matches(bytes("ä"))).isFalse();
        assertThat(Glob.ofText("??").matches(bytes("ä"))).isTrue();
        assertThat(Glob.ofText(bytes("*ä*")).matches(bytes("das ähnelt"))).isTrue();
        assertThat(Glob.ofName("?").matches("ä")).isTrue();
        assertThat(Glob.ofName("x?").matches("x\ud83d\ude00")).isTrue();
        assertThat(Glob.ofName("*[!\ud83d\ude00]").matches("\ud83d\ude00")).isFalse();
        assertThat(Glob.ofName("[ä-ü]").matches("ö")).isTrue();
    }

    @Test
    void aHyphenOfANameIsAlsoTwoUnderscores() {
        assertThat(Glob.ofName("gc-begin").matches("gc__begin")).isTrue();
        assertThat(Glob.ofName("gc\\-begin").matches("gc__begin")).isFalse();
        assertThat(Glob.ofName("a-b-c").matches("a__b-c")).isTrue();
        assertThat(Glob.ofText("gc-begin").matches("gc__begin")).isFalse();
        assertThat(Glob.ofLibbpf("gc-begin").matches("gc__begin")).isFalse();
    }

    /** As names that a compiler makes of C++ and Rust. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Rows::operator[](int)",
                "sum(int [3])",
                "main::{lambda(int, int)#1}::operator()(int, int) const",
                "shop::main::{closure#0}",
                "std::to_string[abi:cxx11](int)",
                "{a,b",
                "{a,{b}",
                "a}b{c",
                "[abc",
                "[!",
                "[\\]",
                "[z-a]",
                "a\\",
            })
    void aNameThatIsSpelledLikeThePatternMatches(String name) {
        assertThat(Glob.ofName(name).matches(name)).isTrue();
        assertThat(Glob.ofName("*" + Glob.quoted(name) + "*").matches("x" + name + "y"))
                .isTrue();
    }

    @Test
    void whatIsNotClosedStandsForItselfInAName() {
        assertThat(Glob.ofName("*::operator[]*").matches("Rows::operator[](int)"))
                .isTrue();
        assertThat(Glob.ofName("*::{closure#?}").matches("shop::main::{closure#0}"))
                .isTrue();
        assertThat(Glob.ofName("{a{b,c}").matches("{ac")).isTrue();
        assertThat(Glob.ofName("[a]x[b").matches("ax[b")).isTrue();
        assertThat(Glob.ofName("x*\\").matches("xy\\")).isTrue();
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
            {a,b;   '{' without '}'
            {"a*;   '{' without '}'
            """)
    void aTextThatIsNoPatternIsRefused(String pattern, String reason) {
        assertThatThrownBy(() -> Glob.ofText(bytes(pattern)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '"', textBlock = """
            tcp_*;   tcp_;      true
            tcp_*;   udp_x;     false
            *a*b;    xaabab;    true
            *a*b;    xaaba;     false
            a?c;     abc;       true
            a?c;     ac;        false
            **;      "";        true
            "";      a;         false
            "";      "";        true
            a;       "";        false
            a.c;     abc;       false
            [ab];    a;         false
            [ab];    [ab];      true
            [ab]*;   [ab]c;     true
            {a,b};   a;         false
            \\*;     *;         false
            \\*;     \\a;       true
            """)
    void libbpfKnowsTwoWildcards(String pattern, String name, boolean matches) {
        assertThat(Glob.ofLibbpf(pattern).matches(name)).isEqualTo(matches);
    }

    @Test
    void aPatternIsExactIfNothingInItStandsForSeveral() {
        for (String exact : List.of("", "f", "a-b", "a\\*", "a[c]", "{a}", "[a")) {
            assertThat(Glob.ofName(exact).isExact()).as(exact).isTrue();
        }
        for (String wild : List.of("*", "a?", "[ab]", "[a-b]", "[!a]", "{a,b}", "a{,b}")) {
            assertThat(Glob.ofName(wild).isExact()).as(wild).isFalse();
        }
        assertThat(Glob.ofLibbpf("{a,b}").isExact()).isTrue();
        assertThat(Glob.ofLibbpf("a*").isExact()).isFalse();
        assertThat(Glob.ofLibbpf("a?").isExact()).isFalse();
    }

    /** The bound is far above what this takes, and far below what a matcher takes that tries each way in turn. */
    @ParameterizedTest
    @ValueSource(strings = {"a*", "*{a,aa}", "{a,a}", "{*,*a}", "[", "{", "{a,", "\\", "{,}", "?*", "{a*,*a}"})
    void hostilePatternsTakeBoundedTime(String part) {
        Assertions.assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
            for (String pattern : List.of(part.repeat(2_000) + "b", "*".repeat(60) + part.repeat(90) + "b")) {
                assertThat(Glob.ofName(pattern).matches("a".repeat(4_000))).isFalse();
            }
        });
    }

    @Test
    void bracesThatNestDeeplyAreRefused() {
        String deep = "{a,".repeat(5_000) + "}".repeat(5_000);
        assertThatThrownBy(() -> Glob.ofName(deep)).hasMessageContaining("nested more than 100 deep");
        assertThatThrownBy(() -> Glob.ofText(deep)).hasMessageContaining("nested more than 100 deep");
        assertThat(Glob.ofName("{".repeat(5_000) + "*").matches("{".repeat(5_000)))
                .isTrue();
    }
}
