package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.objects.BpfObjects;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code inspect} and {@code load} say of files before a kernel comes into play. */
class ObjectCommandsTest {
    @TempDir
    Path directory;

    private Path sound;
    private Path cut;
    private Path text;
    private Path missing;

    @BeforeEach
    void files() throws IOException {
        byte[] object = BpfObjects.tracer();
        sound = Files.write(directory.resolve("sound.bpf.o"), object);
        cut = Files.write(directory.resolve("cut.bpf.o"), Arrays.copyOf(object, object.length / 2));
        text = Files.writeString(directory.resolve("text.bpf.o"), "no object at all");
        missing = directory.resolve("missing.bpf.o");
    }

    @Test
    void inspectShowsProgramsMapsGlobalsAndBtf() {
        Run run = Run.of("inspect", sound.toString());
        assertThat(run.code()).isEqualTo(CommandTree.OK);
        assertThat(String.join("\n", run.out()))
                .contains("trace ", "usdt", "events", "ringbuf", "__bpf_usdt_specs", "string_max", "BTF: ");
        assertThat(run.err()).isEmpty();

        Run json = Run.of("inspect", "--json", sound.toString());
        assertThat(json.out())
                .singleElement()
                .asString()
                .startsWith("{\"type\":\"object\",\"file\":\"" + sound
                        + "\",\"byteOrder\":\"little-endian\",\"license\":\"Dual BSD/GPL\",")
                .contains("\"programs\":[{", "{\"name\":\"trace\",\"section\":\"usdt\",")
                .contains("{\"name\":\"events\",\"type\":\"ringbuf\",")
                .contains("\"btf\":{\"types\":");
    }

    @Test
    void aBadFileNeverStopsTheRest() {
        Run run = Run.of(
                "inspect",
                "--json",
                cut.toString(),
                text.toString(),
                missing.toString(),
                directory.toString(),
                sound.toString());
        assertThat(run.code()).isEqualTo(CommandTree.FAILED);
        assertThat(run.out()).singleElement().asString().contains(sound.toString());
        assertThat(run.err())
                .hasSize(4)
                .allSatisfy(line -> assertThat(line).startsWith("bpf4j: ").doesNotContain("internal error"));
    }

    @Test
    void loadTellsWhatCouldNotEvenBeOpened() {
        Run run = Run.of("load", "--json", text.toString(), missing.toString(), directory.toString());
        assertThat(run.code()).isEqualTo(CommandTree.FAILED);
        assertThat(run.out())
                .hasSize(3)
                .allSatisfy(line -> assertThat(line)
                        .contains("\"ok\":false,\"stage\":\"open\",\"error\":\"")
                        .endsWith("\"programs\":0,\"maps\":0}"));
        assertThat(run.out().get(1))
                .isEqualTo(
                        "{\"type\":\"load\",\"file\":\"" + missing + "\",\"ok\":false,\"stage\":\"open\",\"error\":\""
                                + missing + ": no such file\",\"programs\":0,\"maps\":0}");
    }
}
