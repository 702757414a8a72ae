package io.bpf4j.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.internal.proc.Lines;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any line of {@code /proc/PID/maps} is a mapping or none, and any file has the lines between its newlines. The array of
 * a line has no byte more than the line. What was found once is in {@code findings.txt}.
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

    private static Path maps = Path.of("");

    @BeforeContainer
    static void makeFile() throws IOException {
        maps = Files.createTempFile("bpf4j-maps", "");
    }

    @AfterContainer
    static void removeFile() throws IOException {
        Files.delete(maps);
    }

    @Property(tries = 50_000, seed = SEED_OF_PROPERTIES)
    void anyLineIsAMappingOrNone(@ForAll("lines") byte[] line) {
        read(line);
    }

    @ParameterizedTest
    @MethodSource("findings")
    void whatWasFoundIsAMappingOrNone(String line) {
        read(line.getBytes(StandardCharsets.UTF_8));
    }

    /** Whatever one read of the file returns, its lines are what is between newlines, cut to the longest allowed. */
    @Property(tries = 2_000, seed = SEED_OF_PROPERTIES)
    void theLinesOfAFileAreBetweenItsNewlines(
            @ForAll("files") byte[] text,
            @ForAll @IntRange(min = 1, max = 64) int chunk,
            @ForAll @IntRange(min = 1, max = 100) int longest)
            throws IOException {
        Files.write(maps, text);
        List<String> found = new ArrayList<>();
        try (Lines lines = new Lines(maps, longest, text.length)) {
            byte[] buffer = new byte[chunk];
            boolean more = true;
            while (more) {
                more = lines.step(buffer, (line, length) -> {
                    read(Arrays.copyOf(line, length));
                    found.add(new String(line, 0, length, StandardCharsets.ISO_8859_1));
                    return true;
                });
            }
            assertThat(lines.isTooLong()).isFalse();
        }
        List<String> wanted = Arrays.stream(new String(text, StandardCharsets.ISO_8859_1).split("\n", -1))
                .map(line -> line.substring(0, Math.min(line.length(), longest)))
                .collect(Collectors.toCollection(ArrayList::new));
        if (wanted.getLast().isEmpty()) {
            wanted.removeLast();
        }
        assertThat(found).isEqualTo(wanted);
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

    @Provide
    Arbitrary<byte[]> files() {
        return Arbitraries.randomValue(random -> {
            Random own = new Random(random.nextLong() ^ SEED);
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            for (int i = own.nextInt(6); i > 0; i--) {
                text.writeBytes(line(own));
                text.writeBytes("\n".repeat(own.nextInt(3)).getBytes(StandardCharsets.UTF_8));
            }
            return text.toByteArray();
        });
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
