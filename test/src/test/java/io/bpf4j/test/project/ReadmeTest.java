package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.bpf4j.bindings.BindingsGenerator;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The Java that the README and the pages under docs show compiles. */
class ReadmeTest {
    private static final String FENCE = "```";

    /** What a snippet of a page takes for granted: these imports, and {@code spec}. */
    private static final String FRAME = """
            import static io.bpf4j.insn.Assembler.*;

            import io.bpf4j.btf.*;
            import io.bpf4j.insn.*;
            import io.bpf4j.loader.*;
            import io.bpf4j.loader.binding.*;
            import io.bpf4j.loader.dryrun.*;
            import io.bpf4j.loader.link.*;
            import io.bpf4j.loader.map.*;
            import io.bpf4j.loader.spec.*;
            import io.bpf4j.sys.*;
            import io.bpf4j.sys.kernel.*;
            import io.bpf4j.trace.*;
            import io.bpf4j.usdt.*;
            import java.nio.file.*;
            import java.time.*;

            final class Snippet {
                static void run(ObjectSpec spec) throws Exception {
            %s
                }
            }
            """;

    @Test
    void theQuickStartCompiles() throws IOException {
        List<String> snippets = snippets(root().resolve("README.md"), "java");
        assertThat(snippets).hasSize(1);
        assertThat(problems("GcPauses.java", snippets.getFirst())).isEmpty();
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
    void whatAPageShowsCompiles(String page, String snippet) throws IOException {
        assertThat(problems("Snippet.java", FRAME.replace("%s", snippet)))
                .as(page)
                .isEmpty();
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

    private static String problems(String file, String code) throws IOException {
        Path folder = TargetProgram.temporaryFolder();
        Path source = Files.writeString(folder.resolve(file), code);
        // The class that docs/bindings.md uses.
        Path generated = Files.writeString(
                folder.resolve("Gc.java"),
                BindingsGenerator.of(Bpf.spec("gc.bpf.o"), "Gc").source());
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter problems = new StringWriter();
        boolean compiled = compiler.getTask(
                        problems,
                        null,
                        null,
                        List.of("-Xlint:all", "-d", folder.toString(), "-cp", System.getProperty("java.class.path")),
                        null,
                        compiler.getStandardFileManager(null, null, null).getJavaFileObjects(source, generated))
                .call();
        return compiled ? "" : problems.toString();
    }
}
