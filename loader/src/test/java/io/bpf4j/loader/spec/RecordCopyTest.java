package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The compiler does not compare the names with the components, so this does. */
class RecordCopyTest {
    private static final Path SOURCES = Path.of("src/main/java/io/bpf4j/loader/spec");

    private static final Pattern COPY =
            Pattern.compile("RecordCopy\\.with\\(\\s*\\w+,\\s*(\\w+)\\.class,\\s*(\"\\w+\"|component)");

    /** A call of the method that the specifications have for their own record. */
    private static final Pattern OWN = Pattern.compile("(?<!RecordCopy\\.)\\bwith\\(\\s*\"(\\w+)\"");

    record Pair(String name, int number) {}

    @Test
    void oneComponentIsAnother() {
        assertThat(RecordCopy.with(new Pair("a", 1), Pair.class, "number", 2)).isEqualTo(new Pair("a", 2));
        assertThatThrownBy(() -> RecordCopy.with(new Pair("a", 1), Pair.class, "other", 2))
                .hasMessageContaining("has no other");
    }

    @Test
    void eachNameIsThatOfAComponent() throws Exception {
        List<String> names = new ArrayList<>();
        for (Path source : sources()) {
            String text = Files.readString(source);
            for (MatchResult copy : COPY.matcher(text).results().toList()) {
                List<String> components = components(copy.group(1));
                if (!copy.group(2).equals("component")) {
                    assertThat(components).contains(copy.group(2).replace("\"", ""));
                    names.add(copy.group(2));
                    continue;
                }
                for (MatchResult own : OWN.matcher(text).results().toList()) {
                    assertThat(components).as(source.toString()).contains(own.group(1));
                    names.add(own.group(1));
                }
            }
        }
        assertThat(names).as("names in the sources").hasSizeGreaterThan(35);
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith("RecordCopy.java"))
                    .toList();
        }
    }

    private static List<String> components(String type) throws ClassNotFoundException {
        return Arrays.stream(Class.forName(RecordCopy.class.getPackageName() + "." + type)
                        .getRecordComponents())
                .map(RecordComponent::getName)
                .toList();
    }
}
