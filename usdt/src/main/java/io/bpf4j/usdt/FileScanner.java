package io.bpf4j.usdt;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfClass;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfHeader;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.process.ProcessLimits;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.internal.note.NoteScan;
import io.bpf4j.usdt.internal.note.StapsdtReader;
import io.bpf4j.usdt.site.Machine;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the probes of files.
 *
 * <p>Tested by {@code ScannedFilesTest} and {@code UsdtDiscoveryTest}.
 */
final class FileScanner {
    private FileScanner() {}

    /**
     * Reads a file that was given by path.
     *
     * @throws IOException if the file can't be read
     * @throws MalformedDataException if it is not an ELF file, or is broken
     */
    static UsdtScan.File scan(Path path) throws IOException {
        try (ElfFile elf = ElfFile.open(path, OpenFile.opener(Host.running()))) {
            UsdtScan.File file = scan(elf, elf.path().orElse(path), elf.source());
            return file.probes().isEmpty() && file.problems().isEmpty()
                    ? inDebugFile(elf).map(file::withProblem).orElse(file)
                    : file;
        }
    }

    /** Stripping a file of all sections that are not loaded removes its notes; the debug file still has them. */
    private static Optional<Diagnostic> inDebugFile(ElfFile elf) {
        Optional<ElfFile> found = DebugFiles.standard().open(elf);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        try (ElfFile debug = found.get()) {
            return debug.section(StapsdtReader.SECTION)
                    .filter(section -> section.size() > 0)
                    .map(_ -> leftOut(
                            elf.source(),
                            "its notes were stripped into " + debug.source() + "; strip --keep-section="
                                    + StapsdtReader.SECTION + " keeps them"));
        } catch (MalformedDataException e) {
            return Optional.empty();
        }
    }

    /**
     * Reads a file of a process. If it is broken, the result has no probes and a problem.
     *
     * @throws IOException if it can't be opened or read
     */
    static UsdtScan.File scan(ProcessFiles files, MappedFile file) throws IOException {
        try (ProcessFiles.Opened opened = files.open(file)) {
            return scan(opened, file.name());
        }
    }

    /** As {@link #scan(ProcessFiles, MappedFile)}, of a file that is open. */
    static UsdtScan.File scan(ProcessFiles.Opened opened, String name) throws IOException {
        try (ElfFile elf = ElfFile.open(opened.file().path(), name, ProcessLimits.MAPPED_FILE)) {
            return scan(elf, opened.path(), name);
        } catch (MalformedDataException e) {
            return withoutProbes(opened.path(), name, leftOut(name, e.getMessage()));
        }
    }

    /** The result for a file that could not be read. */
    static UsdtScan.File unread(MappedFile file, IOException why) {
        String name = file.name();
        return withoutProbes(
                file.mapping().name().path(),
                name,
                new Diagnostic(Diagnostic.Kind.UNREADABLE, name, name + ": " + why.getMessage()));
    }

    private static UsdtScan.File withoutProbes(Path path, String name, Diagnostic why) {
        return new UsdtScan.File(path, name, List.of(), List.of(), List.of(why));
    }

    private static Diagnostic leftOut(String name, @Nullable String why) {
        return new Diagnostic(Diagnostic.Kind.LEFT_OUT, name, name + ": " + why);
    }

    /** Reads everything that attaching needs, so that the file can be closed before attaching. */
    private static UsdtScan.File scan(ElfFile elf, Path path, String name) {
        ElfHeader header = elf.header();
        Machine machine = Machine.of(header.machine(), header.elfClass() == ElfClass.ELF64);
        UsdtBinary binary = new UsdtBinaryData(
                path, name, machine, header.type() == ElfHeader.ET_EXEC, identity(elf), refusal(header));
        NoteScan notes = StapsdtReader.read(elf, machine);
        List<UsdtProbe> probes = notes.probes().stream()
                .<UsdtProbe>map(probe ->
                        new UsdtProbeData(binary, probe.provider(), probe.name(), probe.sites(), probe.problems()))
                .toList();
        return new UsdtScan.File(path, name, probes, List.of(), notes.problems());
    }

    /** The reason why no process of this machine can run such a file; empty if one can. */
    private static Optional<String> refusal(ElfHeader header) {
        Machine host = Machine.ofHost();
        Optional<String> byType = header.whyNotRun();
        if (byType.isPresent()) {
            return byType;
        }
        if (host == Machine.OTHER) {
            return Optional.empty();
        }
        if (!host.runs(header.machine())) {
            return Optional.of(
                    "is compiled for " + header.machineName() + ", and this machine is " + host.machineName());
        }
        return header.order() == ByteOrder.nativeOrder()
                ? Optional.empty()
                : Optional.of("is compiled for a machine of the other byte order");
    }

    /** A scan is always of a file; this class never parses a file from bytes. */
    private static FileIdentity identity(ElfFile elf) {
        return elf.identity().orElseThrow(() -> new IllegalArgumentException(elf.source() + " is not a file"));
    }
}
