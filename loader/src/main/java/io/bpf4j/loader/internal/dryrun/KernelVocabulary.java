package io.bpf4j.loader.internal.dryrun;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The numbers that a kernel knows, from the enumerations of its uapi header in its BTF. Each enumeration may be missing
 * in reduced BTF; then all numbers are assumed to be known. <i>Immutable.</i>
 *
 * <p>Tested by {@code DryRunTest}.
 */
final class KernelVocabulary {
    private final Optional<Set<Long>> helpers;
    private final Optional<Set<Long>> maps;
    private final Optional<Set<Long>> programs;
    private final Optional<Set<Long>> attachTypes;

    KernelVocabulary(Btf kernel) {
        helpers = values(kernel, "bpf_func_id", "__BPF_FUNC_MAX_ID");
        maps = values(kernel, "bpf_map_type", "__MAX_BPF_MAP_TYPE");
        programs = values(kernel, "bpf_prog_type", "__MAX_BPF_PROG_TYPE");
        attachTypes = values(kernel, "bpf_attach_type", "__MAX_BPF_ATTACH_TYPE");
    }

    /** Without the last value, which is the count. */
    private static Optional<Set<Long>> values(Btf kernel, String name, String end) {
        OptionalInt id = kernel.find(name, BtfKind.ENUM);
        if (id.isEmpty() || !(kernel.type(id.getAsInt()) instanceof BtfType.Enumeration enumeration)) {
            return Optional.empty();
        }
        return Optional.of(enumeration.values().stream()
                .filter(value -> !value.name().equals(end))
                .map(BtfType.EnumValue::value)
                .collect(Collectors.toUnmodifiableSet()));
    }

    boolean hasHelper(int id) {
        return has(helpers, id);
    }

    boolean hasMapType(int number) {
        return has(maps, number);
    }

    boolean hasProgramType(int number) {
        return has(programs, number);
    }

    boolean hasAttachType(int number) {
        return has(attachTypes, number);
    }

    private static boolean has(Optional<Set<Long>> known, long number) {
        return known.isEmpty() || known.get().contains(number);
    }
}
