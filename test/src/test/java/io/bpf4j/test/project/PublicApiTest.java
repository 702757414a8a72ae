package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.bindings.BindingsGenerator;
import io.bpf4j.btf.Btf;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.objects.BpfObjects;
import io.bpf4j.sys.Host;
import io.bpf4j.test.support.GeneratedClasses;
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
import java.lang.reflect.AnnotatedArrayType;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.AnnotatedWildcardType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
        List<String> classes = publicTypes(module.member());
        assertThat(classes).isNotEmpty();
        String actual = listing(classes, System.getProperty("java.class.path"));
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

    /** CONTRIBUTING: what may be absent is an {@code Optional}. */
    @Test
    void nothingIsNull() throws IOException, URISyntaxException, ClassNotFoundException {
        List<String> nullable = new ArrayList<>();
        for (Listed module : modules().toList()) {
            for (String name : publicTypes(module.member())) {
                Class<?> type = Class.forName(name, false, PublicApiTest.class.getClassLoader());
                Stream.<Executable>concat(
                                Stream.of(type.getDeclaredMethods()), Stream.of(type.getDeclaredConstructors()))
                        .filter(member -> Modifier.isPublic(member.getModifiers()))
                        .filter(member -> !member.getName().equals("equals"))
                        .filter(member -> !(member instanceof Constructor && Throwable.class.isAssignableFrom(type)))
                        .filter(member -> Stream.concat(
                                        Stream.of(member.getAnnotatedReturnType()),
                                        Stream.of(member.getAnnotatedParameterTypes()))
                                .anyMatch(PublicApiTest::mayBeNull))
                        .forEach(member -> nullable.add(member.toString()));
            }
        }
        assertThat(nullable).isEmpty();
    }

    @Test
    void whatMayBeNullIsFound() throws NoSuchMethodException {
        for (Method method : Nullables.class.getDeclaredMethods()) {
            assertThat(Stream.concat(
                            Stream.of(method.getAnnotatedReturnType()), Stream.of(method.getAnnotatedParameterTypes())))
                    .as(method.toString())
                    .anyMatch(PublicApiTest::mayBeNull);
        }
        assertThat(mayBeNull(Object.class.getMethod("toString").getAnnotatedReturnType()))
                .isFalse();
    }

    interface Nullables {
        @Nullable
        String result();

        byte @Nullable [] array();

        List<? extends @Nullable String> elements();

        void parameter(int number, @Nullable String text);
    }

    private static boolean mayBeNull(AnnotatedType type) {
        if (type.isAnnotationPresent(Nullable.class)) {
            return true;
        }
        return switch (type) {
            case AnnotatedArrayType array -> mayBeNull(array.getAnnotatedGenericComponentType());
            case AnnotatedParameterizedType generic ->
                Stream.of(generic.getAnnotatedActualTypeArguments()).anyMatch(PublicApiTest::mayBeNull);
            case AnnotatedWildcardType wildcard ->
                Stream.concat(
                                Stream.of(wildcard.getAnnotatedUpperBounds()),
                                Stream.of(wildcard.getAnnotatedLowerBounds()))
                        .anyMatch(PublicApiTest::mayBeNull);
            default -> false;
        };
    }

    @Test
    void aMethodWithTheNameOfAnImpliedOneIsListed(@TempDir Path folder) {
        String source = """
                package org.example;

                public interface Listed {
                    java.util.List<String> values();

                    record Table(java.util.List<String> values) {
                        public static Table valueOf(long number) {
                            return new Table(java.util.List.of(Long.toString(number)));
                        }
                    }

                    enum Kind {
                        ONE
                    }
                }
                """;
        assertThat(GeneratedClasses.compile(Map.of("org.example.Listed", source), folder))
                .isEmpty();
        assertThat(listing(
                                List.of("org.example.Listed", "org.example.Listed$Table", "org.example.Listed$Kind"),
                                folder.toString())
                        .lines()
                        .map(String::strip))
                .contains(
                        "public abstract java.util.List<String> values();",
                        "public java.util.List<String> values();",
                        "public static org.example.Listed$Table valueOf(long);",
                        "public static final org.example.Listed$Kind ONE;")
                .noneMatch(line -> line.contains("Kind[] values()"));
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
                        "SymbolTables$FunctionReader",
                        "SymbolTables$Names",
                        "SymbolTables$Reader",
                        "TypedValue$Visitor",
                        "UsdtWatch$Listener");
    }

    /** Classes with their public members, in order. */
    private static String listing(List<String> classes, String classPath) {
        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out);
        String[] options = {"-public", "-cp", classPath};
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

    /** Every public type of the packages that the module exports to everybody. */
    static List<String> publicTypes(Class<?> member) throws IOException, URISyntaxException {
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
