package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Any archive has the library, or is refused. What is found lies in the archive. */
class ZipFuzzTest extends FuzzTarget {
    @Override
    protected List<byte[]> seeds() {
        return List.of(
                zip(ZipEntry.STORED, "lib/x.so"), zip(ZipEntry.DEFLATED, "lib/x.so"), zip(ZipEntry.STORED, "lib/y.so"));
    }

    private static byte[] zip(int method, String... names) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            byte[] content = SampleElf.inner();
            for (String name : names) {
                ZipEntry entry = new ZipEntry(name);
                entry.setTime(0);
                entry.setMethod(method);
                entry.setSize(content.length);
                CRC32 crc = new CRC32();
                crc.update(content);
                entry.setCrc(crc.getValue());
                zip.putNextEntry(entry);
                zip.write(content);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** The library may have compressed symbols, too. */
    @Override
    protected Limits limits() {
        return Limits.USUAL.withExecutions(100).withBytes(80 << 20, 2_000).withSteps(5_000_000, 20_000);
    }

    @Override
    protected void read(byte[] input) throws IOException {
        Path archive = Files.write(file("app.apk"), input);
        Path library = Path.of(archive + "!/lib/x.so");
        try (ElfFile elf = ElfFile.open(library)) {
            assertThat(elf.containerOffset()).isBetween(0L, (long) input.length);
            assertThat(elf.bytes().size()).isLessThanOrEqualTo(input.length - elf.containerOffset());
            SampleElf.readAll(elf);
        } catch (MalformedDataException e) {
            assertThat(e.source()).startsWith(archive.toString());
        } catch (FileSystemException e) {
            assertThat(e.getMessage()).contains(archive.toString());
        }
    }

    @Override
    protected List<Growth> growths() {
        return List.of(new Growth("entries", count -> {
            String[] names = new String[count];
            for (int i = 0; i < count; i++) {
                names[i] = "lib/" + (100_000 + i) + ".so";
            }
            return zip(ZipEntry.STORED, names);
        }));
    }
}
