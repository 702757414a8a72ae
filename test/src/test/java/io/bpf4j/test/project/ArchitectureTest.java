package io.bpf4j.test.project;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dependencies point down, and nothing goes in circles. */
class ArchitectureTest {
    /** The folders of a checkout may have any name. */
    private static final Pattern OF_TESTS =
            Pattern.compile(".*/(bpf4j-test(-objects)?-[^/]*\\.jar!|target/test-classes)/.*");

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.matches(OF_TESTS))
            .importPackages("io.bpf4j");

    @Test
    void theClassesAreThere() {
        assertThat(CLASSES.contain("io.bpf4j.elf.ElfFile")).isTrue();
        assertThat(CLASSES.contain("io.bpf4j.usdt.Usdt")).isTrue();
        assertThat(CLASSES.contain("io.bpf4j.cli.Main")).isTrue();
    }

    @Test
    void modulesDependDownwardsOnly() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("elf")
                .definedBy("io.bpf4j.elf..")
                .layer("btf")
                .definedBy("io.bpf4j.insn..", "io.bpf4j.btf..", "io.bpf4j.core..")
                .layer("sys")
                .definedBy("io.bpf4j.sys..")
                .layer("loader")
                .definedBy("io.bpf4j.loader..")
                .layer("process")
                .definedBy("io.bpf4j.process..")
                .layer("usdt")
                .definedBy("io.bpf4j.usdt..")
                .layer("objects")
                .definedBy("io.bpf4j.objects..")
                .layer("trace")
                .definedBy("io.bpf4j.trace..")
                .layer("metrics")
                .definedBy("io.bpf4j.metrics..")
                .layer("bindings")
                .definedBy("io.bpf4j.bindings..")
                .layer("cli")
                .definedBy("io.bpf4j.cli..")
                .whereLayer("cli")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("metrics")
                .mayOnlyBeAccessedByLayers("cli")
                .whereLayer("trace")
                .mayOnlyBeAccessedByLayers("metrics", "cli")
                .whereLayer("bindings")
                .mayOnlyBeAccessedByLayers("cli")
                .whereLayer("bindings")
                .mayOnlyAccessLayers("loader", "sys", "btf", "elf")
                .whereLayer("objects")
                .mayOnlyBeAccessedByLayers("trace", "cli")
                .whereLayer("objects")
                .mayNotAccessAnyLayer()
                .whereLayer("usdt")
                .mayOnlyBeAccessedByLayers("trace", "cli")
                .whereLayer("process")
                .mayOnlyBeAccessedByLayers("usdt", "trace", "cli")
                .whereLayer("loader")
                .mayOnlyBeAccessedByLayers("process", "usdt", "trace", "metrics", "bindings", "cli")
                .whereLayer("sys")
                .mayOnlyBeAccessedByLayers("loader", "process", "usdt", "trace", "bindings", "cli")
                .whereLayer("btf")
                .mayOnlyBeAccessedByLayers("sys", "loader", "process", "usdt", "trace", "bindings", "cli")
                .check(CLASSES);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"elf", "insn|btf|core", "sys", "loader", "process", "usdt", "trace", "metrics", "bindings", "cli"
            })
    void noModuleHasACycleOfPackages(String module) {
        slices().assignedFrom(new PackageSlices(module))
                .should()
                .beFreeOfCycles()
                .check(CLASSES);
    }

    /** What the kernel tells in files is read through a Host. Messages may name such files, inside of a sentence. */
    @Test
    void onlyTheHostKnowsWhereTheKernelsFilesAre() throws IOException {
        Pattern file = Pattern.compile("\"/(proc|sys)[/\"]");
        List<String> found = new ArrayList<>();
        int read = 0;
        for (String module :
                List.of("elf", "btf", "sys", "loader", "process", "usdt", "trace", "metrics", "bindings", "cli")) {
            Path sources = TargetProgram.testModule().resolveSibling(module).resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                for (Path source :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    read++;
                    String name = sources.relativize(source).toString();
                    Files.readAllLines(source).stream()
                            .filter(line -> !line.strip().startsWith("*")
                                    && file.matcher(line).find())
                            .forEach(line -> found.add(name + ": " + line.strip()));
                }
            }
        }
        assertThat(read).isGreaterThan(300);
        assertThat(found).isEmpty();
    }

    /** So a program needs the library that it uses, and not the other. */
    @Test
    void eachKindOfMetricsKnowsOneLibrary() {
        noClasses()
                .that()
                .resideInAPackage("io.bpf4j.metrics.prometheus..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.opentelemetry..", "io.bpf4j.metrics.opentelemetry..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("io.bpf4j.metrics.opentelemetry..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.prometheus..", "io.bpf4j.metrics.prometheus..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage("io.bpf4j.metrics", "io.bpf4j.metrics.internal")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.opentelemetry..", "io.prometheus..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("io.bpf4j..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.opentelemetry..internal..")
                .check(CLASSES);
    }

    @Test
    void onlyTheSystemCallLayerMakesNativeCalls() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.bpf4j.sys.internal.call")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.lang.foreign.Linker")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.lang.foreign.SymbolLookup")
                .check(CLASSES);
    }
}
