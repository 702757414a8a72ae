package io.bpf4j.loader.internal.dryrun;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The numbers that a kernel knows, from the enumerations of its uapi header in its BTF. Each enumeration may be missing
 * in reduced BTF; then all numbers are assumed to be known. <i>Confined.</i>
 *
 * <p>Tested by {@code DryRunTest}.
 */
final class KernelVocabulary {
    private final Btf kernel;
    private final Map<String, Map<Long, String>> namesByEnum = new HashMap<>();

    KernelVocabulary(Btf kernel) {
        this.kernel = kernel;
    }

    /**
     * Whether an enumeration, such as {@code bpf_map_type}, has a number. The last value of each is the count, whose name
     * begins with two underscores.
     */
    boolean has(String enumeration, long number) {
        Map<Long, String> known = namesByEnum.computeIfAbsent(enumeration, this::names);
        return known.isEmpty() || !known.getOrDefault(number, "__").startsWith("__");
    }

    private Map<Long, String> names(String enumeration) {
        Map<Long, String> names = new HashMap<>();
        OptionalInt id = kernel.find(enumeration, BtfKind.ENUM);
        if (id.isPresent() && kernel.type(id.getAsInt()) instanceof BtfType.Enumeration found) {
            found.values().forEach(value -> names.putIfAbsent(value.value(), value.name()));
        }
        return names;
    }
}
