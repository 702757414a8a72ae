package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.bindings.BindingsGenerator;
import io.bpf4j.btf.Btf;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.objects.BpfObjects;
import io.bpf4j.sys.Host;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.Usdt;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The public API is what {@code docs/api} lists. A change of the API is a change of the listing, which a reviewer sees;
 * CONTRIBUTING says which changes are allowed.
 */
class PublicApiTest {
    private static final Path CHECKOUT =
            TargetProgram.testModule().resolve("..").normalize();

    /** What every record and every enum has, and javap's first line of each class. */
    private static final Predicate<String> IMPLIED = Pattern.compile(
                    "Compiled from|final (String toString|int hashCode|boolean equals)\\("
                            + "|\\bstatic \\S+\\[] values\\(\\);|\\bstatic \\S+ valueOf\\(String\\)")
            .asPredicate();

    record Listed(String name, Class<?> member) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Listed> modules() {
        return Stream.of(
                new Listed("elf", ElfFile.class),
                new Listed("btf", Btf.class),
                new Listed("sys", Host.class),
                new Listed("loader", BpfLoader.class),
                new Listed("usdt", Usdt.class),
                new Listed("bpf-objects", BpfObjects.class),
                new Listed("trace", Question.class),
                new Listed("metrics", AnswerMetric.class),
                new Listed("bindings", BindingsGenerator.class));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void theListingIsTheApi(Listed module) throws IOException, URISyntaxException {
        String actual = listing(module.member());
        Path written = Files.createDirectories(TargetProgram.testModule().resolve("target/api"))
                .resolve(module + ".txt");
        Files.writeString(written, actual);
        Path listed = CHECKOUT.resolve("docs/api").resolve(module + ".txt");

        assertThat(Files.readString(listed).lines().toList())
                .as(
                        "docs/api/%s.txt. If the change of the API is intended: cp %s %s",
                        module, written.toAbsolutePath(), listed)
                .isEqualTo(actual.lines().toList());
    }

    @Test
    void onlyTheValuesOfEnumsAreImplied() {
        assertThat("  public static io.bpf4j.loader.map.MapType[] values();").matches(IMPLIED);
        assertThat("  public static io.bpf4j.loader.map.MapType valueOf(String);")
                .matches(IMPLIED);
        assertThat("  public final java.util.List<io.bpf4j.btf.BtfType$Enumerator> values();")
                .doesNotMatch(IMPLIED);
        assertThat("  public java.util.Map<String, Object> values();").doesNotMatch(IMPLIED);
        assertThat("  public static io.bpf4j.usdt.UsdtArg valueOf(long);").doesNotMatch(IMPLIED);
    }

    /** Callers implement callbacks, codecs and extension points, and the types that these return. */
    @Test
    void whatCallersDoNotImplementIsSealed() throws IOException, URISyntaxException, ClassNotFoundException {
        List<String> open = new ArrayList<>();
        for (Listed module : modules().toList()) {
            for (String name : publicTypes(module.member())) {
                Class<?> type = Class.forName(name, false, PublicApiTest.class.getClassLoader());
                if (type.isInterface() && !type.isAnnotation() && !type.isSealed()) {
                    open.add(name.substring(name.lastIndexOf('.') + 1));
                }
            }
        }
        assertThat(open)
                .containsExactlyInAnyOrder(
                        "BtfFile$Taker",
                        "Codec",
                        "EventStream$Handler",
                        "FileOpener",
                        "FileOpener$Opened",
                        "Following$Listener",
                        "Link",
                        "Link$Closing",
                        "ObjectExtension",
                        "PerfBuffer$LostHandler",
                        "ProbeSession",
                        "RecordHandler",
                        "SectionAttacher",
                        "StructView$Factory",
                        "SymbolPlaces$FunctionReader",
                        "SymbolPlaces$Names",
                        "SymbolPlaces$Reader",
                        "TypedValue$Visitor",
                        "UsdtWatch$Listener");
    }

    /** Every public type of the packages that the module exports to everybody, with its public members, in order. */
    private static String listing(Class<?> member) throws IOException, URISyntaxException {
        List<String> classes = publicTypes(member);
        assertThat(classes).isNotEmpty();
        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out);
        String[] options = {"-public", "-cp", System.getProperty("java.class.path")};
        int result = ToolProvider.findFirst("javap")
                .orElseThrow()
                .run(
                        writer,
                        writer,
                        Stream.concat(Stream.of(options), classes.stream()).toArray(String[]::new));
        assertThat(result).as(out.toString()).isZero();
        return out.toString()
                .lines()
                .map(line -> line.replace("java.lang.", ""))
                .filter(IMPLIED.negate())
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private static List<String> publicTypes(Class<?> member) throws IOException, URISyntaxException {
        Path location = Path.of(
                member.getProtectionDomain().getCodeSource().getLocation().toURI());
        ModuleReference module =
                ModuleFinder.of(location).findAll().stream().findFirst().orElseThrow();
        Set<String> exported = module.descriptor().exports().stream()
                .filter(exports -> !exports.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toSet());
        try (ModuleReader reader = module.open()) {
            return reader.list()
                    .filter(name -> name.endsWith(".class") && name.contains("/"))
                    .map(name ->
                            name.substring(0, name.length() - ".class".length()).replace('/', '.'))
                    .filter(name -> exported.contains(name.substring(0, name.lastIndexOf('.'))))
                    .filter(PublicApiTest::isPublic)
                    .sorted()
                    .toList();
        }
    }

    /** A nested type is public if the types around it are. */
    private static boolean isPublic(String name) {
        try {
            for (Class<?> type = Class.forName(name, false, PublicApiTest.class.getClassLoader());
                    type != null;
                    type = type.getEnclosingClass()) {
                if (!Modifier.isPublic(type.getModifiers()) || type.isAnonymousClass()) {
                    return false;
                }
            }
            return true;
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(name, e);
        }
    }
}
