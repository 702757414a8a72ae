package io.bpf4j.test.project;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dependencies point down, and nothing goes in circles. */
class ArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("/bpf4j-test") && !location.contains("test-classes"))
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
                .layer("loader")
                .definedBy("io.bpf4j.loader..")
                .layer("usdt")
                .definedBy("io.bpf4j.usdt..")
                .layer("objects")
                .definedBy("io.bpf4j.objects..")
                .layer("cli")
                .definedBy("io.bpf4j.cli..")
                .whereLayer("cli")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("objects")
                .mayOnlyBeAccessedByLayers("cli")
                .whereLayer("objects")
                .mayNotAccessAnyLayer()
                .whereLayer("usdt")
                .mayOnlyBeAccessedByLayers("cli")
                .whereLayer("loader")
                .mayOnlyBeAccessedByLayers("usdt", "cli")
                .whereLayer("btf")
                .mayOnlyBeAccessedByLayers("loader", "usdt", "cli")
                .check(CLASSES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"elf", "insn|btf|core", "loader", "usdt", "cli"})
    void noModuleHasACycleOfPackages(String module) {
        slices().assignedFrom(new PackageSlices(module))
                .should()
                .beFreeOfCycles()
                .check(CLASSES);
    }

    @Test
    void onlyTheSystemCallLayerMakesNativeCalls() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.bpf4j.loader.internal.sys")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.lang.foreign.Linker")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.lang.foreign.SymbolLookup")
                .check(CLASSES);
    }
}
