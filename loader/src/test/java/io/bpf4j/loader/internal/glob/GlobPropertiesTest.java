package io.bpf4j.loader.internal.glob;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.regex.Pattern;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Patterns of all kinds of parts, compared with a matcher that tries every way. */
class GlobPropertiesTest {
    private static final String SEED_OF_PROPERTIES = "20261127";

    /** Mixed into jqwik's, which is a constant of the annotation. */
    private static final long SEED = Long.getLong("bpf4j.test.seed", 0);

    /** Few, so that names match often. */
    private static final String CHARACTERS = "aab_-[]{},\\*?!^";

    /** A pattern as it is written, and the same as a regular expression. */
    record Sample(String glob, String regex, String name) {}

    /** Makes a pattern and its regular expression at the same time. */
    private static final class Maker {
        private final Random random;
        private final StringBuilder glob = new StringBuilder();
        private final StringBuilder regex = new StringBuilder();

        /** One way to match the pattern. */
        private final StringBuilder name = new StringBuilder();

        Maker(Random random) {
            this.random = random;
        }

        private char character() {
            return CHARACTERS.charAt(random.nextInt(CHARACTERS.length()));
        }

        void sequence(int depth, boolean named) {
            for (int left = random.nextInt(4); left > 0; left--) {
                part(depth, named);
            }
        }

        private void part(int depth, boolean named) {
            switch (random.nextInt(depth > 0 ? 7 : 5)) {
                case 0 -> {
                    glob.append('*');
                    regex.append(".*");
                    name(named, "ab_-".substring(random.nextInt(5)));
                }
                case 1 -> {
                    glob.append('?');
                    regex.append('.');
                    name(named, String.valueOf(character()));
                }
                case 2 -> set(named);
                case 3 -> {
                    glob.append('-');
                    regex.append("(?:-|__)");
                    name(named, random.nextBoolean() ? "-" : "__");
                }
                case 4 -> {
                    char c = character();
                    glob.append("ab_".indexOf(c) < 0 ? "\\" : "").append(c);
                    regex.append(Pattern.quote(String.valueOf(c)));
                    name(named, String.valueOf(c));
                }
                default -> choice(depth, named);
            }
        }

        private void set(boolean named) {
            boolean negated = random.nextBoolean();
            glob.append(negated ? random.nextBoolean() ? "[!" : "[^" : "[");
            regex.append(negated ? "[^" : "[");
            char last = 'a';
            for (int left = 1 + random.nextInt(3); left > 0; left--) {
                last = character();
                glob.append('\\').append(last);
                regex.append('\\').append(last == 'a' ? "x61" : last == 'b' ? "x62" : last == '_' ? "x5f" : last);
                if (last == '_' && random.nextBoolean()) {
                    glob.append("-b");
                    regex.append("-b");
                }
            }
            glob.append(']');
            regex.append(']');
            name(named, negated ? "x" : String.valueOf(last));
        }

        private void choice(int depth, boolean named) {
            int count = 2 + random.nextInt(2);
            int chosen = random.nextInt(count);
            glob.append('{');
            regex.append("(?:");
            for (int i = 0; i < count; i++) {
                glob.append(i > 0 ? "," : "");
                regex.append(i > 0 ? "|" : "");
                sequence(depth - 1, named && i == chosen);
            }
            glob.append('}');
            regex.append(')');
        }

        private void name(boolean named, String text) {
            name.append(named ? text : "");
        }

        Sample sample() {
            sequence(3, true);
            for (int changes = random.nextInt(3); changes > 0 && !name.isEmpty(); changes--) {
                int at = random.nextInt(name.length());
                name.replace(at, at + random.nextInt(2), random.nextBoolean() ? "" : String.valueOf(character()));
            }
            return new Sample(glob.toString(), regex.toString(), name.toString());
        }
    }

    @Property(tries = 20_000, seed = SEED_OF_PROPERTIES)
    void aPatternMatchesAsItsRegularExpressionDoes(@ForAll("samples") Sample sample) {
        boolean matches = Pattern.compile(sample.regex(), Pattern.DOTALL)
                .matcher(sample.name())
                .matches();
        assertThat(Glob.ofName(sample.glob()).matches(sample.name()))
                .isEqualTo(matches || sample.name().equals(sample.glob()));
        boolean asText = Pattern.compile(sample.regex().replace("(?:-|__)", "-"), Pattern.DOTALL)
                .matcher(sample.name())
                .matches();
        assertThat(Glob.ofText(sample.glob()).matches(sample.name())).isEqualTo(asText);
    }

    @Property(tries = 20_000, seed = SEED_OF_PROPERTIES)
    void everyNameIsAPattern(@ForAll("names") String name) {
        assertThat(Glob.ofName(name).matches(name)).isTrue();
        assertThat(Glob.ofLibbpf(name).matches(name)).isTrue();
        Glob quoted = Glob.ofName(Glob.quoted(name));
        assertThat(quoted.isExact()).isTrue();
        assertThat(quoted.matches(name)).isTrue();
        assertThat(quoted.matches(name + "a")).isFalse();
    }

    @Provide
    Arbitrary<Sample> samples() {
        return Arbitraries.randomValue(random -> new Maker(new Random(random.nextLong() ^ SEED)).sample());
    }

    @Provide
    Arbitrary<String> names() {
        return Arbitraries.randomValue(random -> {
            Maker maker = new Maker(new Random(random.nextLong() ^ SEED));
            StringBuilder name = new StringBuilder();
            for (int left = maker.random.nextInt(12); left > 0; left--) {
                name.append(maker.character());
            }
            return name.toString();
        });
    }
}
