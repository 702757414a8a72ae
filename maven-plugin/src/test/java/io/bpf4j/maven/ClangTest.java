package io.bpf4j.maven;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.maven.plugin.MojoFailureException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which compiler is taken. What is done with it, test/plugin/run sees. */
class ClangTest {
    @TempDir
    Path folder;

    private Path program(String path) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.createFile(file);
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }

    private Path find(String configured) throws MojoFailureException {
        return Clang.find(configured, folder, folder + "/a::" + folder + "/b");
    }

    @Test
    void clangComesBeforeItsVersionsAndTheNewestIsFirst() throws Exception {
        Path old = program("a/clang-9");
        assertThatThrownBy(() -> Clang.find(null, folder, folder + "/a"))
                .isInstanceOf(MojoFailureException.class)
                .hasMessage("BPF programs are compiled by clang, and there is no clang or clang-N on PATH: install it"
                        + " (Debian: apt-get install clang), or name another by <clang> or -Dbpf4j.clang");
        assertThat(find("clang-9")).isEqualTo(old);
        program("a/clang-14");
        Path newest = program("b/clang-19");
        assertThat(Clang.find(null, folder, folder + "/a::" + folder + "/b")).isEqualTo(newest);
        Path plain = program("b/clang");
        assertThat(Clang.find(null, folder, folder + "/a::" + folder + "/b")).isEqualTo(plain);
    }

    @Test
    void aFolderIsNoCompilerAndNeitherIsAFileThatCannotBeRun() throws Exception {
        Files.createDirectories(folder.resolve("a/clang"));
        Files.createDirectories(folder.resolve("b"));
        Files.createFile(folder.resolve("b/clang"));
        assertThatThrownBy(() -> find("clang")).hasMessageContaining("there is no clang on PATH");
        assertThatThrownBy(() -> find("b/clang"))
                .hasMessage(folder + "/b/clang, which <clang> or -Dbpf4j.clang names, is not an executable file");
    }

    @Test
    void aPathIsRelativeToTheProject() throws Exception {
        Path own = program("tools/clang");
        assertThat(find("tools/clang")).isEqualTo(own);
        assertThat(find(own.toString())).isEqualTo(own);
    }

    /** A name that begins with - or @ would be an option, or a file with options. */
    @Test
    void theNameOfASourceIsNoOption() {
        assertThat(Clang.operand(Path.of("-v.bpf.c"))).isEqualTo("./-v.bpf.c");
        assertThat(Clang.operand(Path.of("@v.bpf.c"))).isEqualTo("./@v.bpf.c");
        assertThat(Clang.operand(Path.of("v.bpf.c"))).isEqualTo("v.bpf.c");
    }

    @Test
    void noPath() {
        assertThatThrownBy(() -> Clang.find(null, folder, null)).hasMessageContaining("no clang or clang-N on PATH");
    }
}
