package io.bpf4j.cli.command;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Target;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The USDT probes and functions that the operands of a command select in files. <i>Immutable.</i>
 *
 * @param functionsByFile the functions by the identities of their files, which processes may map under other names
 */
record SelectedProbes(List<UsdtProbe> probes, Map<FileIdentity, List<FunctionProbe>> functionsByFile) {
    /**
     * Selects.
     *
     * @param scans the files that were searched for probes
     * @param target the processes that are followed; empty if files may not appear
     */
    static SelectedProbes of(
            TargetOptions options, TargetSelection selection, List<UsdtScan> scans, Optional<Target> target)
            throws IOException {
        return new SelectedProbes(
                options.patterns().isEmpty() ? List.of() : selection.of(scans),
                FunctionSelection.of(options, scans, target));
    }

    List<FunctionProbe> functions() {
        return functionsByFile.values().stream().flatMap(List::stream).toList();
    }

    /** The full names of the probes and functions, in order. */
    Set<String> names() {
        return Stream.concat(
                        probes.stream().map(UsdtProbe::fullName),
                        functions().stream().map(FunctionProbe::fullName))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    Set<FileIdentity> files() {
        Set<FileIdentity> files = new HashSet<>(functionsByFile.keySet());
        probes.forEach(probe -> files.add(probe.binary().identity()));
        return files;
    }

    Set<Path> paths() {
        return Stream.concat(
                        probes.stream().map(probe -> probe.binary().path()),
                        functions().stream().map(FunctionProbe::file))
                .collect(Collectors.toSet());
    }

    /** The probes and functions in the files for which a condition on identity and path holds. */
    SelectedProbes inFiles(BiPredicate<FileIdentity, Path> condition) {
        Map<FileIdentity, List<FunctionProbe>> some = new LinkedHashMap<>(functionsByFile);
        some.entrySet()
                .removeIf(file -> !condition.test(
                        file.getKey(), file.getValue().getFirst().file()));
        return new SelectedProbes(
                probes.stream()
                        .filter(probe -> condition.test(
                                probe.binary().identity(), probe.binary().path()))
                        .toList(),
                some);
    }

    /** The probes and functions with one of these full names. */
    SelectedProbes named(Set<String> names) {
        Map<FileIdentity, List<FunctionProbe>> some = new LinkedHashMap<>();
        functionsByFile.forEach((file, ofFile) -> {
            List<FunctionProbe> left = ofFile.stream()
                    .filter(function -> names.contains(function.fullName()))
                    .toList();
            if (!left.isEmpty()) {
                some.put(file, left);
            }
        });
        return new SelectedProbes(
                probes.stream()
                        .filter(probe -> names.contains(probe.fullName()))
                        .toList(),
                some);
    }

    int size() {
        return probes.size() + functions().size();
    }
}
