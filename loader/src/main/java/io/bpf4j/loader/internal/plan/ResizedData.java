package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.util.Optional;

/**
 * Sections of global data whose size an embedder changed. The last variable grows or shrinks with its section. It must
 * be an array, which then has more or fewer elements:
 *
 * <pre>
 *   int count = 4;                   .data.samples: 8 bytes      withSizes(4, 404): 404 bytes
 *   int samples[1];                  samples: int[1] at 4        samples: int[100] at 4
 * </pre>
 *
 * The verifier checks accesses against the section's size, not the length at compile time, so programs may use the new
 * size; the BTF for the kernel must have the same size.
 *
 * <p>Tested by {@code LoadedDefinitionsTest} and {@code LinkageOnKernelTest}.
 */
public final class ResizedData {
    private ResizedData() {}

    /**
     * Checks an edit.
     *
     * @throws InvalidObjectException if the section has no array at its end, or part of an element would be left
     */
    public static void require(ObjectSpec spec, MapSpec before, MapSpec after) {
        if (before.data().isEmpty() || after.data().isEmpty()) {
            return;
        }
        DataSection resizedTo = after.data().get();
        if (before.data().get().size() == resizedTo.size()
                || resizedTo.variables().isEmpty()) {
            return;
        }
        Btf types = spec.btf().orElseThrow();
        GlobalSpec last = resizedTo.variables().getLast();
        String prefix =
                spec.source() + ": section \"" + resizedTo.name() + "\" can't have " + resizedTo.size() + " bytes: ";
        if (!(types.type(types.resolve(last.typeId())) instanceof BtfType.Array array)) {
            throw new InvalidObjectException(
                    prefix + "its last variable, \"" + last.name() + "\", is not an array, so its size can't change");
        }
        long element = types.size(array.elementType());
        if (element <= 0 || last.size() % element != 0) {
            throw new InvalidObjectException(prefix + "that leaves " + last.size() + " bytes for the array \""
                    + last.name() + "\", whose elements have " + element + " bytes each");
        }
    }

    /** The variable with the array's new length, for the kernel. */
    static Optional<BtfType.Var> variable(BtfBuilder types, Btf original, GlobalSpec variable, BtfType.Var before) {
        if (!(original.type(original.resolve(variable.typeId())) instanceof BtfType.Array array)) {
            return Optional.empty();
        }
        long element = original.size(array.elementType());
        if (element <= 0) {
            return Optional.empty();
        }
        int resized = types.array(array.elementType(), array.indexType(), variable.size() / element);
        return Optional.of(new BtfType.Var(before.name(), resized, before.linkage()));
    }
}
