package io.bpf4j.loader.link;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.FileName;
import io.bpf4j.elf.MalformedDataException;
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
 * 24 bytes, whose name and path are at 4 and 8 as offsets from the start of the file. A cache in the older layout, which
 * glibc stopped to write in 2.32, may have the newer one behind it and is not read. Where there is no such file (musl),
 * the list is empty.
 */
final class LdCache {
    private static final String MAGIC = "glibc-ld.so.cache1.1";
    private static final int ENTRY_COUNT = 20;
    private static final int ENTRIES = 48;
    private static final int ENTRY_SIZE = 24;
    private static final int NAME = 4;
    private static final int PATH = 8;

    private final Map<String, List<Path>> libraries;

    private LdCache(Map<String, List<Path>> libraries) {
        this.libraries = libraries;
    }

    /** The list of a file; empty if it can't be read or is something else. */
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
                    .add(FileName.in(cache, cache.u32(entry + PATH)).path());
        }
        return new LdCache(libraries);
    }

    /** By its file name, {@code libc.so.6}: the files in the order of the list, which may be for different machines. */
    List<Path> byFileName(String name) {
        return libraries.getOrDefault(name, List.of());
    }

    /** By what the linker is given with {@code -l}: {@code c} or {@code libc}, in whatever versions there are. */
    List<Path> byLinkName(String name) {
        String start = (name.startsWith("lib") ? name : "lib" + name) + ".so";
        return libraries.entrySet().stream()
                .filter(e -> e.getKey().equals(start) || e.getKey().startsWith(start + "."))
                .flatMap(e -> e.getValue().stream())
                .toList();
    }
}
