package io.bpf4j.sys.internal.call;

import java.nio.charset.StandardCharsets;

/**
 * Names that the kernel accepts for maps and programs: at most 15 bytes of letters, digits, underscore and dot
 * (BPF_OBJ_NAME_LEN, and bpf_obj_name_cpy in kernel/bpf/syscall.c).
 *
 * <p>Tested by {@code KernelNamesTest} and {@code EditsOnKernelTest}.
 */
public final class KernelNames {
    private static final int MAX_LENGTH = 15;
    private static final String LONGEST_COMMON = ".rodata";

    private KernelNames() {}

    /** The kernel counts bytes, so a character that is not ASCII becomes as many underscores as it has bytes in UTF-8. */
    public static String of(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        return of(bytes, bytes.length);
    }

    private static String of(byte[] bytes, int length) {
        StringBuilder result = new StringBuilder(MAX_LENGTH);
        for (int i = 0; i < length && i < MAX_LENGTH; i++) {
            byte c = bytes[i];
            boolean allowed =
                    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
            result.append(allowed ? (char) c : '_');
        }
        return result.toString();
    }

    /**
     * The name of a map of global data: the object's name, then the section's, as {@code bpftool} shows it. The
     * object's name is truncated so that {@code .rodata}, the longest common section name, fits after it: all maps of
     * an object then have the same prefix. A map of a custom section ({@code .data.mine}) has the section's name only,
     * as have all maps of a file whose name begins with a dot, because the object's name ends at the first dot. libbpf
     * does the same (internal_map_name).
     */
    public static String ofSection(String source, String section) {
        String file = source.substring(source.lastIndexOf('/') + 1);
        int dot = file.indexOf('.');
        String object = dot >= 0 ? file.substring(0, dot) : file;
        if (section.indexOf('.', 1) > 0) {
            return of(section);
        }
        int prefixLength = Math.max(0, MAX_LENGTH - Math.max(LONGEST_COMMON.length(), section.length()));
        byte[] bytes = object.getBytes(StandardCharsets.UTF_8);
        return of(of(bytes, Math.min(prefixLength, bytes.length)) + section);
    }
}
