package io.bpf4j.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any line of {@code /proc/PID/maps} is a mapping or none. The array has no byte more than the line. What was found
 * once is in {@code findings.txt}.
 */
class MapsLineFuzzTest {
    private static final String SEED_OF_PROPERTIES = "20261126";

    /** Mixed into jqwik's, which is a constant of the annotation. */
    private static final long SEED = Long.getLong("bpf4j.test.seed", 0);

    private static final String[] PARTS = {
        "7f0000000000",
        "7f0000001000",
        "0",
        "-",
        "-",
        " ",
        " ",
        " ",
        "r-xp",
        "rw-p",
        "00000000",
        "00:2d",
        "08:01",
        ":",
        "ffffffffffffffff",
        "10000000000000000",
        "1048602",
        "18446744073709551616",
        "/usr/bin/cat",
        " (deleted)",
        "\\012",
        "[vdso]",
        "\t",
        "/",
        "\u00e9",
        "x"
    };

    @Property(tries = 50_000, seed = SEED_OF_PROPERTIES)
    void anyLineIsAMappingOrNone(@ForAll("lines") byte[] line) {
        read(line);
    }

    @ParameterizedTest
    @MethodSource("findings")
    void whatWasFoundIsAMappingOrNone(String line) {
        read(line.getBytes(StandardCharsets.UTF_8));
    }

    private static void read(byte[] line) {
        Optional<MappedRange> mapping = MapsLine.parse(line, line.length);
        mapping.ifPresent(range -> {
            assertThat(range.names()).isNotEmpty();
            assertThat(range.name()).isNotNull();
            assertThat(range.permissions()).doesNotContain(" ");
        });
    }

    static Stream<String> findings() throws IOException {
        try (InputStream in =
                Objects.requireNonNull(MapsLineFuzzTest.class.getResourceAsStream("findings.txt"), "findings.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList().stream();
        }
    }

    @Provide
    Arbitrary<byte[]> lines() {
        return Arbitraries.randomValue(random -> line(new Random(random.nextLong() ^ SEED)));
    }

    private static byte[] line(Random random) {
        String real = "7f0000000000-7f0000001000 r-xp 00026000 08:01 1048602      /opt/with blank/lib (x).so (deleted)";
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        line.writeBytes(real.substring(0, random.nextInt(real.length() + 1)).getBytes(StandardCharsets.UTF_8));
        for (int i = random.nextInt(8); i > 0; i--) {
            if (random.nextInt(10) == 0) {
                line.write(random.nextInt(256));
            } else {
                line.writeBytes(PARTS[random.nextInt(PARTS.length)].getBytes(StandardCharsets.UTF_8));
            }
        }
        return line.toByteArray();
    }
}
