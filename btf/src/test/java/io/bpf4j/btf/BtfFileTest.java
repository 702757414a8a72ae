package io.bpf4j.btf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;

class BtfFileTest {
    @TempDir
    private Path folder = Path.of("/nonexistent");

    private static byte[] btf(String struct) {
        return btf(struct, ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] btf(String struct, ByteOrder order) {
        BtfBuilder builder = BtfBuilder.create();
        builder.struct(struct, 8);
        return builder.toBytes(order);
    }

    private Path file(String name, byte[] bytes) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.write(file, bytes);
    }

    private static byte[] tar(Map<String, byte[]> entries) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(bytes)) {
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                TarArchiveEntry header = new TarArchiveEntry(entry.getKey());
                header.setSize(entry.getValue().length);
                tar.putArchiveEntry(header);
                tar.write(entry.getValue());
                tar.closeArchiveEntry();
            }
        }
        return bytes.toByteArray();
    }

    private static byte[] xz(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream xz = XZCompressorOutputStream.builder()
                .setOutputStream(out)
                .setLzma2Options(new LZMA2Options(1))
                .get()) {
            xz.write(bytes);
        }
        return out.toByteArray();
    }

    private static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        }
        return out.toByteArray();
    }

    private static Map<String, byte[]> one(String name, byte[] bytes) {
        return Map.of(name, bytes);
    }

    @Test
    void rawInEitherByteOrder() throws IOException {
        for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            Btf btf = BtfFile.read(file("raw", btf("thing", order)));
            assertThat(btf.order()).isEqualTo(order);
            assertThat(btf.find("thing", BtfKind.STRUCT)).isPresent();
        }
    }

    @Test
    void theRunningKernelsIfItShowsThem() throws IOException {
        Path vmlinux = Path.of("/sys/kernel/btf/vmlinux");
        if (Files.isReadable(vmlinux)) {
            assertThat(BtfFile.read(vmlinux).find("task_struct", BtfKind.STRUCT))
                    .isPresent();
        }
    }

    @Test
    void archivesAndWhatIsOnlyCompressed() throws IOException {
        byte[] tar = tar(one("5.4.0-91-generic.btf", btf("thing")));
        for (byte[] bytes : List.of(tar, xz(tar), gzip(tar), xz(btf("thing")), gzip(btf("thing")))) {
            assertThat(BtfFile.read(file("any-name", bytes)).find("thing", BtfKind.STRUCT))
                    .isPresent();
        }
        List<String> names = new ArrayList<>();
        Path archive = file("5.4.0-91-generic.btf.tar.xz", xz(tar));
        BtfFile.forEach(archive, (name, _) -> names.add(name));
        assertThat(names).containsExactly(archive + "!/5.4.0-91-generic.btf");
    }

    @Test
    void allOfADirectory() throws IOException {
        file("b/raw", btf("raw"));
        Map<String, byte[]> two = new LinkedHashMap<>();
        two.put("one.btf", btf("one"));
        two.put("readme", "nothing".getBytes(StandardCharsets.UTF_8));
        two.put("two.btf", btf("two"));
        file("a/x86_64/both.tar.gz", gzip(tar(two)));
        file("c/notes.txt", "no BTF".getBytes(StandardCharsets.UTF_8));
        List<String> found = new ArrayList<>();
        BtfFile.forEach(folder, (_, btf) -> found.add(btf.name(1)));
        assertThat(found).containsExactly("one", "two", "raw");
    }

    @Test
    void modulesAreNoKernels() throws IOException {
        file("btf/vmlinux", btf("kernel"));
        file("btf/ahci", btf("module"));
        List<String> found = new ArrayList<>();
        BtfFile.forEach(folder, (_, btf) -> found.add(btf.name(1)));
        assertThat(found).containsExactly("kernel");
    }

    @Test
    void aModuleWithItsBase() throws IOException {
        Btf base = BtfFile.read(file("vmlinux", btf("kernel")));
        BtfBuilder module = BtfBuilder.split(base);
        module.typedef("alias", 1);
        Btf split = BtfFile.read(file("module", module.toBytes(ByteOrder.LITTLE_ENDIAN)), base);
        assertThat(split.name(((BtfType.Typedef) split.type(2)).type())).isEqualTo("kernel");
    }

    @Test
    void severalAreNotOne() throws IOException {
        Map<String, byte[]> two = new LinkedHashMap<>();
        two.put("one", btf("one"));
        two.put("two", btf("two"));
        Path file = file("two.tar", tar(two));
        assertThatThrownBy(() -> BtfFile.read(file))
                .isInstanceOf(IOException.class)
                .hasMessage(file + " has several BTFs; unpack it and select one of its files");
        assertThatThrownBy(() -> BtfFile.read(folder)).hasMessageContaining("is a directory");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "text that is not BTF", "\u007fELF", "\u001f\u008b\u0008", "\u00fd7zXZ\0\0\4"})
    void whatIsNoneIsRefusedByName(String content) throws IOException {
        Path file = file("other", content.getBytes(StandardCharsets.ISO_8859_1));
        assertThatThrownBy(() -> BtfFile.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("other");
        assertThatThrownBy(() -> BtfFile.forEach(folder, (_, _) -> {})).isInstanceOf(IOException.class);
    }

    @Test
    void anArchiveThatIsCutShortIsRefused() throws IOException {
        byte[] whole = xz(tar(one("a.btf", btf("thing"))));
        for (int length = 6; length < whole.length; length += 7) {
            Path file = file("cut", java.util.Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> BtfFile.read(file)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void whatDecompressesToTooMuchIsRefused() throws IOException {
        byte[] large = new byte[BtfFile.MAX_BYTES + 2];
        System.arraycopy(btf("thing"), 0, large, 0, 24);
        Path file = file("bomb.xz", xz(large));
        assertThat(Files.size(file)).isLessThan(100_000);
        assertThatThrownBy(() -> BtfFile.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("too large for BTF");
    }

    @Test
    void aBrokenFileOfManyIsToldOfAndTheOthersAreRead() throws IOException {
        byte[] broken = btf("broken");
        broken[4] = 1; // length of the header
        file("a", broken);
        file("b", btf("good"));
        List<String> found = new ArrayList<>();
        BtfFile.forEach(folder, new BtfFile.Taker() {
            @Override
            public void take(String name, Btf btf) {
                found.add(btf.name(1));
            }

            @Override
            public void refused(String name, IOException problem) {
                found.add("refused " + Path.of(name).getFileName());
            }
        });
        assertThat(found).containsExactly("refused a", "good");
    }

    /** A file may even unpack to itself. */
    @Test
    void compressionsWithoutEndAreRefused() throws IOException {
        byte[] bytes = btf("thing");
        for (int layer = 0; layer < 2_000; layer++) {
            bytes = gzip(bytes);
        }
        Path file = file("layers.gz", bytes);
        assertThatThrownBy(() -> BtfFile.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("has more than 4 layers of compression");
        assertThat(BtfFile.read(file("two.gz", xz(gzip(btf("thing"))))).name(1)).isEqualTo("thing");
    }

    @Test
    void archivesWithOtherBytesAreRefusedOrRead() throws IOException {
        Random random = new Random(Long.getLong("bpf4j.test.seed", 20260104));
        Map<String, byte[]> entries = new LinkedHashMap<>(one("a.btf", btf("thing")));
        entries.putAll(one("b/c.btf", btf("other")));
        byte[] tar = tar(entries);
        for (byte[] whole : new byte[][] {tar, xz(tar), gzip(tar)}) {
            for (int round = 0; round < 500; round++) {
                byte[] bytes = whole.clone();
                for (int change = 0; change <= round % 4; change++) {
                    bytes[random.nextInt(Math.min(bytes.length, 1024))] = (byte) random.nextInt();
                }
                try {
                    BtfFile.forEach(
                            file("changed", bytes),
                            (name, btf) -> assertThat(btf.typeCount()).isPositive());
                } catch (IOException e) {
                    assertThat(e.getMessage()).contains("changed");
                }
            }
        }
    }
}
