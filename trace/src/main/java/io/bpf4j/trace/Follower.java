package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.process.Tasks;
import io.bpf4j.process.UprobeInodes;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Attaches a session to the probes and functions of processes when their code appears. Detaches from processes that have
 * ended, which frees their links and specs. <i>Thread-safe.</i>
 */
final class Follower implements AutoCloseable {
    /** In the place of a process: attaches for all processes, of which the program takes some. */
    static final int ALL = 0;

    /** Files that are attached to for all processes: a process can make any number. */
    private static final int MAX_FILES = 1024;

    private final ProbeSession session;
    private final Following.Listener listener;
    private final Map<FileIdentity, List<FunctionProbe>> functions = new LinkedHashMap<>();

    /** The files of functions that no process has mapped yet. */
    private final Set<FileIdentity> notMapped = new HashSet<>();

    private final Consumer<Diagnostic> problems;
    private final Map<Integer, Attached> attached = new HashMap<>();
    private final Map<Integer, Postponed> postponed = new HashMap<>();

    /**
     * The files that are attached to for all processes. They stay open: the path of a file of a container leads through
     * a process, and another file may share its breakpoints.
     */
    private final Map<FileIdentity, OpenFile> files = new LinkedHashMap<>();

    private boolean tooManyFilesReported;

    /**
     * The attachments of a process. Most libraries remain attached when they are unloaded: see {@link #unmapped}.
     *
     * @param files whose USDT probes are attached
     * @param unmapped those of them that the process has no code of
     * @param filesOfFunctions whose functions are attached
     */
    private record Attached(
            List<Link> links, Set<FileIdentity> files, Set<FileIdentity> unmapped, Set<FileIdentity> filesOfFunctions) {
        Attached() {
            this(new ArrayList<>(), new HashSet<>(), new HashSet<>(), new HashSet<>());
        }

        List<UsdtLink> usdtLinks() {
            return links.stream()
                    .filter(UsdtLink.class::isInstance)
                    .map(UsdtLink.class::cast)
                    .toList();
        }
    }

    /**
     * A process that shares the memory of another one, as between vfork and exec, and is not attached to meanwhile: the
     * links of the other process fire in it, too. Without cookies a program can't tell which link it runs for, so links
     * of its own would report each event a second time.
     *
     * @param owner the process whose links fire in it
     * @param scans the files to attach to when the owner ends or calls exec
     */
    private record Postponed(int owner, List<UsdtScan> scans) {}

    /**
     * Follows processes.
     *
     * @param functions to attach to in each process that maps their files
     * @param problems receives the reason why new probes could not be attached; attached probes continue
     * @throws IOException if the file of a function can't be looked up
     */
    Follower(
            ProbeSession session,
            Following.Listener listener,
            List<FunctionProbe> functions,
            Consumer<Diagnostic> problems)
            throws IOException {
        this.session = session;
        this.listener = listener;
        this.problems = problems;
        for (FunctionProbe function : functions) {
            this.functions
                    .computeIfAbsent(FileIdentity.of(function.file()), _ -> new ArrayList<>())
                    .add(function);
        }
        notMapped.addAll(this.functions.keySet());
    }

    /** Attaches to probes of a process that may not have mapped their file yet. */
    synchronized void attach(int pid, List<UsdtProbe> probes) {
        UsdtLink link = session.attach(probes, process(pid));
        Attached process = of(pid);
        process.links().add(link);
        probes.forEach(probe -> process.files().add(probe.binary().identity()));
        listener.attached(link);
    }

    /**
     * Attaches to all functions, in a process that may not have mapped their files yet: all of them, or none.
     *
     * @throws BpfException if the kernel refuses one of them
     */
    synchronized void attachFunctions(int pid) {
        if (functions.isEmpty()) {
            return;
        }
        attach(pid, functions.values().stream().flatMap(List::stream).toList(), functions.keySet());
    }

    /** The files with functions that no process has mapped, so that none of their functions was called. */
    synchronized Set<FileIdentity> notMapped() {
        return Set.copyOf(notMapped);
    }

    private void attach(int pid, List<FunctionProbe> probes, Set<FileIdentity> files) {
        Link link = session.attachFunctions(probes, process(pid), function -> {
            functions.values().forEach(ofFile -> ofFile.remove(function));
            listener.leftOut(function);
        });
        of(pid).links().add(link);
        of(pid).filesOfFunctions().addAll(files);
    }

    private static OptionalInt process(int pid) {
        return pid == ALL ? OptionalInt.empty() : OptionalInt.of(pid);
    }

    /**
     * Files have appeared in a process of a control group.
     *
     * @return whether one of them has probes to attach to that were not attached to
     */
    synchronized boolean appearedInGroups(UsdtScan scan) {
        scan.files().forEach(file -> {
            try {
                notMapped.remove(FileIdentity.of(file.path()));
            } catch (IOException e) {
                return; // the process has ended, and nobody knows what it had
            }
        });
        List<UsdtProbe> probes = listener.select(scan).stream()
                .filter(probe -> !isAttached(ALL, probe) && claim(probe.binary()))
                .toList();
        // One by one: what a process maps must not decide about the files of others.
        probes.stream()
                .collect(Collectors.groupingBy(UsdtProbe::binary, LinkedHashMap::new, Collectors.toList()))
                .values()
                .forEach(ofFile -> attempt(ALL, () -> attachOrForget(ofFile)));
        return !probes.isEmpty();
    }

    /** A file that is not attached to shares its breakpoints with none. */
    private void attachOrForget(List<UsdtProbe> ofFile) {
        try {
            attach(ALL, ofFile);
        } catch (RuntimeException | Error e) {
            try (OpenFile _ = files.remove(ofFile.getFirst().binary().identity())) {
                throw e;
            }
        }
    }

    /**
     * Claims a file for the session, and keeps it open.
     *
     * @return false if the file can't be claimed: it has its breakpoints in common with one that is attached to, is
     *     another file than the one that was read, or is one of too many
     */
    private boolean claim(UsdtBinary binary) {
        FileIdentity identity = binary.identity();
        if (files.containsKey(identity)) {
            return true;
        }
        OpenFile opened;
        try {
            opened = OpenFile.open(Host.running(), binary.path(), binary.name());
        } catch (SyscallException e) {
            report(ALL, String.valueOf(e.getMessage()));
            return false;
        }
        boolean kept = false;
        try {
            kept = claim(identity, opened);
            return kept;
        } finally {
            if (!kept) {
                opened.close();
            }
        }
    }

    private boolean claim(FileIdentity identity, OpenFile opened) {
        if (!opened.identity().equals(identity)) {
            report(ALL, opened.name() + " was replaced or written after its notes were read");
            return false;
        }
        // By their descriptors: whoever owns a directory may put another file at a path for a while.
        Map<FileIdentity, Path> paths = new LinkedHashMap<>();
        files.forEach((known, file) -> paths.put(known, file.path()));
        paths.put(identity, opened.path());
        if (UprobeInodes.shared(Host.running(), paths).containsKey(identity)) {
            of(ALL).files().add(identity);
            return false;
        }
        if (files.size() >= MAX_FILES) {
            if (!tooManyFilesReported) {
                tooManyFilesReported = true;
                report(
                        ALL,
                        "the control groups have mapped more than " + MAX_FILES + " files with the probes: further ones"
                                + " are left out");
            }
            return false;
        }
        files.put(identity, opened);
        return true;
    }

    @Override
    public synchronized void close() {
        RunningProgram.closeAll(files.values());
    }

    private Attached of(int pid) {
        return attached.computeIfAbsent(pid, _ -> new Attached());
    }

    /** Files have appeared in a process. */
    synchronized void appeared(int pid, UsdtScan scan) {
        if (session instanceof RunningProgram program && !program.functionsLast()) {
            functionsAppeared(pid, scan);
            probesAppeared(pid, scan);
        } else {
            probesAppeared(pid, scan);
            functionsAppeared(pid, scan);
        }
    }

    private void probesAppeared(int pid, UsdtScan scan) {
        List<UsdtProbe> selected = listener.select(scan);
        Attached process = attached.get(pid);
        if (process != null) {
            mappedAgain(pid, process, selected);
        }
        List<UsdtProbe> probes =
                selected.stream().filter(probe -> !isAttached(pid, probe)).toList();
        if (!probes.isEmpty()) {
            ownerOfMemory(pid)
                    .ifPresentOrElse(
                            owner -> postponed
                                    .computeIfAbsent(pid, _ -> new Postponed(owner, new ArrayList<>()))
                                    .scans()
                                    .add(scan),
                            () -> attempt(pid, () -> attach(pid, probes)));
        }
    }

    /**
     * A file that was written since it was attached to is another one, with the breakpoints of the former, since these
     * belong to the inode: without the former link, which would report each event a second time.
     */
    private void mappedAgain(int pid, Attached process, List<UsdtProbe> probes) {
        Set<FileIdentity> mapped =
                probes.stream().map(probe -> probe.binary().identity()).collect(Collectors.toSet());
        process.unmapped().removeAll(mapped);
        closeDeleted(process);
        Set<FileIdentity> written = process.files().stream()
                .filter(known -> !mapped.contains(known)
                        && mapped.stream()
                                .anyMatch(file -> file.device() == known.device() && file.inode() == known.inode()))
                .collect(Collectors.toSet());
        closeAndAttachOthers(pid, process, written, _ -> true);
    }

    private void functionsAppeared(int pid, UsdtScan scan) {
        if (!functions.isEmpty()) {
            scan.files().forEach(file -> functionsAppeared(pid, file));
        }
    }

    /** A process with the same memory to which probes are attached by their addresses (IP map). */
    private Optional<Integer> ownerOfMemory(int pid) {
        return attached.entrySet().stream()
                .filter(other -> other.getKey() != pid
                        && other.getValue().links().stream().anyMatch(Follower::dependsOnAddresses))
                .map(Map.Entry::getKey)
                .filter(other -> new Tasks(Host.running()).haveSameMemory(pid, other))
                .findFirst();
    }

    /** A process has ended or called exec. Its links no longer fire in the processes that shared its memory. */
    private void attachPostponed(int pid) {
        postponed.remove(pid);
        Map<Integer, Postponed> remaining = new HashMap<>(postponed);
        remaining.values().removeIf(other -> other.owner() != pid);
        postponed.keySet().removeAll(remaining.keySet());
        remaining.forEach((process, other) -> {
            other.scans().forEach(scan -> appeared(process, scan));
            // Reported also if this process has ended in the meantime.
            problems.accept(new Diagnostic(
                    Kind.LATE,
                    "process " + process,
                    "process " + process + " shared the memory of process " + pid
                            + " until that process ended or called exec: its first events after that may be missing"));
        });
    }

    /** Attaches to the functions of a file that a process has mapped: to all at once, or else to each that it can. */
    private void functionsAppeared(int pid, UsdtScan.File mapped) {
        try {
            FileIdentity file = FileIdentity.of(mapped.path());
            notMapped.remove(file);
            List<FunctionProbe> probes = List.copyOf(functions.getOrDefault(file, List.of()));
            if (probes.isEmpty() || of(pid).filesOfFunctions().contains(file)) {
                return;
            }
            try {
                attach(pid, probes, Set.of(file));
            } catch (BpfException | IllegalArgumentException e) { // the latter as in attempt()
                probes.forEach(probe -> attempt(pid, () -> attach(pid, List.of(probe), Set.of(file))));
            }
        } catch (IOException e) {
            report(pid, mapped.path() + ": " + e.getMessage());
        }
    }

    private void attempt(int pid, Runnable attach) {
        try {
            attach.run();
        } catch (BpfException
                | IllegalArgumentException e) { // the latter if this process may not continue it after a pause
            report(pid, String.valueOf(e.getMessage()));
        }
    }

    /** A process that ends during the scan is not a problem. */
    private void report(int pid, String problem) {
        if (pid == ALL || new Tasks(Host.running()).isRunning(pid)) {
            problems.accept(new Diagnostic(Kind.NOT_ATTACHED, pid == ALL ? "" : "process " + pid, problem));
        }
    }

    /**
     * A process has unloaded files. Links that depend on addresses are closed, since another file may be mapped at the
     * same ones next. Links to deleted files are closed, since they keep the files in memory; not perf uprobes, though:
     * the kernel takes a tenth of a second to detach each, and other processes would wait. A link to several files is
     * kept as long as one of them is mapped.
     */
    synchronized void unmapped(int pid, List<UsdtScan.File> files) {
        Attached process = attached.get(pid);
        if (process == null) {
            return;
        }
        Set<FileIdentity> unmapped = files.stream()
                .map(file -> file.probes().getFirst().binary().identity())
                .filter(process.files()::contains)
                .collect(Collectors.toSet());
        process.unmapped().addAll(unmapped);
        closeAndAttachOthers(pid, process, unmapped, Follower::dependsOnAddresses);
        closeDeleted(process);
    }

    private void closeDeleted(Attached process) {
        for (UsdtLink link : process.usdtLinks()) {
            if (link.strategy() == AttachStrategy.MULTI
                    && process.unmapped().containsAll(filesOf(link))
                    && link.probes().stream().map(UsdtProbe::binary).distinct().allMatch(Follower::isDeleted)) {
                close(process, link);
            }
        }
    }

    private static Set<FileIdentity> filesOf(UsdtLink link) {
        return link.probes().stream().map(probe -> probe.binary().identity()).collect(Collectors.toSet());
    }

    /** Whether the file is no longer at its path, so that no process will load it by this path. */
    private static boolean isDeleted(UsdtBinary binary) {
        try {
            return !FileIdentity.of(binary.path()).equals(binary.identity());
        } catch (IOException e) {
            return true;
        }
    }

    /** Not in the background: if the file is mapped again, the old link would report the events of the new one. */
    private void close(Attached process, UsdtLink link) {
        process.links().remove(link);
        process.files().removeAll(filesOf(link));
        process.unmapped().removeAll(filesOf(link));
        session.close(link);
    }

    /** Closes the links to some files among those that are chosen. */
    private void closeAndAttachOthers(int pid, Attached process, Set<FileIdentity> some, Predicate<UsdtLink> chosen) {
        for (UsdtLink link : process.usdtLinks()) {
            if (some.isEmpty() || !chosen.test(link) || Collections.disjoint(filesOf(link), some)) {
                continue;
            }
            close(process, link);
            List<UsdtProbe> others = link.probes().stream()
                    .filter(probe -> !some.contains(probe.binary().identity()))
                    .toList();
            if (!others.isEmpty()) {
                attempt(pid, () -> attach(pid, others));
                problems.accept(new Diagnostic(
                        Kind.LATE,
                        "process " + pid,
                        "process " + pid + " has unloaded a file whose probes were attached to together with those of"
                                + " other files: events of the others may be missing from the moment in which they were"
                                + " attached to again"));
            }
        }
    }

    /** Links that were attached in the middle of an exec reach the new program, which is attached to next. */
    synchronized void ended(int pid) {
        Attached gone = attached.remove(pid);
        if (gone != null) {
            gone.links().forEach(new Tasks(Host.running()).isRunning(pid) ? session::close : session::detach);
        }
        attachPostponed(pid);
    }

    /** The addresses of the previous program are invalid now, and the same file may be mapped at others. */
    synchronized void exec(int pid) {
        Attached process = attached.get(pid);
        if (process != null) {
            process.unmapped().addAll(process.files());
            closeDeleted(process);
        }
        if (process != null && process.links().stream().anyMatch(Follower::dependsOnAddresses)) {
            process.files().clear();
            // Not in the background: the old link would report the events of the new link a second time.
            process.links().stream().filter(Follower::dependsOnAddresses).forEach(session::close);
            process.links().removeIf(Follower::dependsOnAddresses);
        }
        attachPostponed(pid);
    }

    private static boolean dependsOnAddresses(Link link) {
        return link instanceof UsdtLink probes && probes.strategy() == AttachStrategy.IP_MAP;
    }

    private boolean isAttached(int pid, UsdtProbe probe) {
        Attached process = attached.get(pid);
        return process != null && process.files().contains(probe.binary().identity());
    }
}
