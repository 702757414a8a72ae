package io.bpf4j.usdt;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.usdt.internal.note.NoteReader;
import io.bpf4j.usdt.internal.process.MappedFile;
import io.bpf4j.usdt.internal.process.ProcessFiles;
import io.bpf4j.usdt.internal.process.ProcessLimits;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The result of scanning one file: its probes, and the problems of notes that were skipped. <b>Immutable</b>.
 *
 * @param path the file, for opening; do not display it
 * @param name the file as its own process names it, see {@link UsdtBinary}; arbitrary text, so escape it for display
 * @param probes in the order of their first sites
 * @param problems one line each, without the path; only the broken note is skipped. At most about a hundred
 */
public record UsdtScan(Path path, String name, List<UsdtProbe> probes, List<String> problems) {
    public UsdtScan {
        probes = List.copyOf(probes);
        problems = List.copyOf(problems);
    }

    /**
     * Reads the notes of a file.
     *
     * @throws IOException if the file can't be read
     * @throws io.bpf4j.elf.MalformedDataException if it is not an ELF file, or is broken
     */
    public static UsdtScan ofFile(Path path) throws IOException {
        try (ElfFile elf = ElfFile.open(path)) {
            UsdtScan scan = FileScanner.scan(elf, elf.path().orElse(path), elf.source());
            return scan.probes.isEmpty() && scan.problems.isEmpty() ? scan.withProblems(inDebugFile(elf)) : scan;
        }
    }

    /** Stripping a file of all sections that are not loaded removes its notes; the debug file still has them. */
    private static List<String> inDebugFile(ElfFile elf) {
        Optional<ElfFile> found = DebugFiles.standard().open(elf);
        if (found.isEmpty()) {
            return List.of();
        }
        try (ElfFile debug = found.get()) {
            boolean hasNotes = debug.section(NoteReader.SECTION)
                    .filter(section -> section.size() > 0)
                    .isPresent();
            return hasNotes
                    ? List.of("its notes were stripped off into " + debug.source() + "; strip with --keep-section="
                            + NoteReader.SECTION + " leaves them")
                    : List.of();
        } catch (MalformedDataException e) {
            return List.of();
        }
    }

    private UsdtScan withProblems(List<String> more) {
        return new UsdtScan(path, name, probes, more);
    }

    /**
     * Reads the notes of all files that a process has mapped executable: the program and its libraries, in the order of
     * their addresses. The scan of an unreadable file has no probes and one problem.
     *
     * @throws IOException if the process does not exist or its mappings can't be read
     */
    public static List<UsdtScan> ofProcess(Host host, int pid) throws IOException {
        ProcessFiles files = new ProcessFiles(host);
        List<UsdtScan> scans = new ArrayList<>();
        for (MappedFile file : files.executableFiles(pid)) {
            try (ProcessFiles.Opened opened = files.open(file)) {
                scans.add(ofOpened(opened, file.name()));
            } catch (IOException e) {
                scans.add(unopened(file, e));
            }
        }
        return scans;
    }

    /**
     * The scan of a file of a process; if the file can't be read, or changes meanwhile, the scan has no probes and a
     * problem.
     */
    static UsdtScan ofOpened(ProcessFiles.Opened opened, String name) {
        try (ElfFile elf = ElfFile.open(opened.file().path(), name, ProcessLimits.MAPPED_FILE)) {
            return FileScanner.scan(elf, opened.path(), name);
        } catch (IOException | MalformedDataException e) {
            return new UsdtScan(opened.path(), name, List.of(), List.of(String.valueOf(e.getMessage())));
        }
    }

    static UsdtScan unopened(MappedFile file, IOException why) {
        return new UsdtScan(
                file.mapping().name().path(), file.name(), List.of(), List.of(String.valueOf(why.getMessage())));
    }

    /** The probes that a pattern matches; see {@link #matching(List)}. */
    public List<UsdtProbe> matching(ProbePattern pattern) {
        return matching(List.of(pattern));
    }

    /**
     * The probes that at least one of the patterns matches, each once, in the order of the file. A pattern that names
     * functions matches only the sites of a probe in these functions; the file is then read once more.
     *
     * @throws UsdtException if functions are named and the file's symbols can't be read
     */
    public List<UsdtProbe> matching(List<ProbePattern> patterns) {
        List<UsdtProbe> found = new ArrayList<>();
        Map<Long, String> functions = null;
        for (UsdtProbe probe : probes) {
            List<ProbePattern> ofProbe =
                    patterns.stream().filter(p -> p.matches(probe)).toList();
            if (!ofProbe.stream().allMatch(ProbePattern::namesFunction)) {
                found.add(probe);
            } else if (!ofProbe.isEmpty()) {
                Map<Long, String> names = functions == null ? functionsForMatching() : functions;
                functions = names;
                List<UsdtSite> sites = probe.sites().stream()
                        .filter(site -> ofProbe.stream()
                                .anyMatch(p -> p.matchesFunction(names.getOrDefault(site.address(), ""))))
                        .toList();
                if (!sites.isEmpty()) {
                    found.add(probe.withSites(sites));
                }
            }
        }
        return found;
    }

    private Map<Long, String> functionsForMatching() {
        try {
            return functions();
        } catch (IOException | MalformedDataException e) {
            throw new UsdtException("the functions of " + path + " can't be read: " + e.getMessage(), e);
        }
    }

    /**
     * The function that contains each site, by the site's address, as named in the file's symbol tables. Sites outside
     * of all functions are left out: all sites, if the file is stripped. Reads the file once more.
     *
     * @throws IOException if the file can't be read, or was replaced
     * @throws io.bpf4j.elf.MalformedDataException if its symbol tables are broken
     */
    public Map<Long, String> functions() throws IOException {
        return SiteFunctions.of(probes);
    }

    /**
     * The reason why nothing matches a pattern, in one line: the files have no notes, have other providers, or have a
     * probe with a similar name.
     */
    public static String diagnose(List<UsdtScan> scans, ProbePattern pattern) {
        return diagnose(scans, pattern, "");
    }

    /**
     * As {@link #diagnose(List, ProbePattern)}.
     *
     * @param whose the owner of the files, such as {@code process 4711 (postgres)}; or empty
     */
    public static String diagnose(List<UsdtScan> scans, ProbePattern pattern, String whose) {
        return MissingProbe.explain(scans, pattern, whose);
    }
}
