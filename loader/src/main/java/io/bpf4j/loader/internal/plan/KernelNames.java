package io.bpf4j.loader.internal.plan;

/** Names as the kernel takes them for maps and programs: 15 bytes of letters, digits, underscore and dot. */
public final class KernelNames {
    private static final int MAX = 15;
    private static final String LONGEST_COMMON = ".rodata";

    private KernelNames() {}

    public static String of(String name) {
        StringBuilder kept = new StringBuilder(MAX);
        for (int i = 0; i < name.length() && kept.length() < MAX; i++) {
            char c = name.charAt(i);
            boolean allowed =
                    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
            kept.append(allowed ? c : '_');
        }
        return kept.toString();
    }

    /**
     * For a section of global data: the object's own name before the section's, as {@code bpftool} users know it. The
     * object gets what {@code .rodata}, the longest of the common ones, leaves, so that all maps of an object begin alike;
     * a section of the user's ({@code .data.mine}) stands alone. So does libbpf (internal_map_name).
     */
    static String ofSection(String source, String section) {
        String file = source.substring(source.lastIndexOf('/') + 1);
        int dot = file.indexOf('.');
        String object = dot > 0 ? file.substring(0, dot) : file;
        if (section.indexOf('.', 1) > 0) {
            return of(section);
        }
        int room = Math.max(0, MAX - Math.max(LONGEST_COMMON.length(), section.length()));
        return of(object.substring(0, Math.min(room, object.length())) + section);
    }
}
