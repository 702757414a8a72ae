package io.bpf4j.trace.internal.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.internal.glob.Glob;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The machine that the generated code runs, one step after the other; {@code ExpressionsOnKernelTest} runs the code. */
class PatternMachineTest {
    private static final String SEED_OF_PROPERTIES = "20261127";

    /** Mixed into jqwik's, which is a constant of the annotation. */
    private static final long SEED = Long.getLong("bpf4j.test.seed", 0);

    private static final String[] PARTS = {"a", "b", "?", "*", "[ab]", "[!a]", "{a,b}", "{,ab}", "{a*,{b,?b}a}", "{*,b}"
    };

    private static PatternMachine machine(String pattern) {
        return new PatternMachine(Glob.ofText(pattern));
    }

    private static boolean matches(PatternMachine machine, String text) {
        long states = machine.first();
        for (int i = 0; i < text.length(); i++) {
            states = (states << 1 & machine.masks()[text.charAt(i)]) | (states & machine.stars());
        }
        return (states & machine.last()) != 0;
    }

    @Property(tries = 20_000, seed = SEED_OF_PROPERTIES)
    void theMachineMatchesWhatThePatternMatches(@ForAll("patterns") String pattern, @ForAll("texts") String text) {
        assertThat(matches(machine(pattern), text))
                .isEqualTo(Glob.ofText(pattern).matches(text));
    }

    @Example
    void aPatternHasAtMost63BytesBesidesStars() {
        PatternMachine longest = machine("*" + "?*".repeat(63));
        assertThat(matches(longest, "x".repeat(63))).isTrue();
        assertThat(matches(longest, "x".repeat(62))).isFalse();
        assertThatThrownBy(() -> machine("x".repeat(64))).hasMessageContaining("at most 63 bytes");
    }

    @Example
    void allThatBracesStandForIsCounted() {
        PatternMachine longest = machine("{" + "x".repeat(31) + "," + "y".repeat(31) + "}");
        assertThat(matches(longest, "x".repeat(31))).isTrue();
        assertThat(matches(longest, "y".repeat(31))).isTrue();
        assertThat(matches(longest, "x".repeat(30) + "y")).isFalse();
        for (String pattern : new String[] {
            "{" + "x".repeat(31) + "," + "y".repeat(32) + "}",
            "{a,b}".repeat(5),
            "{a,b}".repeat(5_000),
            "{*,*a}".repeat(5_000),
            "{" + ",".repeat(64) + "}"
        }) {
            assertThatThrownBy(() -> machine(pattern))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("at most 63 bytes");
        }
    }

    @Provide
    Arbitrary<String> patterns() {
        return Arbitraries.randomValue(jqwik -> {
            Random random = new Random(jqwik.nextLong() ^ SEED);
            StringBuilder pattern = new StringBuilder();
            int choices = 0;
            for (int left = random.nextInt(5); left > 0; left--) {
                String part = PARTS[random.nextInt(choices < 2 ? PARTS.length : 6)];
                choices += part.startsWith("{") ? 1 : 0;
                pattern.append(part);
            }
            return pattern.toString();
        });
    }

    @Provide
    Arbitrary<String> texts() {
        return Arbitraries.strings().withChars('a', 'b', 'c').ofMaxLength(6);
    }
}
