package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.link.Link;
import io.bpf4j.trace.RunningProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Attaches a run to the files that replaced its own. The BPF program was compiled at the start for the probes that
 * existed then: probes with other names are not attached to, and the result says so. {@link ReplacedFiles} decides
 * when. <i>Confined.</i>
 *
 * <p>Tested by {@code CliExportTest}.
 */
final class Replacement implements ReplacedFiles.Attacher {
    private final Console console;
    private final TargetReport report;
    private final Search search;
    private final RunningProgram program;

    /** The names for which the program was compiled. */
    private final Set<String> names;

    /** The files that were attached to at the start. */
    private final Set<FileIdentity> first;

    /** The files that were attached to later, by the first link of each attachment. */
    private final Map<Link, Set<FileIdentity>> later = new HashMap<>();

    /** The origins of the first files by their paths: see {@link #mayReplace}. */
    private final Map<Path, Origin> origins = new HashMap<>();

    /**
     * The origin of a file.
     *
     * @param owner the user id
     * @param real the path without links
     */
    private record Origin(int owner, Path real) {
        static Origin of(Path path) throws IOException {
            return new Origin((int) Files.getAttribute(path, "unix:uid"), path.toRealPath());
        }
    }

    /** Searches the files that the operands name. */
    @FunctionalInterface
    interface Search {
        SelectedProbes now() throws IOException;
    }

    /**
     * @param search finds the probes and functions that the files have now
     * @param program the program that runs since the start
     * @param start the probes and functions that it is attached to
     */
    Replacement(Console console, TargetReport report, Search search, RunningProgram program, SelectedProbes start) {
        this.console = console;
        this.report = report;
        this.search = search;
        this.program = program;
        this.names = start.names();
        this.first = start.files();
        start.paths().forEach(this::remember);
    }

    private void remember(Path path) {
        try {
            origins.put(path, Origin.of(path));
        } catch (IOException e) {
            // It was just removed; a file that replaces it is not attached to.
        }
    }

    @Override
    public ReplacedFiles.Attached attach(Set<Path> replaced) throws IOException {
        SelectedProbes found = search.now().inFiles((file, path) -> !isAttached(file) && mayReplace(path));
        SelectedProbes known = found.named(names);
        List<Link> links = attach(known);
        if (!links.isEmpty()) {
            later.put(links.getFirst(), known.files());
            console.error(
                    "bpf4j: also tracing " + Scans.count(known.size(), "probe") + " of files that replaced others");
        }
        Set<String> others = found.names();
        others.removeAll(names);
        return new ReplacedFiles.Attached(links, missing(replaced), uncounted(others));
    }

    @Override
    public void detach(Link link) {
        later.remove(link);
        program.detach(link);
    }

    /** By the inode, which is not used again while it is attached to: a file may be written, and still be the same. */
    private boolean isAttached(FileIdentity file) {
        return Stream.concat(first.stream(), later.values().stream().flatMap(Set::stream))
                .anyMatch(known -> known.device() == file.device() && known.inode() == file.inode());
    }

    /**
     * Whether the file at a path may replace the first one there: it must belong to the same user, and a file of root
     * must have the same real path. Otherwise the owner of a directory could put a link there, to a file that they may
     * not change, such as the C library.
     */
    private boolean mayReplace(Path path) {
        Origin before = origins.get(path);
        if (before == null) {
            return false;
        }
        try {
            Origin now = Origin.of(path);
            return now.owner() == before.owner()
                    && (now.owner() != 0 || now.real().equals(before.real()));
        } catch (IOException e) {
            return false;
        }
    }

    /** Attaches to all, or to none. */
    private List<Link> attach(SelectedProbes selected) {
        List<Link> links = new ArrayList<>();
        try {
            if (!selected.functionsByFile().isEmpty()) {
                links.add(program.attachFunctions(selected.functions(), OptionalInt.empty(), report::leftOut));
            }
            if (!selected.probes().isEmpty()) {
                links.add(program.attach(selected.probes(), OptionalInt.empty()));
            }
        } catch (RuntimeException e) {
            links.forEach(program::detach);
            throw e;
        }
        return links;
    }

    private Optional<String> missing(Set<Path> replaced) {
        return program.replacedFiles().stream()
                .filter(replaced::contains)
                .findFirst()
                .map(
                        path -> "the file that replaced " + path
                                + (mayReplace(path)
                                        ? " has none of the probes, so it is not attached to"
                                        : " belongs to another user, or is a link to another file of root: it is not attached to until the agent is restarted"));
    }

    private static Optional<String> uncounted(Set<String> others) {
        return others.stream()
                .findFirst()
                .map(name -> "files that replaced others have new probes, such as " + name
                        + ", which are not counted until the agent is restarted");
    }
}
