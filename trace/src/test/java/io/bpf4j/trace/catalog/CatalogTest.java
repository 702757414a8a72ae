package io.bpf4j.trace.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.UnknownNameException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CatalogTest {
    @TempDir
    Path folder;

    private static Catalog parse(String text) {
        return Catalog.parse("t", text);
    }

    @Test
    void aFileIsACatalog() throws IOException {
        Path file = Files.writeString(folder.resolve("shop"), "# Café.\nprovider shop\nprobe n()");
        assertThat(Catalog.read(file).find("shop", "n")).isPresent();
    }

    @Test
    void errorsNameTheFile() throws IOException {
        Path file = Files.writeString(folder.resolve("shop"), "\nprobe n()");
        assertThatThrownBy(() -> Catalog.read(file))
                .isInstanceOf(CatalogException.class)
                .hasMessageStartingWith(file + ":2: ");
        Files.write(file, new byte[] {'#', '\n', '#', '\n', '#', (byte) 0xff, '\n'});
        assertThatThrownBy(() -> Catalog.read(file)).hasMessage(file + ":3: expected text in UTF-8");
        Files.write(file, new byte[CatalogText.MAX_BYTES + 1]);
        assertThatThrownBy(() -> Catalog.read(file)).hasMessage(file + ":1: larger than 1048576 bytes: split it");
    }

    @Test
    void onlyARegularFileIsRead() {
        assertThatThrownBy(() -> Catalog.read(folder))
                .isInstanceOf(IOException.class)
                .hasMessage(folder + ": not a regular file");
        assertThatThrownBy(() -> Catalog.read(folder.resolve("none")))
                .isInstanceOf(IOException.class)
                .hasMessageEndingWith("none: no such file");
    }

    @Test
    void theUsersEntriesComeFirst() {
        Catalog own = parse("""
                provider p
                probe n(mine: s32)
                probe o(mine: s32)
                question g q
                  run mine
                """);
        Catalog both = parse("""
                provider p
                probe n(a: s32)
                probe n(a: s32, b: s32)
                question g q
                  run yours
                question g r
                  run yours
                """).with(own);

        assertThat(both.find("p", "n").orElseThrow().argument("mine")).isPresent();
        assertThat(both.find("p", "n", 1).orElseThrow().argument("mine")).isPresent();
        assertThat(both.find("p", "n", 2).orElseThrow().argument("b")).isPresent();
        assertThat(both.find("p", "o")).isPresent();
        assertThat(both.probes()).hasSize(3);
        assertThat(both.question("g", "q").command()).containsExactly("mine");
        assertThat(both.questions("g")).extracting(ReadyQuestion::name).containsExactly("q", "r");
        assertThat(both.groups()).containsExactly("g");
    }

    @Test
    void anUnknownQuestionIsNamed() {
        Catalog catalog = parse("question jvm gc\n run x\nquestion jvm classes\n run x");
        assertThat(catalog.findQuestion("jvm", "gd")).isEmpty();
        assertThatThrownBy(() -> catalog.question("jvm", "gd"))
                .isInstanceOf(UnknownNameException.class)
                .hasMessageContaining("the nearest is 'gc'");
        assertThatThrownBy(() -> catalog.question("jwm", "gc"))
                .isInstanceOf(UnknownNameException.class)
                .hasMessage("no group of questions 'jwm' in the catalog; the only one is 'jvm'");
    }
}
