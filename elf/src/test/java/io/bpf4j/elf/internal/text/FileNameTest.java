package io.bpf4j.elf.internal.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileNameTest {
    /** Not UTF-8, UTF-8, and what a URI would have to escape. */
    private static final List<FileName> NAMES = List.of(
            FileName.of(new byte[] {'x', (byte) 0xff, (byte) 0xc3, 'y'}),
            FileName.of("\u00e9\u4e2d \u202e"),
            FileName.of("a%2e b?#[]\\\r\n"),
            FileName.of("-\u00fc/ /z"));

    @TempDir
    Path directory;

    @Test
    void aPathHasTheBytesOfTheName() {
        for (FileName name : NAMES) {
            assertThat(FileName.of(name.path())).isEqualTo(name);
            assertThat(name.path()).isRelative();
            Path below = name.below(directory);
            assertThat(below).startsWithRaw(directory).isEqualTo(directory.resolve(name.path()));
            FileName absolute = FileName.of(below);
            assertThat(absolute.isAbsolute()).isTrue();
            assertThat(absolute.path()).isEqualTo(below).isAbsolute();
            assertThat(absolute.below(directory))
                    .isEqualTo(directory.resolve(Path.of("/").relativize(below)));
        }
        assertThat(FileName.of("/a//b/").path()).isEqualTo(Path.of("/a/b"));
        assertThat(FileName.of("/").below(directory)).isEqualTo(directory);
        assertThat(FileName.of("").path()).isEqualTo(Path.of(""));
    }

    /** As the access time of a symbolic link shows, which each look behind it changes. */
    @Test
    void aPathIsNotLookedAt() throws IOException {
        Path link = Files.createSymbolicLink(NAMES.getFirst().below(directory), Path.of("."));
        FileTime longAgo = FileTime.fromMillis(0);
        Files.getFileAttributeView(link, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .setTimes(longAgo, longAgo, null);
        assertThat(FileName.of(link).path()).isEqualTo(link);
        assertThat(Files.getAttribute(link, "lastAccessTime", LinkOption.NOFOLLOW_LINKS))
                .isEqualTo(longAgo);
    }

    @Test
    void aPlainNameIsOneFileOfADirectory() {
        assertThat(NAMES.subList(0, 3)).allMatch(FileName::isPlain);
        assertThat(Stream.of("", ".", "..", "/", "a/b", "a/", "a\0b").map(FileName::of))
                .noneMatch(FileName::isPlain);
    }

    /** An empty environment has no locale, and {@code Path.of} then refuses all that is not ASCII. */
    @Test
    void withoutALocaleToo() throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        WithoutLocale.class.getName(),
                        directory.toString())
                .redirectErrorStream(true);
        builder.environment().clear();
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        for (FileName name : NAMES) {
            assertThat(name.below(directory)).hasContent(name.toString());
        }
    }

    /** Makes a file of each name. */
    static final class WithoutLocale {
        public static void main(String[] arguments) throws IOException {
            Path directory = Path.of(arguments[0]);
            for (FileName name : NAMES) {
                Path file = name.below(directory);
                Files.createDirectories(file.getParent());
                Files.writeString(file, name.toString());
                if (!FileName.of(file).equals(FileName.of(arguments[0] + "/" + name))
                        && name.toString().indexOf('\\') < 0) {
                    throw new AssertionError(name + " became " + FileName.of(file));
                }
            }
        }
    }
}
