package io.bpf4j.loader.spec;

import io.bpf4j.loader.error.InvalidObjectException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A section of global variables, which the kernel holds as an array map of one value. <i>Immutable</i>: the bytes
 * belong to the spec, and accessors return copies.
 *
 * <p>Tested by {@code DataReaderTest}.
 *
 * @param name its name, such as {@code .rodata} or {@code .data.config}
 * @param sectionIndex its index in the file; 0 for {@code .kconfig}, which is not a section of the file
 * @param content the bytes in the file, in the object's byte order; empty for {@code .bss}, whose size is not backed by
 *     bytes in the file
 * @param size its size in the kernel, in bytes; the bytes after the content are zero
 * @param readOnly whether programs may only read it; the map is frozen once loaded
 * @param variables the variables in BTF, by offset; empty without BTF
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

    /**
     * Whether it is a read-only section of the object, such as {@code .rodata}; not {@link #KCONFIG}, which the loader
     * fills.
     */
    public boolean isConstant() {
        return readOnly && !name.equals(KCONFIG);
    }

    /** Whether the file has no bytes for it, so that every variable starts as 0. */
    public boolean isZero() {
        return content.length == 0;
    }

    /**
     * The same section with another size. The last variable extends to the end of the section; its new bytes are 0.
     *
     * @throws InvalidObjectException if the size leaves no byte for the last variable
     */
    DataSection resized(int newSize) {
        List<GlobalSpec> moved = new ArrayList<>(variables);
        if (!moved.isEmpty()) {
            GlobalSpec last = moved.removeLast();
            if (newSize <= last.offset()) {
                throw new InvalidObjectException("section \"" + name + "\" can't have " + newSize
                        + " bytes: its last variable, \"" + last.name() + "\", is at " + last.offset());
            }
            moved.add(RecordCopy.with(last, GlobalSpec.class, "size", newSize - last.offset()));
        }
        return new DataSection(
                name,
                sectionIndex,
                Arrays.copyOf(content, Math.min(content.length, newSize)),
                newSize,
                readOnly,
                moved);
    }

    @Override
    public String toString() {
        return name + ", " + size + " bytes, " + variables.size() + " variables";
    }
}
