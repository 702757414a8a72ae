package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.trace.ChildCommand;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the functions that a command attaches to, in the files on the command line, or else in the files of the process
 * or in the program of the command.
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
final class FunctionSelection {
    private FunctionSelection() {}

    /** @throws CommandException if no file has one of the functions */
    static List<FunctionProbe> of(TargetOptions options, List<UsdtScan> scans, @Nullable ChildCommand child)
            throws IOException {
        if (options.functions().isEmpty()) {
            return List.of();
        }
        Set<Path> files = new LinkedHashSet<>(options.files());
        if (files.isEmpty() && child != null) {
            files.add(child.file());
        } else if (files.isEmpty()) {
            scans.forEach(scan -> scan.files().forEach(file -> files.add(file.path())));
        }
        List<FunctionProbe> functions = new ArrayList<>();
        for (String name : options.functions()) {
            List<FunctionProbe> found = in(files, name);
            if (found.isEmpty()) {
                throw new CommandException("no function " + name + " in "
                        + (files.size() == 1 ? files.iterator().next().toString() : files.size() + " files")
                        + FunctionProbe.nearest(files, name.substring(name.indexOf(':') + 1))
                                .map(nearest -> "; the nearest is '" + nearest + "'")
                                .orElse("")
                        + "; it may be inlined, indirect (IFUNC), or its file may be stripped"
                        + (child != null && options.files().isEmpty()
                                ? "; for a function of a library name its file, as in u:libc.so.6:malloc"
                                : ""));
            }
            functions.addAll(found);
        }
        return functions;
    }

    /** The functions by the identities of their files, which processes that appear later may map under other names. */
    static Map<FileIdentity, List<FunctionProbe>> byFile(List<FunctionProbe> functions) throws IOException {
        Map<FileIdentity, List<FunctionProbe>> byFile = new LinkedHashMap<>();
        for (FunctionProbe function : functions) {
            byFile.computeIfAbsent(FileIdentity.of(function.file()), _ -> new ArrayList<>())
                    .add(function);
        }
        return byFile;
    }

    private static List<FunctionProbe> in(Set<Path> files, String name) throws IOException {
        int colon = name.indexOf(':');
        List<FunctionProbe> found = new ArrayList<>();
        // A file with two names must not be attached to twice, which would count each call twice.
        Set<FileIdentity> seen = new HashSet<>();
        for (Path file : files) {
            try {
                if (seen.add(FileIdentity.of(file))) {
                    found.addAll(FunctionProbe.matching(file, name.substring(colon + 1), name.startsWith("ur")));
                }
            } catch (MalformedDataException e) {
                if (files.size() == 1) {
                    throw e;
                }
            }
        }
        return found;
    }
}
