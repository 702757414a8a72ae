package io.bpf4j.usdt;

import io.bpf4j.elf.ElfLimits;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.process.ProcessLimits;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * The probes of a file, of a process or of the whole machine, as they were when the scan was made. <i>Immutable.</i>
 *
 * {@snippet lang = "java":
 * UsdtScan jvm = UsdtScan.ofProcess(pid);
 * UsdtLink link = Usdt.of(object).attach(object.program("on_gc"), jvm.matching("hotspot:gc__begin"));
 * }
 *
 * <p>A file or process that can't be read, and a note that is broken, are left out and named: {@link File#problems},
 * {@link #leftOut}. A scan without probes is not an error; {@link #whyNone} gives the reason, and so does the exception
 * of an attach.
 *
 * <p>Tested by {@code ScannedFilesTest} and {@code UsdtDiscoveryTest}.
 */
public final class UsdtScan {
    private final Searched searched;
    private final List<ProbePattern> patterns;
    private final List<File> files;

    /**
     * The whole scan, before patterns were applied.
     *
     * @param owner of the files, such as {@code process 4711 (postgres)}; or empty
     */
    private record Searched(OptionalInt process, String owner, List<File> files, List<Diagnostic> leftOut) {}

    private UsdtScan(Searched searched, List<ProbePattern> patterns, List<File> files) {
        this.searched = searched;
        this.patterns = List.copyOf(patterns);
        this.files = List.copyOf(files);
    }

    private static UsdtScan of(Searched searched) {
        return new UsdtScan(searched, List.of(ProbePattern.ALL), searched.files());
    }

    /** A scan of files that belong to no process. */
    static UsdtScan of(List<File> files) {
        return of(new Searched(OptionalInt.empty(), "", List.copyOf(files), List.of()));
    }

    /** A scan of some files of a process. */
    static UsdtScan of(Host host, int pid, List<File> files) {
        return of(new Searched(OptionalInt.of(pid), describe(host, pid), List.copyOf(files), List.of()));
    }

    /** {@code process 4711 (postgres)}: its pid and its command, as ps shows them. */
    private static String describe(Host host, int pid) {
        try {
            byte[] command = Files.readAllBytes(host.process(pid).resolve("comm"));
            return "process " + pid + " (" + FileName.of(command, 0, Math.max(0, command.length - 1)) + ")";
        } catch (IOException e) {
            return "process " + pid; // it ended
        }
    }

    /**
     * A file that was read.
     *
     * @param path for opening the file; do not display it
     * @param name the file as its own process names it, see {@link UsdtBinary}; arbitrary text, so escape it for
     *     display
     * @param probes in the order of their first sites
     * @param pids the processes in which it was found, in ascending order; empty for a file that was given by path
     * @param problems notes that were skipped, arguments that can't be read, or why the file has no probes. The subject
     *     is a probe or the file. At most about a hundred
     */
    public record File(Path path, String name, List<UsdtProbe> probes, List<Integer> pids, List<Diagnostic> problems) {
        public File {
            probes = List.copyOf(probes);
            pids = List.copyOf(pids);
            problems = List.copyOf(problems);
        }

        File withProbes(List<UsdtProbe> others) {
            return new File(path, name, others, pids, problems);
        }

        File withPids(List<Integer> others) {
            return new File(path, name, probes, others, problems);
        }

        File withProblem(Diagnostic only) {
            return new File(path, name, List.of(), pids, List.of(only));
        }

        /**
         * The function that contains each site, by the site's address, as named in the file's symbol tables. Of several
         * names of one function it is the exported one, or the first; patterns match all of them. Sites
         * outside of all functions are left out: all sites, if the file is stripped. Reads the file once more.
         *
         * @throws IOException if the file can't be read, or was replaced
         * @throws io.bpf4j.elf.MalformedDataException if its symbol tables are broken
         */
        public Map<Long, String> functions() throws IOException {
            return siteFunctions(List.of()).byAddress();
        }

        private SiteFunctions siteFunctions(List<ProbePattern> patterns) throws IOException {
            return SiteFunctions.of(
                    probes, patterns, pids.isEmpty() ? ElfLimits.defaults() : ProcessLimits.MAPPED_FILE);
        }

        private List<UsdtProbe> matching(List<ProbePattern> patterns) {
            List<UsdtProbe> found = new ArrayList<>();
            SiteFunctions functions = null;
            for (UsdtProbe probe : probes) {
                int[] ofProbe = IntStream.range(0, patterns.size())
                        .filter(i -> patterns.get(i).matches(probe))
                        .toArray();
                if (!IntStream.of(ofProbe).allMatch(i -> patterns.get(i).namesFunction())) {
                    found.add(probe);
                } else if (ofProbe.length > 0) {
                    SiteFunctions names = functions == null ? functionsForMatching(patterns) : functions;
                    functions = names;
                    List<UsdtSite> sites = probe.sites().stream()
                            .filter(site -> IntStream.of(ofProbe).anyMatch(i -> names.matches(site.address(), i)))
                            .toList();
                    if (!sites.isEmpty()) {
                        found.add(probe.withSites(sites));
                    }
                }
            }
            return found;
        }

        private SiteFunctions functionsForMatching(List<ProbePattern> patterns) {
            try {
                return siteFunctions(patterns);
            } catch (IOException | MalformedDataException e) {
                throw new UsdtException("the functions of " + path + " can't be read: " + e.getMessage(), e);
            }
        }
    }

    /**
     * Reads the notes of a file.
     *
     * @throws IOException if the file can't be read
     * @throws io.bpf4j.elf.MalformedDataException if it is not an ELF file, or is broken
     */
    public static UsdtScan ofFile(Path path) throws IOException {
        return of(List.of(FileScanner.scan(path)));
    }

    /** {@link #ofProcess(Host, int)} on the running machine. */
    public static UsdtScan ofProcess(int pid) throws IOException {
        return ofProcess(Host.running(), pid);
    }

    /**
     * Reads the notes of all files that a process has mapped executable, in its own mount namespace, including deleted
     * files: the program and its libraries, in the order of their addresses.
     *
     * @throws IOException if the process does not exist or its mappings can't be read
     */
    public static UsdtScan ofProcess(Host host, int pid) throws IOException {
        ProcessFiles files = new ProcessFiles(host);
        List<File> scanned = new ArrayList<>();
        for (MappedFile file : files.executableFiles(pid)) {
            try {
                scanned.add(FileScanner.scan(files, file).withPids(List.of(pid)));
            } catch (IOException e) {
                scanned.add(FileScanner.unread(file, e).withPids(List.of(pid)));
            }
        }
        return of(host, pid, scanned);
    }

    /** {@link #ofMachine(Host)} on the running machine. */
    public static UsdtScan ofMachine() throws IOException {
        return ofMachine(Host.running());
    }

    /**
     * Reads the notes of all files that any process has mapped executable; files without probes and without problems
     * are left out. Each file is read once, even if many processes have mapped it; a process that ends meanwhile is
     * left out.
     *
     * @throws IOException if the list of processes can't be read
     */
    public static UsdtScan ofMachine(Host host) throws IOException {
        MachineScanner scanner = new MachineScanner(host);
        List<File> files = scanner.scan();
        return of(new Searched(OptionalInt.empty(), "", files, scanner.leftOut()));
    }

    /** The files of several scans together, as a scan of files. A single scan stays as it is. */
    public static UsdtScan join(List<UsdtScan> scans) {
        return scans.size() == 1
                ? scans.getFirst()
                : of(scans.stream().flatMap(scan -> scan.files.stream()).toList());
    }

    /** The probes that a pattern matches: {@code provider:name} with wildcards, see {@link ProbePattern}. */
    public UsdtScan matching(String pattern) {
        return matching(ProbePattern.parse(pattern));
    }

    /** The probes that a pattern matches; see {@link #matching(List)}. */
    public UsdtScan matching(ProbePattern pattern) {
        return matching(List.of(pattern));
    }

    /**
     * The probes that at least one of the patterns matches, each once, and the files that have any. A pattern that
     * names functions matches only the sites of a probe in these functions; the file is then read once more.
     *
     * @param some at least one
     * @throws UsdtException if functions are named and the file's symbols can't be read
     */
    public UsdtScan matching(List<ProbePattern> some) {
        if (some.isEmpty()) {
            throw new IllegalArgumentException("no patterns given");
        }
        List<File> found = new ArrayList<>();
        for (File file : files) {
            List<UsdtProbe> probes = file.matching(some);
            if (!probes.isEmpty()) {
                found.add(file.withProbes(probes));
            }
        }
        return new UsdtScan(searched, some, List.copyOf(found));
    }

    /** The files, each with its probes. After {@link #matching} those that have a matching probe. */
    public List<File> files() {
        return files;
    }

    /** The probes of all files. */
    public List<UsdtProbe> probes() {
        return files.stream().flatMap(file -> file.probes().stream()).toList();
    }

    /** The process that was scanned; empty for a scan of files or of the machine. */
    public OptionalInt process() {
        return searched.process();
    }

    /**
     * What was left out of a scan of the machine: each process that would cost too much, and those that this process may
     * not read, together.
     */
    public List<Diagnostic> leftOut() {
        return searched.leftOut();
    }

    /**
     * The reason why the scan has no probes, in one line: the files have no notes, have other providers, or have a
     * probe with a similar name.
     */
    public String whyNone() {
        return MissingProbe.explain(searched.files(), patterns.getFirst(), searched.owner());
    }

    @Override
    public String toString() {
        String owner = searched.owner().isEmpty() ? "" : " of " + searched.owner();
        return probes().size() + " probes in " + files().size() + " files" + owner;
    }
}
