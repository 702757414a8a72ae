package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A test is skipped in one way only, by {@code Requires}, which says what is missing and fails in CI. JUnit's and
 * AssertJ's own ways are silent.
 */
class SkippedTestsTest {
    private static final Pattern OTHER_WAYS =
            Pattern.compile("\\bAssumptions\\b|\\bTestAbortedException\\b|@(Disabled|Enabled)\\w*");

    /** The one way and its test, this file, and unit tests that lay out structs by the types of the running kernel. */
    private static final Set<String> ALLOWED = Set.of(
            "RequirementsExtension.java",
            "RequirementsExtensionTest.java",
            "RoundTest.java",
            "SkippedTestsTest.java",
            "LoadTransactionTest.java",
            "WholeObjectTest.java");

    @Test
    void nothingIsSkippedInAnotherWay() throws IOException {
        List<String> found = new ArrayList<>();
        int files = 0;
        for (Path source : sources()) {
            files++;
            if (!ALLOWED.contains(source.getFileName().toString())
                    && OTHER_WAYS.matcher(Files.readString(source)).find()) {
                found.add(source.toString());
            }
        }
        assertThat(files).isGreaterThan(200);
        assertThat(found).isEmpty();
    }

    private static List<Path> sources() throws IOException {
        Path checkout = TargetProgram.testModule().resolve("..").normalize();
        List<Path> sources = new ArrayList<>();
        try (Stream<Path> modules = Files.list(checkout)) {
            for (Path module : modules.toList()) {
                Path folder = module.resolve("src/test/java");
                if (Files.isDirectory(folder)) {
                    try (Stream<Path> files = Files.walk(folder)) {
                        files.filter(f -> f.toString().endsWith(".java")).forEach(sources::add);
                    }
                }
            }
        }
        return sources;
    }
}
