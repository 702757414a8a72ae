package io.bpf4j.loader.spec;

import java.util.Arrays;
import java.util.List;

/**
 * A section of global variables, which the kernel holds as an array map of one value. <i>Immutable</i>: the bytes
 * belong to the spec, and accessors return copies.
 */
public sealed interface DataSection permits DataSectionData {
    /** The section that holds the values of {@code __kconfig} externs. */
    String KCONFIG = ".kconfig";

    /** Its name, such as {@code .rodata} or {@code .data.config}. */
    String name();

    /** Its index in the file; 0 for {@code .kconfig}, which is not a section of the file. */
    int sectionIndex();

    /**
     * The bytes in the file, in the object's byte order; empty for {@code .bss}, whose size is not backed by bytes in
     * the file.
     */
    byte[] content();

    /** Its size in the kernel, in bytes; the bytes after the content are zero. */
    int size();

    /** Whether programs may only read it; the map is frozen once loaded. */
    boolean readOnly();

    /** The variables in BTF, by offset; empty without BTF. */
    List<GlobalSpec> variables();

    /** The value at load, all {@link #size} bytes of it. */
    default byte[] initial() {
        return Arrays.copyOf(content(), size());
    }

    /**
     * Whether it is a read-only section of the object, such as {@code .rodata}; not {@link #KCONFIG}, which the loader
     * fills.
     */
    default boolean isConstant() {
        return readOnly() && !name().equals(KCONFIG);
    }

    /** Whether the file has no bytes for it, so that every variable starts as 0. */
    boolean isZero();
}
