package io.bpf4j.loader.spec;

import java.util.List;

/**
 * A section of global variables, which the kernel holds as an array map of one value. <i>Immutable</i>: the bytes belong
 * to the spec and are copied on the way out.
 *
 * @param name of the section, such as {@code .rodata} or {@code .data.config}
 * @param sectionIndex of the section in the file; 0 for {@code .kconfig}, which no section backs
 * @param initial bytes at load, the object's byte order; zeroes for {@code .bss}
 * @param readOnly whether programs may only read it; the map is frozen once loaded
 * @param variables those that BTF tells of, by offset; empty without BTF
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; copied by the accessor
public record DataSection(String name, int sectionIndex, byte[] initial, boolean readOnly, List<GlobalSpec> variables) {
    /** The section that holds the values of {@code __kconfig} externs. */
    public static final String KCONFIG = ".kconfig";

    public DataSection {
        initial = initial.clone();
        variables = List.copyOf(variables);
    }

    @Override
    public byte[] initial() {
        return initial.clone();
    }

    /** The size in bytes. */
    public int size() {
        return initial.length;
    }

    @Override
    public String toString() {
        return name + ", " + initial.length + " bytes, " + variables.size() + " variables";
    }
}
