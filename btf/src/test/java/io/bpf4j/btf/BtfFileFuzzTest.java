package io.bpf4j.btf;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorOutputStream;
import org.tukaani.xz.LZMA2Options;

/**
 * Any file, compressed or not, is BTF, has BTF in it, or is refused by its name. The first byte of an input says what is
 * done to the others before: nothing, or they are compressed, or put into an archive.
 */
class BtfFileFuzzTest extends FuzzTarget {
    /** What closes the layers of compression. */
    private interface Layer {
        OutputStream on(OutputStream out) throws IOException;
    }

    private static byte[] through(Layer layer, byte[] bytes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream compressed = layer.on(out)) {
            compressed.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    private static byte[] xz(byte[] bytes) {
        return through(
                out -> XZCompressorOutputStream.builder()
                        .setOutputStream(out)
                        .setLzma2Options(new LZMA2Options(0))
                        .get(),
                bytes);
    }

    private static byte[] gzip(byte[] bytes) {
        return through(GZIPOutputStream::new, bytes);
    }

    private static byte[] tar(int entries, byte[] content) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(bytes)) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
            for (int i = 0; i < entries; i++) {
                TarArchiveEntry entry = new TarArchiveEntry(i == 1 ? "n".repeat(120) : i + ".btf");
                entry.setModTime(0);
                entry.setSize(content.length);
                tar.putArchiveEntry(entry);
                tar.write(content);
                tar.closeArchiveEntry();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static byte[] input(int form, byte[] bytes) {
        byte[] input = new byte[bytes.length + 1];
        input[0] = (byte) form;
        System.arraycopy(bytes, 0, input, 1, bytes.length);
        return input;
    }

    private static byte[] content(byte[] input) {
        byte[] bytes = Arrays.copyOfRange(input, Math.min(1, input.length), input.length);
        return switch (input.length == 0 ? 0 : input[0]) {
            case 1 -> gzip(bytes);
            case 2 -> tar(1, bytes);
            case 3 -> gzip(tar(2, bytes));
            default -> bytes;
        };
    }

    private static byte[] small() {
        BtfBuilder types = BtfBuilder.create();
        types.struct("thing", 8);
        return types.toBytes(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    protected List<byte[]> seeds() {
        byte[] btf = small();
        return Stream.concat(
                        Stream.of(
                                        btf,
                                        xz(btf),
                                        gzip(btf),
                                        tar(2, btf),
                                        xz(tar(2, btf)),
                                        gzip(tar(1, btf)),
                                        xz(gzip(btf)),
                                        gzip(gzip(xz(btf))))
                                .map(bytes -> input(0, bytes)),
                        Stream.of(input(1, btf), input(2, btf), input(3, btf), input(1, tar(2, btf))))
                .toList();
    }

    /** xz may take as much as {@code xz -9} does, in each of the layers, and BTF may have 64 MiB when it is expanded. */
    @Override
    protected Limits limits() {
        return Limits.USUAL
                .withExecutions(100)
                .withMaxLength(1 << 13)
                .withBytes(400 << 20, 10_000)
                .withSteps(4_000_000_000L, 50_000);
    }

    @Override
    protected void read(byte[] input) throws IOException {
        Path file = Files.write(file("fuzzed.btf"), content(input));
        List<String> names = new ArrayList<>();
        List<String> refusals = new ArrayList<>();
        try {
            BtfFile.forEach(file, new BtfFile.Taker() {
                @Override
                public void take(String name, Btf btf) {
                    names.add(name);
                    assertThat(btf.typeCount()).isPositive();
                }

                @Override
                public void refused(String name, IOException problem) {
                    refusals.add(String.valueOf(problem.getMessage()));
                }
            });
        } catch (IOException e) {
            refusals.add(String.valueOf(e.getMessage()));
        }
        assertThat(names).allMatch(name -> name.startsWith(file.toString()));
        assertThat(refusals).hasSizeLessThanOrEqualTo(1).allMatch(message -> message.contains(file.toString()));
        assertThat(names.size() + refusals.size()).isPositive();
    }

    @Override
    protected List<Growth> growths() {
        return List.of(new Growth("entries of an archive", count -> input(0, tar(count, small()))));
    }
}
