package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.bpf4j.test.support.Snippets;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The Java that the README and the pages under docs show compiles. */
class ReadmeTest {
    private static final String FENCE = "```";

    /** What a snippet of a page takes for granted, beside an {@code ObjectSpec spec}. */
    private static final List<String> IMPORTS = List.of(
            "static io.bpf4j.insn.Assembler.*",
            "io.bpf4j.btf.*",
            "io.bpf4j.insn.*",
            "io.bpf4j.loader.*",
            "io.bpf4j.loader.binding.*",
            "io.bpf4j.loader.dryrun.*",
            "io.bpf4j.loader.link.*",
            "io.bpf4j.loader.map.*",
            "io.bpf4j.loader.ring.*",
            "io.bpf4j.loader.spec.*",
            "io.bpf4j.metrics.*",
            "io.bpf4j.metrics.opentelemetry.*",
            "io.bpf4j.metrics.prometheus.*",
            "io.bpf4j.sys.*",
            "io.bpf4j.sys.kernel.*",
            "io.bpf4j.trace.*",
            "io.bpf4j.usdt.*",
            "io.opentelemetry.sdk.metrics.*",
            "io.prometheus.metrics.model.registry.*",
            "java.nio.file.*",
            "java.time.*",
            "java.util.concurrent.*");

    @Test
    void theQuickStartCompiles(@TempDir Path output) throws IOException {
        List<String> snippets = snippets(root().resolve("README.md"), "java");
        assertThat(snippets).hasSize(1);
        assertThat(Snippets.compile(Map.of("GcPauses", snippets.getFirst()), output))
                .isEmpty();
    }

    @Test
    void theProgramOfTheQuickStartIsTheOneThatIsRun() throws IOException {
        Path source = root().resolve("test/objects/src/main/bpf/gc.bpf.c");
        assertThat(snippets(root().resolve("README.md"), "c"))
                .hasSize(1)
                .first(STRING)
                .satisfies(shown -> assertThat(Files.readString(source)).endsWith(shown));
    }

    static Stream<Arguments> pages() throws IOException {
        List<Arguments> all = new ArrayList<>();
        try (Stream<Path> pages = Files.list(root().resolve("docs"))) {
            for (Path page :
                    pages.filter(p -> p.toString().endsWith(".md")).sorted().toList()) {
                for (String snippet : snippets(page, "java")) {
                    all.add(Arguments.of(page.getFileName().toString(), snippet));
                }
            }
        }
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void whatAPageShowsCompiles(String page, String snippet, @TempDir Path output) {
        String source = Snippets.framed("Snippet", IMPORTS, "ObjectSpec spec", snippet);
        assertThat(Snippets.compile(Map.of("Snippet", source), output)).as(page).isEmpty();
    }

    private static Path root() {
        return TargetProgram.testModule().resolveSibling(".").normalize();
    }

    private static List<String> snippets(Path page, String language) throws IOException {
        List<String> snippets = new ArrayList<>();
        String text = Files.readString(page);
        String opening = FENCE + language + "\n";
        for (int start = text.indexOf(opening); start >= 0; start = text.indexOf(opening, start)) {
            start += opening.length();
            snippets.add(text.substring(start, text.indexOf(FENCE, start)));
        }
        return snippets;
    }
}
