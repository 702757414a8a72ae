package io.bpf4j.loader.link;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.internal.text.FileName;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The dynamic linker's list of libraries, {@code /etc/ld.so.cache}, as {@code ldconfig} writes it. <i>Immutable.</i>
 *
 * <p>The layout is glibc's (sysdeps/generic/dl-cache.h, {@code struct cache_file_new}), in the machine's byte order: a
 * header of 48 bytes that starts with {@code glibc-ld.so.cache1.1} and has the number of entries at 20; then entries of
 * 24 bytes, whose name and path are at 4 and 8 as offsets from the start of the file. A cache in the older layout,
 * which glibc stopped writing in 2.32, may contain the newer one after it; it is not read. If the file does not exist
 * (musl), the list is empty.
 *
 * <p>Tested by {@code LibrarySearchTest} and {@code LibrarySearchOnMachineTest}.
 */
record LdCache(Map<String, List<Path>> libraries) {
    private static final String MAGIC = "glibc-ld.so.cache1.1";
    private static final int ENTRY_COUNT = 20;
    private static final int ENTRIES = 48;
    private static final int ENTRY_SIZE = 24;
    private static final int NAME = 4;
    private static final int PATH = 8;

    /** The list of a file; empty if the file can't be read or is not a cache. */
    static LdCache read(Path file) {
        try {
            return parse(ByteView.of(file.toString(), Files.readAllBytes(file), ByteOrder.nativeOrder()));
        } catch (IOException | MalformedDataException e) {
            return new LdCache(Map.of());
        }
    }

    private static LdCache parse(ByteView cache) {
        byte[] magic = cache.slice(0, MAGIC.length()).toByteArray();
        if (!MAGIC.equals(new String(magic, StandardCharsets.ISO_8859_1))) {
            return new LdCache(Map.of());
        }
        Map<String, List<Path>> libraries = new LinkedHashMap<>();
        long count = cache.u32(ENTRY_COUNT);
        for (long i = 0; i < count; i++) {
            long entry = ENTRIES + i * ENTRY_SIZE;
            libraries
                    .computeIfAbsent(cache.cString(cache.u32(entry + NAME)), _ -> new ArrayList<>())
                    .add(FileName.of(cache.cStringBytes(cache.u32(entry + PATH), cache.size()))
                            .path());
        }
        return new LdCache(libraries);
    }

    /**
     * The files of a file name such as {@code libc.so.6}, in the order of the list. They may be for different machines.
     */
    List<Path> byFileName(String name) {
        return libraries.getOrDefault(name, List.of());
    }

    /** The files of a name as for the linker's {@code -l}, {@code c} or {@code libc}, in all versions. */
    List<Path> byLinkName(String name) {
        String start = (name.startsWith("lib") ? name : "lib" + name) + ".so";
        return libraries.entrySet().stream()
                .filter(e -> e.getKey().equals(start) || e.getKey().startsWith(start + "."))
                .flatMap(e -> e.getValue().stream())
                .toList();
    }
}
