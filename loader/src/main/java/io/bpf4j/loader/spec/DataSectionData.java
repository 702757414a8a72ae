package io.bpf4j.loader.spec;

import io.bpf4j.loader.error.InvalidObjectException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The one implementation of {@link DataSection}.
 *
 * <p>Tested by {@code DataReaderTest}.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; copied by the accessor
record DataSectionData(
        String name, int sectionIndex, byte[] content, int size, boolean readOnly, List<GlobalSpec> variables)
        implements DataSection {
    DataSectionData {
        content = content.clone();
        variables = List.copyOf(variables);
    }

    @Override
    public byte[] content() {
        return content.clone();
    }

    @Override
    public boolean isZero() {
        return content.length == 0;
    }

    /**
     * The same section with another size. The last variable extends to the end of the section; its new bytes are 0.
     *
     * @throws InvalidObjectException if the size leaves no byte for the last variable
     */
    DataSectionData resized(int newSize) {
        List<GlobalSpec> moved = new ArrayList<>(variables);
        if (!moved.isEmpty()) {
            GlobalSpec last = moved.removeLast();
            if (newSize <= last.offset()) {
                throw new InvalidObjectException("section \"" + name + "\" can't have " + newSize
                        + " bytes: its last variable, \"" + last.name() + "\", is at " + last.offset());
            }
            moved.add(new GlobalSpecData(
                    last.name(),
                    last.map(),
                    last.offset(),
                    newSize - last.offset(),
                    last.typeId(),
                    last.variableId(),
                    last.exported()));
        }
        return new DataSectionData(
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
