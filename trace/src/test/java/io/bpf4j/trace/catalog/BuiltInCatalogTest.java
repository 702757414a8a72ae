package io.bpf4j.trace.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.usdt.JvmProbes;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The parser checks the rules of the format; here is what is expected of bpf4j's own files beyond them. */
class BuiltInCatalogTest {
    private static final Catalog CATALOG = Catalog.builtIn();

    private static final Set<String> COMMANDS = Set.of("count", "hist", "latency", "stack", "top", "trace");

    /** Options that take expressions; their identifiers are arguments, or known everywhere. */
    private static final Set<String> WITH_EXPRESSION = Set.of("--by", "--show", "--where", "--of", "--pair");

    private static final Pattern IDENTIFIER = Pattern.compile("(?<begin>begin\\.)?(?<name>[A-Za-z_][A-Za-z0-9_]*)");

    static Stream<ReadyQuestion> questions() {
        return CATALOG.questions().stream();
    }

    @Test
    void everyFileIsListed() throws IOException, URISyntaxException {
        Path one = Path.of(Objects.requireNonNull(BuiltInCatalog.class.getResource("hotspot.probes"))
                .toURI());
        try (Stream<Path> files = Files.list(Objects.requireNonNull(one.getParent()))) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".probes")))
                    .containsExactlyInAnyOrderElementsOf(files());
        }
    }

    private static List<String> files() {
        return BuiltInCatalog.RESOURCES.stream()
                .map(BuiltInCatalog.Resource::file)
                .toList();
    }

    /** Else what it has would not be found. */
    @Test
    void whatAFileHasIsListed() {
        assertThat(BuiltInCatalog.RESOURCES).allSatisfy(resource -> {
            CatalogPart.Entries entries = BuiltInCatalog.read(resource.file());
            assertThat(entries.probes().stream().map(ProbeSignature::provider).collect(Collectors.toSet()))
                    .isEqualTo(resource.providers());
            assertThat(entries.questions().stream().map(ReadyQuestion::group).collect(Collectors.toSet()))
                    .isEqualTo(resource.groups());
        });
    }

    @Test
    void aPatternMatchesAcrossFiles() {
        assertThat(CATALOG.matching(ProbePattern.parse("*:gc*")))
                .extracting(ProbeSignature::provider)
                .contains("hotspot", "python");
        assertThat(CATALOG.matching(ProbePattern.parse("hotspot:*")))
                .extracting(ProbeSignature::provider)
                .containsOnly("hotspot");
        assertThat(CATALOG.matching(ProbePattern.parse("none:*"))).isEmpty();
    }

    @Test
    void everyFileNamesItsSource() {
        assertThat(files()).allSatisfy(file -> assertThat(text(file)).as(file).containsPattern("(?m)^# Sources?: "));
    }

    @Test
    void theProvidersAreThere() {
        assertThat(new TreeSet<>(
                        CATALOG.probes().stream().map(ProbeSignature::provider).toList()))
                .containsExactly(
                        "hotspot",
                        "hotspot_jni",
                        "hs_private",
                        "libc",
                        "libgcc",
                        "libpthread",
                        "libstdcxx",
                        "libvirt",
                        "mysql",
                        "node",
                        "php",
                        "postgresql",
                        "python",
                        "qemu",
                        "rtld",
                        "ruby");
    }

    @Test
    void noFileHidesAnotherOne() {
        assertThat(CATALOG.with(CATALOG).probes()).hasSameSizeAs(CATALOG.probes());
        assertThat(CATALOG.with(CATALOG).questions()).hasSameSizeAs(CATALOG.questions());
    }

    /** Those of JNI are described once, at the head of their file. */
    @Test
    void everyProbeIsDescribed() {
        assertThat(CATALOG.probes())
                .filteredOn(probe -> !probe.provider().equals("hotspot_jni"))
                .allSatisfy(probe ->
                        assertThat(probe.description()).as(probe.fullName()).isNotEmpty());
        assertThat(CATALOG.questions())
                .allSatisfy(question -> assertThat(question.description()).isNotEmpty());
    }

    @Test
    void someEntriesAreAsExpected() {
        ProbeSignature loaded = CATALOG.find("hotspot", "class__loaded").orElseThrow();
        assertThat(loaded.arguments())
                .extracting(ProbeArgument::name)
                .containsExactly("name", "name_length", "loader", "shared");
        assertThat(loaded.argument("name").orElseThrow().type())
                .isInstanceOfSatisfying(
                        ArgumentType.Text.class,
                        text -> assertThat(text.length()).hasValue(1));
        assertThat(CATALOG.find("libstdcxx", "throw")
                        .orElseThrow()
                        .argument("type")
                        .orElseThrow()
                        .type())
                .isInstanceOfSatisfying(ArgumentType.Text.class, text -> {
                    assertThat(text.pointerAt()).hasValue(8);
                    assertThat(text.mangled()).isTrue();
                });
        assertThat(CATALOG.find("hotspot", "gc__end").orElseThrow().pair())
                .hasValue(new ProbePair("gc__begin", "gc__end", Optional.empty()));
        assertThat(CATALOG.find("postgresql", "lwlock__acquire")
                        .orElseThrow()
                        .argument("mode")
                        .orElseThrow()
                        .type())
                .isInstanceOfSatisfying(
                        ArgumentType.Int.class,
                        mode -> assertThat(mode.names())
                                .isEqualTo(Map.of(0L, "exclusive", 1L, "shared", 2L, "wait_until_free")));
    }

    @Test
    void theQuestionsAreThere() {
        assertThat(CATALOG.questions("jvm"))
                .extracting(ReadyQuestion::name)
                .contains("gc", "classes", "threads", "monitors", "alloc", "calls", "stat");
        assertThat(CATALOG.questions("postgres"))
                .extracting(ReadyQuestion::name)
                .contains("slow", "stat", "locks", "checkpoints");
        assertThat(CATALOG.questions("cxx")).extracting(ReadyQuestion::name).contains("exceptions");
        assertThat(CATALOG.questions("python")).extracting(ReadyQuestion::name).contains("calls", "gc");
    }

    @ParameterizedTest
    @MethodSource("questions")
    void aQuestionAsksProbesThatExist(ReadyQuestion question) {
        assertThat(COMMANDS).contains(question.command().getFirst());
        assertThat(patterns(question))
                .isNotEmpty()
                .filteredOn(pattern -> !pattern.startsWith("u:")) // a function is in no catalog
                .allSatisfy(pattern -> assertThat(matching(pattern)).as(pattern).isNotEmpty());
    }

    /**
     * Each identifier is an argument of all probes: the catalog does not know at which of a pair it is read. That of the
     * begin is an argument of the first.
     */
    @ParameterizedTest
    @MethodSource("questions")
    void aQuestionUsesArgumentsOfAllItsProbes(ReadyQuestion question) {
        List<String> command = question.command();
        for (int i = 0; i + 1 < command.size(); i++) {
            if (WITH_EXPRESSION.contains(command.get(i))) {
                IDENTIFIER.matcher(command.get(i + 1)).results().forEach(word -> {
                    if (!word.group().equals("probe")) {
                        long read = word.group("begin") == null ? Long.MAX_VALUE : 1;
                        assertThat(patterns(question).stream()
                                        .limit(read)
                                        .flatMap(pattern -> matching(pattern).stream()))
                                .allSatisfy(probe -> assertThat(probe.argument(word.group("name")))
                                        .as(word.group() + " of " + probe.fullName())
                                        .isPresent());
                    }
                });
            }
        }
    }

    @ParameterizedTest
    @MethodSource("questions")
    void aQuestionAboutDurationsAsksAPair(ReadyQuestion question) {
        if (question.command().getFirst().equals("latency")) {
            List<String> patterns = patterns(question);
            assertThat(patterns).hasSize(2);
            // A begin without a pair has no end of its own, such as the status of a server.
            matching(patterns.getFirst())
                    .getFirst()
                    .pair()
                    .ifPresent(pair -> assertThat(pair.end())
                            .isEqualTo(matching(patterns.getLast()).getFirst().name()));
        }
    }

    @ParameterizedTest
    @MethodSource("questions")
    void aQuestionNamesTheFlagsThatItsProbesNeed(ReadyQuestion question) {
        if (patterns(question).stream().noneMatch(pattern -> pattern.contains("*"))) {
            assertThat(question.flags().stream().filter(flag -> flag.startsWith("-XX:")))
                    .containsExactlyElementsOf(patterns(question).stream()
                            .flatMap(pattern -> matching(pattern).stream())
                            .flatMap(probe -> JvmProbes.flagFor(inFile(probe)).stream())
                            .map(flag -> "-XX:+" + flag)
                            .distinct()
                            .toList());
        }
    }

    private static List<String> patterns(ReadyQuestion question) {
        return question.command().stream()
                .skip(1)
                .takeWhile(word -> !word.startsWith("--"))
                .toList();
    }

    private static List<ProbeSignature> matching(String pattern) {
        ProbePattern parsed = ProbePattern.parse(pattern);
        return CATALOG.probes().stream()
                .filter(probe -> parsed.matches(probe.provider(), probe.name()))
                .toList();
    }

    /** The probe as a file would have it. */
    private static UsdtProbe inFile(ProbeSignature probe) {
        return UsdtProbe.of(
                UsdtBinary.of(Path.of("/a"), Machine.X86_64, new FileIdentity(1, 2, 3, 4)),
                probe.provider(),
                probe.name(),
                List.of(UsdtSite.at(0x1000, 0x1000)));
    }

    private static String text(String file) {
        try (InputStream in = Objects.requireNonNull(BuiltInCatalog.class.getResourceAsStream(file))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
