package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Damaged files: cut short anywhere, any bit turned. Whatever comes of it, it is a result or MalformedDataException.
 */
@Execution(ExecutionMode.CONCURRENT)
class RobustnessTest {
    private static final ElfLimits LIMITS = new ElfLimits(1 << 16, 1 << 16, 1 << 20, 1 << 22);

    static List<byte[]> images() {
        return java.util.stream.Stream.concat(
                        SampleElf.builders().stream().map(SampleElf::full),
                        java.util.stream.Stream.of(
                                SampleElf.full(ElfBuilder.elf64().extendedNumbering()),
                                SampleElf.full(ElfBuilder.elf64().withoutSectionHeaders())))
                .toList();
    }

    /** Reads all there is; true if at least the headers were sound. */
    private static boolean read(byte[] image) {
        ElfFile elf;
        try {
            elf = ElfFile.parse("damaged", image, LIMITS);
        } catch (MalformedDataException expected) {
            return false;
        }
        SampleElf.readAll(elf);
        return true;
    }

    @ParameterizedTest
    @MethodSource("images")
    void everyTruncation(byte[] image) {
        assertThat(read(image)).isTrue();
        for (int length = 0; length < image.length; length++) {
            // The section table stands last, or the segment table where there is none: all cuts are noticed.
            assertThat(read(Arrays.copyOf(image, length)))
                    .as("cut to %d bytes", length)
                    .isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("images")
    void everyBitFlip(byte[] image) {
        int sound = 0;
        for (int bit = 0; bit < 8 * image.length; bit++) {
            image[bit / 8] ^= (byte) (1 << bit % 8);
            sound += read(image) ? 1 : 0;
            image[bit / 8] ^= (byte) (1 << bit % 8);
        }
        // Most bits are contents, and those of the magic number aren't.
        assertThat(sound).isBetween(1, 8 * image.length - 32);
    }

    @ParameterizedTest
    @MethodSource("images")
    void everyByteTheWorstItCanBe(byte[] image) {
        for (int at = 0; at < image.length; at++) {
            byte was = image[at];
            for (int worst : new int[] {0, 0x80}) {
                image[at] = (byte) worst;
                read(image);
            }
            image[at] = was;
            int until = Math.min(image.length, at + 8);
            byte[] wide = Arrays.copyOfRange(image, at, until);
            Arrays.fill(image, at, until, (byte) 0xff);
            read(image);
            System.arraycopy(wide, 0, image, at, wide.length);
        }
        assertThat(read(image)).isTrue();
    }

    /** The dynamic loader of whichever C library this JVM runs with, and the java command. */
    static Stream<String> filesThatRunHere() throws IOException {
        Stream<String> loader = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.contains("/ld-"))
                .map(line -> line.substring(line.indexOf('/')))
                // "… (deleted)" if the C library was replaced since this JVM has started.
                .filter(name -> Files.exists(Path.of(name)))
                .limit(1);
        return Stream.concat(loader, Stream.of("/bin/true", "/proc/self/exe"));
    }

    /** Real files, which are too large for all of it: the headers exhaustively, the rest by a fixed sample. */
    @ParameterizedTest
    @MethodSource("filesThatRunHere")
    void filesOfThisMachine(String name) throws IOException {
        byte[] image = Files.readAllBytes(Path.of(name));
        assertThat(read(image)).isTrue();
        Random random = new Random(Long.getLong("bpf4j.test.seed", 42));
        int rounds = image.length < 1 << 17 ? 2000 : 200;
        ElfHeader header = ElfFile.parse(name, image).header();
        long tables = header.sectionHeaderOffset();
        for (int i = 0; i < rounds; i++) {
            int at = i % 2 == 0 && tables > 0
                    ? (int) tables + random.nextInt(image.length - (int) tables)
                    : i % 4 == 1 ? random.nextInt(Math.min(image.length, 1024)) : random.nextInt(image.length);
            int flip = 1 << random.nextInt(8);
            image[at] ^= (byte) flip;
            read(image);
            image[at] ^= (byte) flip;
            if (i % 10 == 0) {
                read(Arrays.copyOf(image, random.nextInt(image.length)));
            }
        }
    }
}
