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

    /**
     * The functions by the identities of their files, which processes that appear later may map under other names.
     *
     * @throws CommandException if no file has one of the functions
     */
    static Map<FileIdentity, List<FunctionProbe>> of(
            TargetOptions options, List<UsdtScan> scans, @Nullable ChildCommand child) throws IOException {
        Map<FileIdentity, List<FunctionProbe>> functions = new LinkedHashMap<>();
        if (options.functions().isEmpty()) {
            return functions;
        }
        Map<FileIdentity, Path> files = files(options, scans, child);
        for (String name : options.functions()) {
            Map<FileIdentity, List<FunctionProbe>> found = in(files, name);
            if (found.isEmpty()) {
                throw new CommandException("no function " + name + " in "
                        + (files.size() == 1 ? files.values().iterator().next().toString() : files.size() + " files")
                        + FunctionProbe.nearest(files.values(), name.substring(name.indexOf(':') + 1))
                                .map(nearest -> "; the nearest is '" + nearest + "'")
                                .orElse("")
                        + "; it may be inlined, indirect (IFUNC), or its file may be stripped"
                        + (child != null && options.files().isEmpty()
                                ? "; for a function of a library name its file, as in u:libc.so.6:malloc"
                                : ""));
            }
            found.forEach((file, more) ->
                    functions.computeIfAbsent(file, _ -> new ArrayList<>()).addAll(more));
        }
        return functions;
    }

    /** The files to search. A file with two names must not be attached to twice, which would count each call twice. */
    private static Map<FileIdentity, Path> files(
            TargetOptions options, List<UsdtScan> scans, @Nullable ChildCommand child) throws IOException {
        Set<Path> paths = new LinkedHashSet<>(options.files());
        if (paths.isEmpty() && child != null) {
            paths.add(child.file());
        } else if (paths.isEmpty()) {
            scans.forEach(scan -> scan.files().forEach(file -> paths.add(file.path())));
        }
        Map<FileIdentity, Path> files = new LinkedHashMap<>();
        for (Path path : paths) {
            files.putIfAbsent(FileIdentity.of(path), path);
        }
        return files;
    }

    private static Map<FileIdentity, List<FunctionProbe>> in(Map<FileIdentity, Path> files, String name)
            throws IOException {
        int colon = name.indexOf(':');
        Map<FileIdentity, List<FunctionProbe>> found = new LinkedHashMap<>();
        for (Map.Entry<FileIdentity, Path> file : files.entrySet()) {
            try {
                List<FunctionProbe> functions =
                        FunctionProbe.matching(file.getValue(), name.substring(colon + 1), name.startsWith("ur"));
                if (!functions.isEmpty()) {
                    found.put(file.getKey(), functions);
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
