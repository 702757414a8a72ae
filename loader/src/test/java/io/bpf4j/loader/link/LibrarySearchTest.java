package io.bpf4j.loader.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
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

    @Test
    @EnabledIf("hasCache")
    void theCacheOfThisMachineKnowsItsOwnLibc() {
        Path libc = LdCache.read(Path.of("/etc/ld.so.cache"))
                .byFileName("libc.so.6")
                .orElseThrow();
        assertThat(libc).isRegularFile();
    }

    static boolean hasCache() {
        return Files.exists(Path.of("/etc/ld.so.cache"));
    }

    /** A cache of two libraries: the paths end where the file does, so that every cut hits something. */
    private Path cache() throws IOException {
        String strings = "libstdc++.so.6\0/opt/lib/libstdc++.so.6\0libc.so.6\0/opt/lib/libc.so.6\0";
        int start = 48 + 2 * 24;
        ByteBuffer bytes = ByteBuffer.allocate(start + strings.length()).order(ByteOrder.nativeOrder());
        bytes.put("glibc-ld.so.cache1.1".getBytes(StandardCharsets.ISO_8859_1));
        bytes.putInt(20, 2).putInt(24, strings.length());
        bytes.putInt(48 + 4, start).putInt(48 + 8, start + strings.indexOf("/opt/lib/libstdc++"));
        bytes.putInt(72 + 4, start + strings.indexOf("libc.so.6"));
        bytes.putInt(72 + 8, start + strings.indexOf("/opt/lib/libc.so"));
        bytes.put(start, strings.getBytes(StandardCharsets.ISO_8859_1));
        return Files.write(directory.resolve("ld.so.cache"), bytes.array());
    }
}
