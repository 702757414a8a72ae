package io.bpf4j.loader.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibrarySearchTest {
    @TempDir
    Path directory;

    @Test
    void aNameIsLookedForAndAPathTakenAsItIs() throws IOException {
        Path lib = Files.createDirectories(directory.resolve("lib"));
        Path bin = Files.createDirectories(directory.resolve("bin"));
        Path library = Files.createFile(lib.resolve("libx.so.6"));
        Path program = Files.createFile(bin.resolve("postgres"));
        LibrarySearch search =
                new LibrarySearch(List.of(directory, lib), LdCache.read(cache()), List.of(directory, bin));
        assertThat(search.find("libx.so.6")).isEqualTo(library);
        assertThat(search.find("postgres")).isEqualTo(program);
        assertThat(search.find("./postgres")).isEqualTo(Path.of("./postgres"));
        assertThat(search.find("lib")).isEqualTo(Path.of("lib"));
        assertThat(search.find("libstdc++")).isEqualTo(Path.of("/opt/lib/libstdc++.so.6"));
        assertThat(search.find("stdc++")).isEqualTo(Path.of("/opt/lib/libstdc++.so.6"));
        assertThat(search.find("libstdc++.so.6")).isEqualTo(Path.of("/opt/lib/libstdc++.so.6"));
        assertThat(search.find("missing.so")).isEqualTo(Path.of("missing.so"));
    }

    @Test
    void aBrokenCacheIsAnEmptyOne() throws IOException {
        byte[] whole = Files.readAllBytes(cache());
        for (int size = 0; size < whole.length; size++) {
            Path cut = Files.write(directory.resolve("cut"), Arrays.copyOf(whole, size));
            assertThat(LdCache.read(cut).byFileName("libc.so.6")).isEmpty();
        }
        assertThat(LdCache.read(directory.resolve("none")).byFileName("libc.so.6"))
                .isEmpty();
    }

    /** With multilib installed, ldconfig puts x32 (class 32, machine x86-64) before x86-64. */
    @Test
    void theLibraryForThisKindOfProcessIsTakenWhereverItStands() throws IOException {
        byte[] own = Files.readAllBytes(Path.of("/proc/self/exe"));
        byte[] otherClass = Arrays.copyOf(own, 64);
        otherClass[4] ^= 3;
        byte[] otherMachine = Arrays.copyOf(own, 64);
        otherMachine[18]++;
        Path x32 = Files.write(directory.resolve("x32"), otherClass);
        Path foreign = Files.write(directory.resolve("foreign"), otherMachine);
        Path right = Files.write(directory.resolve("right"), Arrays.copyOf(own, 64));
        LibrarySearch search = new LibrarySearch(
                List.of(),
                LdCache.read(cache(
                        "libx.so.1",
                        x32,
                        "libx.so.1",
                        foreign,
                        "libx.so.1",
                        right,
                        "liby.so.1",
                        x32,
                        "libx.so.2",
                        x32)),
                List.of());
        assertThat(search.find("libx.so.1")).isEqualTo(right);
        assertThat(search.find("libx")).isEqualTo(right);
        assertThat(search.find("liby.so.1")).as("better than none").isEqualTo(x32);
        Path lib = Files.createDirectories(directory.resolve("lib"));
        Files.write(lib.resolve("libx.so.1"), otherClass);
        LibrarySearch withDirectory =
                new LibrarySearch(List.of(lib), LdCache.read(cache("libx.so.1", right)), List.of());
        assertThat(withDirectory.find("libx.so.1")).isEqualTo(right);
    }

    private Path cache() throws IOException {
        return cache("libstdc++.so.6", "/opt/lib/libstdc++.so.6", "libc.so.6", "/opt/lib/libc.so.6");
    }

    /** A cache of names and paths in turn: the paths end where the file does, so that every cut hits something. */
    private Path cache(Object... namesAndPaths) throws IOException {
        int count = namesAndPaths.length / 2;
        int start = 48 + count * 24;
        StringBuilder strings = new StringBuilder();
        ByteBuffer header = ByteBuffer.allocate(start).order(ByteOrder.nativeOrder());
        header.put("glibc-ld.so.cache1.1".getBytes(StandardCharsets.ISO_8859_1)).putInt(20, count);
        for (int i = 0; i < namesAndPaths.length; i++) {
            header.putInt(48 + i / 2 * 24 + 4 + i % 2 * 4, start + strings.length());
            strings.append(namesAndPaths[i]).append('\0');
        }
        header.putInt(24, strings.length());
        Path file = Files.write(directory.resolve("ld.so.cache"), header.array());
        return Files.writeString(file, strings, StandardCharsets.ISO_8859_1, StandardOpenOption.APPEND);
    }
}
