package io.bpf4j.trace.catalog;

import io.bpf4j.elf.FileOpener;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads the text of a user's file, and no more of it than a catalog may have, because the file may grow meanwhile.
 *
 * <p>Tested by {@code CatalogTest}.
 */
final class CatalogText {
    /** Bytes of the largest catalog. The largest of bpf4j's own files has about 40,000 bytes. */
    static final int MAX_BYTES = 1 << 20;

    private CatalogText() {}

    static String read(Path file) throws IOException {
        if (!Files.isRegularFile(file)) { // A pipe would never end.
            throw new IOException(file + (Files.exists(file) ? ": not a regular file" : ": no such file"));
        }
        byte[] bytes;
        try (FileOpener.Opened opened = OpenFile.opener(Host.running()).open(file);
                InputStream in = Files.newInputStream(opened.path())) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        }
        if (bytes.length > MAX_BYTES) {
            throw new CatalogException(file.toString(), 1, "larger than " + MAX_BYTES + " bytes: split it");
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new CatalogException(file.toString(), lineOfFirstBadByte(bytes), "expected text in UTF-8");
        }
    }

    private static int lineOfFirstBadByte(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        StandardCharsets.UTF_8.newDecoder().decode(in, CharBuffer.allocate(bytes.length), true);
        int line = 1;
        for (int i = 0; i < in.position(); i++) {
            if (bytes[i] == '\n') {
                line++;
            }
        }
        return line;
    }
}
