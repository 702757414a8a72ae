package io.bpf4j.test.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.PostgresServer;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.catalog.ProbeArgument;
import io.bpf4j.trace.catalog.ProbeSignature;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The arguments in the catalog are those of the programs on this machine: their number, and their sizes and signs. And
 * the catalog in the documentation is one.
 */
class CatalogOnFilesTest {
    private static final Catalog CATALOG = Catalog.builtIn();

    @Test
    @Requires(Requirement.HOTSPOT_PROBES)
    void theJvmHasTheArgumentsOfTheCatalog() throws IOException {
        List<UsdtProbe> probes = UsdtScan.ofFile(ChildJvm.libjvm()).probes();
        assertThat(probes)
                .filteredOn(probe -> probe.provider().equals("hotspot"))
                .hasSizeGreaterThan(35);
        assertThat(probes)
                .filteredOn(probe -> probe.provider().equals("hotspot_jni"))
                .hasSizeGreaterThan(400);
        assertThat(contradictions(probes)).isEmpty();
    }

    @Test
    @Requires(Requirement.POSTGRESQL)
    void postgresHasTheArgumentsOfTheCatalog() throws IOException {
        Path server = PostgresServer.installation().orElseThrow().resolve("postgres");
        List<UsdtProbe> probes = UsdtScan.ofFile(server).probes();
        assertThat(probes).hasSizeGreaterThan(50);
        assertThat(contradictions(probes)).isEmpty();
    }

    @Test
    @Requires(Requirement.GCC)
    void libstdcxxHasTheArgumentsOfTheCatalog() throws IOException, InterruptedException {
        Path library = Path.of(Commands.check(List.of("gcc", "-print-file-name=libstdc++.so.6"))
                .strip());
        List<UsdtProbe> probes = UsdtScan.ofFile(library).probes();
        assertThat(probes).extracting(UsdtProbe::fullName).contains("libstdcxx:throw", "libstdcxx:catch");
        assertThat(contradictions(probes)).isEmpty();
    }

    /** Most distributions build some of these programs without probes, which then contradict nothing. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "bin/python3",
                "bin/ruby",
                "bin/php",
                "bin/node",
                "sbin/mariadbd",
                "sbin/libvirtd",
                "bin/qemu-system-x86_64",
                "lib64/libc.so.6",
                "lib64/ld-linux-x86-64.so.2"
            })
    void otherProgramsHaveTheArgumentsOfTheCatalog(String program) throws IOException {
        Path file = Path.of("/usr").resolve(program);
        List<UsdtProbe> probes = Files.exists(file) ? UsdtScan.ofFile(file).probes() : List.of();
        assertThat(contradictions(probes)).isEmpty();
    }

    /** The example of docs/catalog.md. */
    @Test
    void theExampleOfTheDocumentationIsACatalog() throws IOException {
        String page = Files.readString(TargetProgram.testModule().resolveSibling("docs/catalog.md"));
        String example = page.split("(?m)^```$", 3)[1];
        Catalog catalog = Catalog.parse("docs/catalog.md", example);
        assertThat(catalog.probes()).extracting(ProbeSignature::name).containsExactly("order__begin", "order__end");
        assertThat(catalog.question("shop", "slow").command()).contains("--slower", "1s");
    }

    /** A line for each site that is not as the catalog says, and for each probe that the catalog lacks. */
    private static List<String> contradictions(List<UsdtProbe> probes) {
        List<String> contradictions = new ArrayList<>();
        for (UsdtProbe probe : probes) {
            for (UsdtSite site : probe.sites()) {
                contradiction(probe, site)
                        .ifPresent(
                                what -> contradictions.add(probe.fullName() + "(" + site.arguments() + "): " + what));
            }
        }
        return contradictions.stream().distinct().toList();
    }

    private static Optional<String> contradiction(UsdtProbe probe, UsdtSite site) {
        List<UsdtArg> args = site.args();
        Optional<ProbeSignature> signature = CATALOG.find(probe.provider(), probe.name(), args.size());
        if (signature.isEmpty()) {
            return Optional.of("not in the catalog");
        }
        List<ProbeArgument> expected = signature.orElseThrow().arguments();
        if (expected.size() != args.size()) {
            return Optional.of("expected " + expected.size() + " arguments");
        }
        return Stream.iterate(0, i -> i < args.size(), i -> i + 1)
                .filter(i -> !fits(expected.get(i).type(), args.get(i)))
                .map(i -> expected.get(i).toString())
                .findFirst();
    }

    /**
     * A site may have a narrower integer: the compiler says what it passes, such as a field of two bytes. The sign of
     * an enum is the compiler's choice, and a constant is an int.
     */
    private static boolean fits(ArgumentType type, UsdtArg arg) {
        boolean constant = arg.operand() instanceof UsdtArg.Constant;
        return switch (type) {
            case ArgumentType.Int integer ->
                arg.size() <= integer.number().size()
                        && (constant
                                || arg.size() < integer.number().size()
                                || !integer.names().isEmpty()
                                || arg.signed() == integer.number().signed());
            case ArgumentType.FloatingPoint _ -> arg.isFloat();
            case ArgumentType.Bool _ -> arg.size() <= 4;
            case ArgumentType.Pointer _, ArgumentType.Text _ -> arg.size() == 8 || constant;
        };
    }
}
