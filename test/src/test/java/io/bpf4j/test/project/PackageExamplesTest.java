package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.GeneratedClasses;
import io.bpf4j.test.support.Snippets;
import io.bpf4j.test.support.TargetProgram;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The documentation of each package that a module exports to everybody opens with an example, which compiles. */
class PackageExamplesTest {
    private static final Path CHECKOUT =
            TargetProgram.testModule().resolve("..").normalize();

    /** Without {@code to}: exported to every module. */
    private static final Pattern EXPORTS = Pattern.compile("exports ([\\w.]+);");

    private static final Pattern OPENING = Pattern.compile("\\{@snippet lang = \"java\":\\R");
    private static final Pattern STAR = Pattern.compile("(?m)^ \\* ?");
    private static final String PARAGRAPH = "<p>";

    @Test
    void eachExportedPackageOpensWithAnExample() throws IOException {
        Map<String, String> exported = exported();
        assertThat(exported).hasSizeGreaterThan(20).containsKeys("io.bpf4j.elf", "io.bpf4j.trace.stack");
        List<String> without = new ArrayList<>();
        for (Map.Entry<String, String> each : exported.entrySet()) {
            if (example(each.getValue()).isEmpty()) {
                without.add(each.getKey());
            }
        }
        assertThat(without).isEmpty();
    }

    @Test
    void theExamplesCompile(@TempDir Path output) throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (Map.Entry<String, String> each : exported().entrySet()) {
            String code = example(each.getValue()).orElse("");
            sources.put(className(each.getKey()), framed(each.getKey(), code));
        }
        assertThat(Snippets.compile(sources, output)).isEmpty();
    }

    /** The examples that need no rights and no other file or process. */
    @ParameterizedTest
    @CsvSource({
        "io.bpf4j.elf, .shstrtab",
        "io.bpf4j.insn, exit",
        "io.bpf4j.loader.feature, :",
        "io.bpf4j.objects, trace",
        "io.bpf4j.trace.catalog, 0 name: Text",
        "io.bpf4j.usdt.site, 4 signed bytes: -20 bytes from rbp"
    })
    void anExampleRuns(String exported, String printed, @TempDir Path output) throws Exception {
        String code = example(exported().getOrDefault(exported, "")).orElseThrow();
        assertThat(Snippets.compile(Map.of(className(exported), framed(exported, code)), output))
                .isEmpty();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        try (URLClassLoader classes = GeneratedClasses.load(output)) {
            classes.loadClass(className(exported)).getMethod("run").invoke(null);
        } finally {
            System.setOut(before);
        }
        assertThat(out.toString(StandardCharsets.UTF_8)).contains(printed);
    }

    @Test
    void whatIsNoExampleIsSeen(@TempDir Path output) throws IOException {
        assertThat(example("/** A package. */")).isEmpty();
        assertThat(example(
                        "/**\n * A package.\n *\n * <p>More.\n *\n * {@snippet lang = \"java\":\n * run();\n * }\n */"))
                .isEmpty();
        String nested =
                "/**\n * A package.\n *\n * {@snippet lang = \"java\":\n * if (a) {\n *     b();\n * }\n * }\n */";
        assertThat(example(nested)).contains("if (a) {\n    b();\n}\n");
        String unused = framed("unused", "try (ElfFile file = ElfFile.open(Path.of(\"a\"))) {}");
        assertThat(Snippets.compile(Map.of("unused", unused), output)).contains("never referenced");
        assertThat(Snippets.compile(Map.of("unknown", framed("unknown", "Btf.invented();")), output))
                .contains("cannot find symbol");
    }

    /** The packages that the modules export to every module, and their documentation. */
    private static Map<String, String> exported() throws IOException {
        Map<String, String> exported = new TreeMap<>();
        try (Stream<Path> modules = Files.list(CHECKOUT)) {
            for (Path module : modules.map(folder -> folder.resolve("src/main/java"))
                    .filter(sources -> Files.exists(sources.resolve("module-info.java")))
                    .toList()) {
                Matcher export = EXPORTS.matcher(Files.readString(module.resolve("module-info.java")));
                while (export.find()) {
                    Path file =
                            module.resolve(export.group(1).replace('.', '/')).resolve("package-info.java");
                    exported.put(export.group(1), Files.exists(file) ? Files.readString(file) : "");
                }
            }
        }
        return exported;
    }

    /** The code of the snippet in the first paragraph of a documentation; empty if there is none. */
    private static Optional<String> example(String documentation) {
        int paragraph = documentation.indexOf(PARAGRAPH);
        String first = paragraph < 0 ? documentation : documentation.substring(0, paragraph);
        return OPENING.matcher(first).results().findFirst().map(opening -> code(first, opening));
    }

    /** From the opening to the brace that closes it; braces in the code are balanced. */
    private static String code(String text, MatchResult opening) {
        int end = opening.end();
        for (int open = 1; ; end++) {
            open += text.charAt(end) == '{' ? 1 : text.charAt(end) == '}' ? -1 : 0;
            if (open == 0) {
                return STAR.matcher(text.substring(opening.end(), end)).replaceAll("");
            }
        }
    }

    private static String className(String exported) {
        return exported.replace('.', '_');
    }

    /**
     * The example may use all exported packages, of Java's own those that most programs import, and those to which
     * metrics are handed.
     */
    private static String framed(String exported, String code) throws IOException {
        List<String> imports = new ArrayList<>();
        exported().keySet().forEach(name -> imports.add(name + ".*"));
        List.of(
                        "io.opentelemetry.sdk.metrics",
                        "io.prometheus.metrics.model.registry",
                        "java.nio",
                        "java.nio.charset",
                        "java.nio.file",
                        "java.time",
                        "java.util")
                .forEach(name -> imports.add(name + ".*"));
        return Snippets.framed(className(exported), imports, "", code);
    }
}
