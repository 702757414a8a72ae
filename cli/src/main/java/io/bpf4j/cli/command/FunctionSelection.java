package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.FileOpener;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.sys.Host;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Target;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds the functions that a command attaches to: each in the file that its operand names, or else in the files on the
 * command line, or else in the files of the process or in the program of the command.
 *
 * <p>Tested by {@code CliQuestionsTest} and {@code FunctionSelectionTest}.
 */
final class FunctionSelection {
    private FunctionSelection() {}

    /**
     * The functions by the identities of their files, which processes that appear later may map under other names.
     *
     * @param target the processes that are followed; empty if files may not appear
     * @throws CommandException if no file has one of the functions
     */
    static Map<FileIdentity, List<FunctionProbe>> of(
            TargetOptions options, List<UsdtScan> scans, Optional<Target> target) throws IOException {
        Map<FileIdentity, List<FunctionProbe>> functions = new LinkedHashMap<>();
        if (options.functions().isEmpty()) {
            return functions;
        }
        Map<FileIdentity, Path> all = files(options, scans, target);
        for (NamedFunction named : options.functions()) {
            Map<FileIdentity, Path> files = named.file().isPresent()
                    ? identified(List.of(Operands.check(named.file().get())))
                    : all;
            Map<FileIdentity, List<FunctionProbe>> found = in(files, named);
            if (found.isEmpty()) {
                throw new CommandException("no function " + named.name() + " in "
                        + (files.size() == 1 ? files.values().iterator().next().toString() : files.size() + " files")
                        + FunctionProbe.nearest(files.values(), named.function())
                                .map(nearest -> "; the nearest is '" + nearest + "'")
                                .orElse("")
                        + "; it may be inlined, indirect (IFUNC), or its file may be stripped"
                        + (isCommand(target)
                                        && named.file().isEmpty()
                                        && options.files().isEmpty()
                                ? "; for a function of a library name its file, as in u:libc.so.6:malloc"
                                : ""));
            }
            found.forEach((file, more) -> addNew(functions.computeIfAbsent(file, _ -> new ArrayList<>()), more));
        }
        return functions;
    }

    /**
     * Adds the functions that no earlier operand has found: a function that two operands match must be counted once.
     */
    private static void addNew(List<FunctionProbe> known, List<FunctionProbe> more) {
        Set<String> symbols = known.stream().map(FunctionSelection::symbol).collect(Collectors.toUnmodifiableSet());
        more.stream().filter(function -> !symbols.contains(symbol(function))).forEach(known::add);
    }

    private static String symbol(FunctionProbe function) {
        return function.provider() + ":" + function.function();
    }

    /** The files in which a function is looked up if its operand names no file. */
    private static Map<FileIdentity, Path> files(TargetOptions options, List<UsdtScan> scans, Optional<Target> target)
            throws IOException {
        if (options.functions().stream().allMatch(function -> function.file().isPresent())) {
            return Map.of();
        }
        if (!options.files().isEmpty()) {
            return identified(options.files());
        }
        return identified(
                isCommand(target)
                        ? List.of(target.get().program().toRealPath())
                        : scans.stream()
                                .flatMap(scan -> scan.files().stream())
                                .map(UsdtScan.File::path)
                                .toList());
    }

    private static boolean isCommand(Optional<Target> target) {
        return target.isPresent() && !target.get().line().isEmpty();
    }

    /** The files by identity. A file with two names must be attached to once, else each call would be counted twice. */
    private static Map<FileIdentity, Path> identified(List<Path> paths) throws IOException {
        Map<FileIdentity, Path> files = new LinkedHashMap<>();
        for (Path path : paths) {
            files.putIfAbsent(FileIdentity.of(path), path);
        }
        return files;
    }

    /**
     * Whether the kernel runs a file by the interpreter that its first line names (execve(2)). The owner of its
     * directory may have replaced it by a FIFO since it was read.
     */
    static boolean isScript(Path file) throws IOException {
        try (FileOpener.Opened opened = OpenFile.opener(Host.running()).open(file);
                InputStream in = Files.newInputStream(opened.path())) {
            return Arrays.equals(in.readNBytes(2), new byte[] {'#', '!'});
        }
    }

    private static Map<FileIdentity, List<FunctionProbe>> in(Map<FileIdentity, Path> files, NamedFunction named)
            throws IOException {
        Map<FileIdentity, List<FunctionProbe>> found = new LinkedHashMap<>();
        for (Map.Entry<FileIdentity, Path> file : files.entrySet()) {
            try {
                List<FunctionProbe> functions =
                        FunctionProbe.matching(file.getValue(), named.function(), named.returns());
                if (!functions.isEmpty()) {
                    found.put(file.getKey(), functions);
                }
            } catch (MalformedDataException e) {
                if (files.size() == 1 && isScript(file.getValue())) {
                    throw new CommandException(file.getValue() + " is a script, which has no functions that can be"
                            + " probed: name the file of the function, a program or a library, as in u:FILE:"
                            + named.function());
                }
                if (files.size() == 1) {
                    throw e;
                }
            }
        }
        return found;
    }
}
