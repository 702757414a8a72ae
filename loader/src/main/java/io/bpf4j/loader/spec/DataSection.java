package io.bpf4j.loader.spec;

import java.util.Arrays;
import java.util.List;

/**
 * A section of global variables, which the kernel holds as an array map of one value. <i>Immutable</i>: the bytes belong
 * to the spec and are copied on the way out.
 *
 * @param name of the section, such as {@code .rodata} or {@code .data.config}
 * @param sectionIndex of the section in the file; 0 for {@code .kconfig}, which no section backs
 * @param content the bytes that the file has, in the object's byte order; none for {@code .bss}, whose size a file may
 *     claim without having it
 * @param size in bytes, in the kernel; what goes beyond the content is zeroes
 * @param readOnly whether programs may only read it; the map is frozen once loaded
 * @param variables those that BTF tells of, by offset; empty without BTF
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; copied by the accessor
public record DataSection(
        String name, int sectionIndex, byte[] content, int size, boolean readOnly, List<GlobalSpec> variables) {
    /** The section that holds the values of {@code __kconfig} externs. */
    public static final String KCONFIG = ".kconfig";

    public DataSection {
        content = content.clone();
        variables = List.copyOf(variables);
    }

    @Override
    public byte[] content() {
        return content.clone();
    }

    /** The value at load, all {@link #size} bytes of it. */
    public byte[] initial() {
        return Arrays.copyOf(content, size);
    }

    /** Whether the file has no bytes of it: every variable starts as 0. */
    public boolean isZero() {
        return content.length == 0;
    }

    @Override
    public String toString() {
        return name + ", " + size + " bytes, " + variables.size() + " variables";
    }
}
