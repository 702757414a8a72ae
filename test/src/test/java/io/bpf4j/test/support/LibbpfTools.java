package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The BPF objects of Debian's package libbpf-tools. Each tool carries its own in its data section, whole, as libbpf's
 * skeletons do; here they are carved out again.
 *
 * <p>An object is found by its ELF header: class 64, little-endian, type REL, machine 247 (EM_BPF). It ends with its
 * table of section headers, which clang and libbpf's static linker put last.
 */
public final class LibbpfTools {
    private static final int HEADER_SIZE = 64;
    private static final int EM_BPF = 247;
    private static final int ET_REL = 1;

    private LibbpfTools() {}

    /** All objects by the name of their tool, those of a tool with several numbered; in the order of the names. */
    public static Map<String, byte[]> objects() {
        Map<String, byte[]> objects = new LinkedHashMap<>();
        for (Path tool : tools()) {
            List<byte[]> carved = carve(read(tool));
            for (int i = 0; i < carved.size(); i++) {
                objects.put(tool.getFileName() + (carved.size() == 1 ? "" : "-" + (i + 1)), carved.get(i));
            }
        }
        return objects;
    }

    static List<Path> tools() {
        Path list = Path.of("/var/lib/dpkg/info/libbpf-tools.list");
        if (!Files.exists(list)) {
            return List.of();
        }
        try (Stream<String> lines = Files.lines(list)) {
            return lines.filter(line -> line.contains("bin/"))
                    .map(Path::of)
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<byte[]> carve(byte[] file) {
        ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        List<byte[]> found = new ArrayList<>();
        for (int at = 0; at + HEADER_SIZE <= file.length; at++) {
            // \177ELF, 64 bits, little-endian.
            if (file[at] == 0x7f
                    && bytes.getInt(at) == 0x464c457f
                    && file[at + 4] == 2
                    && file[at + 5] == 1
                    && bytes.getShort(at + 16) == ET_REL
                    && bytes.getShort(at + 18) == EM_BPF) {
                long size = bytes.getLong(at + 40) + (long) bytes.getShort(at + 58) * bytes.getShort(at + 60);
                if (size > HEADER_SIZE && at + size <= file.length) {
                    found.add(Arrays.copyOfRange(file, at, at + (int) size));
                    at += (int) size - 1;
                }
            }
        }
        return found;
    }
}
