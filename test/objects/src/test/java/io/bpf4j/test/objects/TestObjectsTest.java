package io.bpf4j.test.objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TestObjectsTest {
    @Test
    void everySourceHasItsObject() throws IOException {
        assertThat(TestObjects.names())
                .containsAll(objectsOf("src/main/bpf", ""))
                .containsAll(objectsOf("../../bpf-objects/src/main/bpf", ""))
                .contains("args12_208.bpf.o");
        assertThat(TestObjects.names()).isSorted();
        assertThat(TestObjects.corpus())
                .containsExactlyInAnyOrderElementsOf(objectsOf("src/main/bpf/corpus", "corpus/"));
    }

    private static List<String> objectsOf(String sources, String prefix) throws IOException {
        try (Stream<Path> files = Files.list(Path.of(sources))) {
            return files.map(f -> f.getFileName().toString())
                    .filter(n -> n.endsWith(".bpf.c"))
                    .map(n -> prefix + n.replace(".bpf.c", ".bpf.o"))
                    .toList();
        }
    }

    private static List<String> all() {
        return Stream.concat(TestObjects.names().stream(), TestObjects.corpus().stream())
                .toList();
    }

    @Test
    void objectsAreBpfElfOfEitherByteOrder() throws IOException {
        for (String name : all()) {
            assertIsBpfElf(name, TestObjects.bytes(name, ByteOrder.LITTLE_ENDIAN), false);
            assertIsBpfElf(name, TestObjects.bytes(name, ByteOrder.BIG_ENDIAN), true);
            assertThat(TestObjects.bytes(name)).as(name).isEqualTo(TestObjects.bytes(name, ByteOrder.nativeOrder()));
        }
    }

    private static void assertIsBpfElf(String name, byte[] object, boolean isBigEndian) {
        // e_ident: magic, ELFCLASS64, ELFDATA2LSB or MSB; e_machine at 18: 247 = EM_BPF
        assertThat(object).as(name).startsWith(0x7f, 'E', 'L', 'F', 2, isBigEndian ? 2 : 1);
        assertThat(object[isBigEndian ? 19 : 18] & 0xff).as(name).isEqualTo(247);
        assertThat(object[isBigEndian ? 18 : 19]).as(name).isZero();
    }

    @Test
    void objectsHoldNoPathOfTheMachineThatCompiledThem() {
        for (String name : all()) {
            for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
                String text = new String(TestObjects.bytes(name, order), StandardCharsets.ISO_8859_1);
                assertThat(text).as(name).doesNotContain("/usr", "/home", "/root", "/tmp", "clang");
            }
        }
    }

    @Test
    void anUnknownNameSaysWhichThereAre() {
        assertThatThrownBy(() -> TestObjects.bytes("nothing.bpf.o"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("nothing.bpf.o")
                .hasMessageContaining("trace.bpf.o");
        assertThatThrownBy(() -> TestObjects.bytes("../names")).isInstanceOf(IllegalArgumentException.class);
    }
}
