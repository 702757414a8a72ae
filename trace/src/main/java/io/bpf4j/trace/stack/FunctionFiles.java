package io.bpf4j.trace.stack;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.MappedRange;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.process.ProcessLimits;
import java.io.IOException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The functions of the files that processes have mapped. A file that many processes have mapped is read once; the memory
 * and the number of open files are limited. <i>Confined.</i>
 *
 * <p>Tested by {@code SymbolizerTest}.
 */
final class FunctionFiles implements AutoCloseable {
    /** The maximum number of large files that are kept open. A process has one or two. */
    static final int MAX_OPEN = 64;

    /** The maximum memory of all known functions in bytes; the least recently used files are dropped. */
    private static final long MAX_TABLES = 3L << 24;

    private static final int MAX_VERSIONS = 1 << 16;

    private final DebugFiles debugFiles;
    private final SymbolBudget budget;
    private final NamingProblems problems;

    /** The least recently used first. */
    private final Map<FileIdentity, FileFunctions> files = new LinkedHashMap<>(16, 0.75f, true);

    /** The version of each file that was read for this answer. */
    private final Map<MappedFile.Key, FileIdentity> versions = new HashMap<>();

    /**
     * What is needed of a large file.
     *
     * @param name what a process calls the file
     * @param offsets of the places whose functions are needed, in bytes
     */
    record Need(String name, Set<Long> offsets) {}

    FunctionFiles(DebugFiles debugFiles, SymbolBudget budget, NamingProblems problems) {
        this.debugFiles = debugFiles;
        this.budget = budget;
        this.problems = problems;
    }

    /** Another answer begins: a file that was written since the last one may be read again. */
    void renew() {
        versions.clear();
    }

    /** The functions of a mapped file; empty if it can't be opened or is not an ELF file. */
    Optional<FileFunctions> of(KnownProcess process, MappedRange mapping) {
        if (process.isUnreadable(mapping)) {
            return Optional.empty();
        }
        return process.opened(mapping)
                .flatMap(file -> Optional.ofNullable(files.get(file)))
                .or(() -> open(process, mapping))
                .filter(FileFunctions::isElf);
    }

    /** The functions of a file that was read before. */
    Optional<FileFunctions> withBuildId(String id) {
        return files.values().stream()
                .filter(file -> file.buildId().filter(id::equals).isPresent())
                .findFirst();
    }

    /** Reads what is needed of large files, each once. */
    void read(Map<FileFunctions, Need> needs) {
        needs.forEach((functions, need) -> {
            functions.need(need.offsets(), budget);
            addProblem(need.name(), functions);
        });
        if (!needs.isEmpty()) {
            bound();
        }
    }

    private Optional<FileFunctions> open(KnownProcess process, MappedRange mapping) {
        ProcessFiles.Opened opened;
        try {
            opened = process.code().open(mapping);
        } catch (IOException e) {
            return unreadable(process, mapping, String.valueOf(e.getMessage()));
        }
        FileIdentity file = opened.file().identity();
        if (versions.size() > MAX_VERSIONS) {
            versions.clear();
        }
        FileIdentity before = versions.putIfAbsent(new MappedFile.Key(file.device(), file.inode()), file);
        if (before != null && !before.equals(file)) {
            // A file that is written continually would be read again for each process.
            opened.close();
            return unreadable(process, mapping, NeededFunctions.CHANGED);
        }
        process.opened(mapping, file);
        FileFunctions known = files.get(file);
        if (known != null) {
            opened.close();
            return Optional.of(known);
        }
        FileFunctions read = read(opened, mapping);
        files.put(file, read);
        bound();
        return Optional.of(read);
    }

    private Optional<FileFunctions> unreadable(KnownProcess process, MappedRange mapping, String reason) {
        process.unreadable(mapping);
        String name = mapping.name().toString();
        problems.add(name, name + ": " + reason);
        return Optional.empty();
    }

    private FileFunctions read(ProcessFiles.Opened opened, MappedRange mapping) {
        String name = mapping.name().toString();
        FileFunctions functions = FileFunctions.NOT_ELF;
        try (ElfFile elf = ElfFile.open(opened.file().path(), name, ProcessLimits.MAPPED_FILE)) {
            functions = FileFunctions.read(elf, opened, name, debugFiles, budget);
        } catch (IOException | MalformedDataException e) {
            // Shared memory, for instance, where a just-in-time compiler may put its code.
        } finally {
            if (!functions.isOpen()) {
                opened.close();
            }
        }
        addProblem(name, functions);
        return functions;
    }

    private void addProblem(String name, FileFunctions functions) {
        functions.problem().ifPresent(problem -> problems.add(name, name + ": " + problem));
    }

    /** Called when functions were added: drops the functions of the least recently used files. */
    private void bound() {
        long bytes = 0;
        int open = 0;
        for (FileFunctions file : files.values()) {
            bytes += file.bytes();
            open += file.isOpen() ? 1 : 0;
        }
        Iterator<FileFunctions> eldest = files.values().iterator();
        while ((bytes > MAX_TABLES || open > MAX_OPEN) && files.size() > 1) {
            FileFunctions dropped = eldest.next();
            bytes -= dropped.bytes();
            open -= dropped.isOpen() ? 1 : 0;
            dropped.close();
            eldest.remove();
        }
    }

    /** Frees the functions. Files may be read again afterwards. */
    @Override
    public void close() {
        files.values().forEach(FileFunctions::close);
        files.clear();
        versions.clear();
    }
}
