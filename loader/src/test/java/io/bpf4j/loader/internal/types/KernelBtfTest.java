package io.bpf4j.loader.internal.types;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The types of a kernel, in the files where they may be. */
class KernelBtfTest {
    @TempDir
    Path root;

    @BeforeEach
    void release() throws IOException {
        write("proc/sys/kernel/osrelease", "6.1\n");
    }

    private KernelBtf types() {
        return KernelBtf.of(Host.at(root));
    }

    /** Where libbpf looks, in its order. */
    private static final List<String> PLACES_OF_TYPES = List.of(
            "sys/kernel/btf/vmlinux",
            "boot/vmlinux-6.1",
            "lib/modules/6.1/vmlinux-6.1",
            "lib/modules/6.1/build/vmlinux",
            "usr/lib/modules/6.1/kernel/vmlinux",
            "usr/lib/debug/boot/vmlinux-6.1",
            "usr/lib/debug/boot/vmlinux-6.1.debug",
            "usr/lib/debug/lib/modules/6.1/vmlinux");

    @Test
    void typesOfAKernelThatShowsNoneAreInTheFileThatItWasBuiltAs() throws IOException {
        assertThat(types().find()).isEmpty();
        write("boot/vmlinux-6.2", "another kernel's");
        for (String place : PLACES_OF_TYPES.reversed()) {
            write(place, types(place));
            assertThat(types().find().orElseThrow().find(nameIn(place), BtfKind.STRUCT))
                    .as(place)
                    .isPresent();
        }
    }

    @Test
    void aVmlinuxWithoutTypesIsPassedOver() throws IOException {
        for (String place : PLACES_OF_TYPES.subList(1, 4)) {
            write(place, "\177ELF, and no more");
        }
        Files.createDirectories(root.resolve(PLACES_OF_TYPES.get(4)));
        assertThat(types().find()).isEmpty();
        write(PLACES_OF_TYPES.get(5), types("last"));
        assertThat(types().find().orElseThrow().find(nameIn("last"), BtfKind.STRUCT))
                .isPresent();
    }

    @Test
    void typesThatTheKernelShowsAndNobodyCanReadAreAnError() throws IOException {
        write("sys/kernel/btf/vmlinux", "no BTF");
        write("boot/vmlinux-6.1", types("boot"));
        assertThatThrownBy(() -> types().find())
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("sys/kernel/btf/vmlinux");
    }

    /** BTF with one struct, which tells it from others. */
    private static byte[] types(String place) {
        BtfBuilder types = BtfBuilder.create();
        types.struct(nameIn(place), 4, BtfType.Member.at("a", types.integer("int", 4, BtfType.Int.SIGNED), 0));
        return types.toBytes(ByteOrder.nativeOrder());
    }

    private static String nameIn(String place) {
        return "of_" + place.replaceAll("\\W", "_");
    }

    private void write(String path, String text) throws IOException {
        write(path, text.getBytes(UTF_8));
    }

    private void write(String path, byte[] bytes) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
    }
}
