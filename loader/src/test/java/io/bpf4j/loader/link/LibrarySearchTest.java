package io.bpf4j.loader.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
        LibrarySearch search = new LibrarySearch(List.of(directory, lib), List.of(directory, bin));
        assertThat(search.find("libx.so.6")).isEqualTo(library);
        assertThat(search.find("postgres")).isEqualTo(program);
        assertThat(search.find("./postgres")).isEqualTo(Path.of("./postgres"));
        assertThat(search.find("lib")).isEqualTo(Path.of("lib"));
        assertThat(search.find("missing.so")).isEqualTo(Path.of("missing.so"));
    }
}
