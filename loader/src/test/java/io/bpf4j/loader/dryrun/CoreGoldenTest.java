package io.bpf4j.loader.dryrun;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.DryRun;
import io.bpf4j.loader.dryrun.Fit.Relocation;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Relocations and the code that comes out of them, for kernels from 5.10 to 6.18 and in both byte orders: what is
 * written down was compared with what libbpf 1.5 makes of the object for the same kernels.
 *
 * <p>The kernels are there as listings of the part of their BTF that matters ({@link SmallKernel}). To make these
 * again, with a folder that has a file vmlinux-VERSION… for each, and then what comes out:
 *
 * <pre>{@code
 * ./mvnw -pl loader -am test -Dtest=CoreGoldenTest -Dsurefire.failIfNoSpecifiedTests=false \
 *     -Dio.bpf4j.golden.kernels=FOLDER
 * ./mvnw -pl loader -am test -Dtest=CoreGoldenTest -Dsurefire.failIfNoSpecifiedTests=false -Dio.bpf4j.golden.write=true
 * }</pre>
 */
class CoreGoldenTest {
    private static final List<String> KERNELS = List.of("5.10", "6.1", "6.12", "6.18");

    /** Surefire runs with the module's directory as its own. */
    private static final Path FOLDER = Path.of("src/test/resources/io/bpf4j/loader/dryrun");

    static Stream<Arguments> cases() {
        return KERNELS.stream()
                .flatMap(kernel -> Stream.of(
                        Arguments.of(kernel, ByteOrder.LITTLE_ENDIAN), Arguments.of(kernel, ByteOrder.BIG_ENDIAN)));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("cases")
    void whatComesOutIsWhatIsWrittenDown(String kernel, ByteOrder order) throws IOException {
        String listing = Files.readString(FOLDER.resolve(kernel + ".btf.txt"));
        Fit fit = DryRun.of(object(order), BtfListing.read("kernel " + kernel, listing, order));
        Path golden =
                FOLDER.resolve(kernel + (order == ByteOrder.LITTLE_ENDIAN ? ".little-endian" : ".big-endian") + ".txt");
        if (Boolean.getBoolean("io.bpf4j.golden.write")) {
            Files.writeString(golden, text(fit));
        }
        assertThat(text(fit)).isEqualTo(Files.readString(golden));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void aListingReadsBackAsItWasWritten(String kernel, ByteOrder order) throws IOException {
        String listing = Files.readString(FOLDER.resolve(kernel + ".btf.txt"));
        Btf btf = BtfListing.read(kernel, listing, order);
        assertThat(btf.order()).isEqualTo(order);
        assertThat(BtfListing.write(btf))
                .isEqualTo(listing.lines().filter(line -> !line.startsWith("#")).reduce("", (a, b) -> a + b + "\n"));
    }

    @BeforeAll
    static void makeTheListingsIfAskedTo() throws IOException {
        String given = System.getProperty("io.bpf4j.golden.kernels");
        if (given == null) {
            return;
        }
        Path folder = Path.of(given);
        Btf types = object(ByteOrder.nativeOrder()).btf().orElseThrow();
        for (String kernel : KERNELS) {
            Path file;
            try (Stream<Path> files = Files.list(folder)) {
                file = files.filter(f ->
                                f.getFileName().toString().matches("vmlinux-" + kernel.replace(".", "\\.") + "[-.].*"))
                        .findFirst()
                        .orElseThrow();
            }
            String head = "# Linux %s, x86-64: what core.bpf.o asks of the BTF of %s.%n"
                    .formatted(kernel, file.getFileName());
            Files.writeString(
                    FOLDER.resolve(kernel + ".btf.txt"),
                    head + BtfListing.write(SmallKernel.of(BtfFile.read(file), types)));
        }
    }

    private static ObjectSpec object(ByteOrder order) {
        return ObjectSpec.parse("core.bpf.o", TestObjects.bytes("core.bpf.o", order));
    }

    private static String text(Fit fit) {
        StringBuilder text = new StringBuilder();
        for (Fit.Program program : fit.programs()) {
            text.append(program.program())
                    .append(program.fits() ? " fits" : " does not fit")
                    .append('\n');
            program.findings().forEach(f -> text.append("  ").append(f).append('\n'));
            for (Relocation relocation : program.relocations()) {
                text.append("%6d  %s%n".formatted(relocation.location().instruction(), relocation));
            }
            Instructions.disassemble(program.instructions())
                    .forEach(line -> text.append(line).append('\n'));
        }
        return text.toString();
    }
}
