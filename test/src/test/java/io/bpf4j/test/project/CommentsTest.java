package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.JavaFiles;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A comment that says which test tests a class names a test that exists. */
class CommentsTest {
    private static final Path CHECKOUT =
            TargetProgram.testModule().resolve("..").normalize();
    private static final Pattern TESTED_BY = Pattern.compile("Tested\\s+(?:\\*\\s+)?by\\b([^.]*)\\.");
    private static final Pattern TEST_CLASS = Pattern.compile("\\{@code\\s+(?:\\*\\s+)?(\\w+)}");

    @Test
    void theTestsThatCommentsNameExist() throws IOException {
        Set<String> tests = sources("test").stream()
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .collect(Collectors.toSet());
        List<String> named = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (Path source : sources("main")) {
            Matcher comment = TESTED_BY.matcher(Files.readString(source));
            while (comment.find()) {
                Matcher test = TEST_CLASS.matcher(comment.group(1));
                while (test.find()) {
                    named.add(test.group(1));
                    if (!tests.contains(test.group(1))) {
                        missing.add(CHECKOUT.relativize(source) + ": " + test.group(1));
                    }
                }
            }
        }

        assertThat(named).hasSizeGreaterThan(200);
        assertThat(missing).isEmpty();
    }

    /** The Java files of {@code src/main} or {@code src/test} of each module. */
    private static List<Path> sources(String kind) throws IOException {
        return JavaFiles.in(CHECKOUT, "/src/" + kind + "/java/");
    }
}
