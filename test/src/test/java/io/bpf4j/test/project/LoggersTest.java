package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The loggers of the libraries have names that the documentation lists. */
class LoggersTest {
    private static final Path CHECKOUT =
            TargetProgram.testModule().resolve("..").normalize();

    private static final List<String> LIBRARIES =
            List.of("elf", "btf", "sys", "loader", "process", "usdt", "trace", "bindings", "metrics");

    private static final Pattern LOGGER = Pattern.compile("getLogger\\(([^)]*)\\)");
    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);
    private static final Pattern NAME = Pattern.compile("NAME = \"([^\"]+)\"");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(io\\.bpf4j[a-z.]*)` \\|");

    @Test
    void eachNameIsDocumented() throws IOException {
        Set<String> names = new TreeSet<>();
        for (String module : LIBRARIES) {
            for (Path file : sources(CHECKOUT.resolve(module).resolve("src/main/java"))) {
                String text = Files.readString(file);
                Matcher logger = LOGGER.matcher(COMMENT.matcher(text).replaceAll(""));
                while (logger.find()) {
                    names.add(
                            logger.group(1).equals("NAME")
                                    ? name(text)
                                    : logger.group(1).replace("\"", ""));
                }
            }
        }
        Set<String> documented = new TreeSet<>();
        Matcher row = ROW.matcher(Files.readString(CHECKOUT.resolve("docs/embedding.md")));
        while (row.find()) {
            documented.add(row.group(1));
        }
        assertThat(names).isNotEmpty().isEqualTo(documented);
    }

    private static List<Path> sources(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    private static String name(String text) {
        Matcher name = NAME.matcher(text);
        assertThat(name.find()).isTrue();
        return name.group(1);
    }
}
