package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.JavaFiles;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Comments that say which test tests a class, and pages that say which test shows something, name tests that exist. */
class CommentsTest {
    private static final Path CHECKOUT =
            TargetProgram.testModule().resolve("..").normalize();
    private static final Pattern TESTED_BY = Pattern.compile("Tested\\s+(?:\\*\\s+)?by\\b([^.]*)\\.");
    private static final Pattern TEST_CLASS = Pattern.compile("\\{@code\\s+(?:\\*\\s+)?(\\w+)}");

    /** A test in the text of a page, by the name of its class. */
    private static final Pattern TEST_IN_PAGE = Pattern.compile("`(\\w+Test)`");

    @Test
    void theTestsThatCommentsNameExist() throws IOException {
        Set<String> tests = tests();
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

    @Test
    void theTestsThatPagesNameExist() throws IOException {
        Set<String> tests = tests();
        Map<String, Long> named = new TreeMap<>();
        List<String> missing = new ArrayList<>();
        for (Path page : pages()) {
            String name = CHECKOUT.relativize(page).toString();
            List<String> inPage = TEST_IN_PAGE
                    .matcher(Files.readString(page))
                    .results()
                    .map(test -> test.group(1))
                    .toList();
            named.put(name, inPage.stream().distinct().count());
            inPage.stream().filter(test -> !tests.contains(test)).forEach(test -> missing.add(name + ": " + test));
        }

        assertThat(missing).isEmpty();
        assertThat(named.get("SECURITY.md")).isGreaterThan(50);
        assertThat(named.get("docs/api/README.md")).isGreaterThan(50);
        assertThat(named.get("docs/reliability.md")).isGreaterThan(10);
    }

    /** What SECURITY.md says of rights, files and processes is of use only where a reader finds it. */
    @Test
    void theReadmeAndTheChangesLeadToSecurity() throws IOException {
        for (String page : List.of("README.md", "CHANGELOG.md")) {
            assertThat(CHECKOUT.resolve(page)).content().contains("[SECURITY.md](SECURITY.md)");
        }
    }

    /** The names of the Java files of tests. */
    private static Set<String> tests() throws IOException {
        return sources("test").stream()
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .collect(Collectors.toSet());
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> top = Files.list(CHECKOUT);
                Stream<Path> docs = Files.walk(CHECKOUT.resolve("docs"))) {
            return Stream.concat(top, docs)
                    .filter(page -> page.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    /** The Java files of {@code src/main} or {@code src/test} of each module. */
    private static List<Path> sources(String kind) throws IOException {
        return JavaFiles.in(CHECKOUT, "/src/" + kind + "/java/");
    }
}
