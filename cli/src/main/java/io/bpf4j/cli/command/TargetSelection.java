package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.StrategyChoice;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.trace.event.TextArgument;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Selects the probes to which a command attaches. <i>Confined.</i>
 *
 * <p>Tested by {@code CliTraceTest} and {@code CliUsageTest}.
 */
final class TargetSelection {
    private static final int MAX_PROBLEMS = 100;

    private final Console console;
    private final TargetOptions options;
    private final List<TextArgument> strings;

    /** The scans of the probes that are traced. A thread that follows processes adds to them. */
    private final List<UsdtScan> found = new CopyOnWriteArrayList<>();

    /** The patterns that are looked up in one file only, by the file. */
    private final Map<FileIdentity, List<ProbePattern>> ofFiles = new HashMap<>();

    /** @param strings arguments that are shown as strings, which the probes must have */
    TargetSelection(Console console, TargetOptions options, List<TextArgument> strings) {
        this.console = console;
        this.options = options;
        this.strings = strings;
    }

    /**
     * The probes to trace in the files that exist now.
     *
     * @throws CommandException if no probe matches a pattern or has the argument of {@code --str}, and no file may
     *     appear later
     */
    List<UsdtProbe> of(List<UsdtScan> scans) {
        UsdtScan all = UsdtScan.join(scans);
        boolean filesGiven = !options.files().isEmpty();
        if (!options.filesMayAppear() || filesGiven) {
            Scans.unmatched(all, options.patterns()).stream().findFirst().ifPresent(pattern -> {
                throw new CommandException(all.matching(pattern).whyNone());
            });
            requireInFiles(scans);
            filesWithout(scans).forEach(scan -> console.remark(scan.whyNone()));
        }
        // A uprobe belongs to an inode: the same file under two names (/lib/x.so and /usr/lib/x.so, or one of another
        // mount namespace) would report each event twice.
        Set<FileIdentity> seen = new HashSet<>();
        List<UsdtProbe> probes = traced(all, seen::add);
        if (!options.filesMayAppear()) {
            requireArguments(probes, strings);
            requireAddresses(probes);
        }
        strings.forEach(string -> reportProbesWithout(probes, string));
        reportUnreadable(probes);
        return probes;
    }

    /**
     * Looks up each pattern that is written with a file, in that file.
     *
     * @param scans one for each file on the command line
     * @throws CommandException if a file has no such probe
     */
    private void requireInFiles(List<UsdtScan> scans) {
        for (Operands.OfFile wanted : options.patternsOfFiles()) {
            UsdtScan matching =
                    scans.get(options.files().indexOf(wanted.file())).matching(wanted.pattern());
            if (matching.probes().isEmpty()) {
                throw new CommandException(matching.whyNone());
            }
            FileIdentity identity = matching.probes().getFirst().binary().identity();
            ofFiles.computeIfAbsent(identity, _ -> new ArrayList<>()).add(wanted.pattern());
        }
    }

    /** The patterns that no probe of any file has matched so far. On any thread. */
    List<ProbePattern> unmatched() {
        return Scans.unmatched(UsdtScan.join(found), options.patterns());
    }

    /**
     * Selects the probes of files that appear later: of all files, or only of those on the command line. A file that was
     * replaced meanwhile is one of these, as it was and as it is.
     */
    Function<UsdtScan, List<UsdtProbe>> ofLater(List<UsdtProbe> first) {
        if (options.files().isEmpty()) {
            return scan -> traced(scan, _ -> true);
        }
        Set<FileIdentity> named =
                first.stream().map(probe -> probe.binary().identity()).collect(Collectors.toCollection(HashSet::new));
        return scan -> {
            for (Path file : options.files()) {
                FilesOfProcess.identity(file).filter(named::add).ifPresent(now -> addReplacement(file, now));
            }
            return traced(scan, named::contains);
        };
    }

    /** The patterns that are written with a file apply to the file that has its name now. */
    private void addReplacement(Path file, FileIdentity now) {
        List<ProbePattern> patterns = options.patternsOfFiles().stream()
                .filter(wanted -> wanted.file().equals(file))
                .map(Operands.OfFile::pattern)
                .toList();
        if (!patterns.isEmpty()) {
            ofFiles.putIfAbsent(now, new ArrayList<>(patterns));
        }
    }

    /** Refuses a {@code --str} for which no probe has enough arguments; it is most likely a typing error. */
    private static void requireArguments(List<UsdtProbe> probes, List<TextArgument> wanted) {
        int maxArguments =
                probes.stream().mapToInt(TargetSelection::maxArguments).max().orElse(0);
        for (TextArgument string : wanted) {
            if (string.highest() >= maxArguments) {
                throw new CommandException("--str " + string + ": "
                        + (probes.size() == 1
                                ? probes.getFirst().fullName() + " has "
                                : "none of the probes has more than ")
                        + Scans.count(maxArguments, "argument") + (maxArguments == 0 ? "" : ", numbered from 0"));
            }
        }
    }

    private static int maxArguments(UsdtProbe probe) {
        return probe.sites().stream().mapToInt(site -> site.args().size()).max().orElse(0);
    }

    /** Reports probes that lack the argument of {@code --str} while others have it: their events lack the text. */
    private void reportProbesWithout(List<UsdtProbe> probes, TextArgument string) {
        List<UsdtProbe> without = probes.stream()
                .filter(probe -> maxArguments(probe) <= string.highest())
                .toList();
        if (!without.isEmpty()) {
            UsdtProbe first = without.getFirst();
            console.remark("--str " + string + ": " + first.fullName() + " has "
                    + Scans.count(maxArguments(first), "argument")
                    + (without.size() > 1 ? " (and " + (without.size() - 1) + " more without it)" : "")
                    + "; its events are shown without this text");
        }
    }

    private void requireAddresses(List<UsdtProbe> probes) {
        if (options.strategy() == StrategyChoice.IPMAP
                && options.process().isEmpty()
                && probes.stream().anyMatch(probe -> !probe.binary().fixedAddress())) {
            throw new CommandException(
                    "--strategy ipmap finds a probe by its address in memory, which for a library and a"
                            + " position-independent program differs between processes: give -p PID");
        }
    }

    /**
     * Reports the first argument that can't be read, which events show as "?". With -v the problems of the link report
     * all of them.
     */
    private void reportUnreadable(List<UsdtProbe> probes) {
        if (options.verbose()) {
            return;
        }
        List<String> problems = probes.stream()
                .flatMap(probe -> probe.sites().stream()
                        .flatMap(site -> site.unreadable().entrySet().stream())
                        .map(arg -> probe.fullName() + " arg" + arg.getKey() + " can't be read: " + arg.getValue()))
                .distinct()
                .limit(MAX_PROBLEMS)
                .toList();
        if (!problems.isEmpty()) {
            console.remark(problems.getFirst()
                    + (problems.size() > 1 ? " (and " + (problems.size() - 1) + " more problems: see -v)" : ""));
        }
    }

    /**
     * The files on the command line that have none of the probes, most likely by mistake; each once, even if it has
     * several names.
     */
    private List<UsdtScan> filesWithout(List<UsdtScan> scans) {
        Set<FileIdentity> named = new HashSet<>();
        return options.process().isPresent() || options.all()
                ? List.of()
                : scans.stream()
                        .filter(scan -> scan.files().stream()
                                .map(file -> FilesOfProcess.identity(file.path()))
                                .allMatch(identity -> identity.isEmpty() || named.add(identity.get())))
                        .map(scan -> Scans.matching(scan, options.patterns()))
                        .filter(scan -> scan.probes().isEmpty())
                        .toList();
    }

    /** The matching probes of the wanted files. */
    private List<UsdtProbe> traced(UsdtScan scan, Predicate<FileIdentity> wanted) {
        List<UsdtProbe> probes =
                new ArrayList<>(traced(scan, options.patternsOfAllFiles(), id -> !ofFiles.containsKey(id), wanted));
        // A pattern may select some of a probe's sites, so each file is searched with all its patterns at once.
        ofFiles.forEach((file, own) -> {
            List<ProbePattern> patterns = new ArrayList<>(options.patternsOfAllFiles());
            patterns.addAll(own);
            probes.addAll(traced(scan, patterns, file::equals, wanted));
        });
        return probes;
    }

    private List<UsdtProbe> traced(
            UsdtScan scan,
            List<ProbePattern> patterns,
            Predicate<FileIdentity> searched,
            Predicate<FileIdentity> wanted) {
        if (patterns.isEmpty()) {
            return List.of();
        }
        UsdtScan matching = scan.matching(patterns);
        if (!matching.probes().isEmpty()) {
            found.add(matching);
        }
        return matching.files().stream()
                .filter(file -> !file.probes().isEmpty()
                        && searched.test(file.probes().getFirst().binary().identity())
                        && isTraced(file, wanted))
                .flatMap(file -> file.probes().stream())
                .toList();
    }

    /** Reports the problems of a file that may hide sites of its probes; returns whether the file is traced. */
    private boolean isTraced(UsdtScan.File file, Predicate<FileIdentity> wanted) {
        UsdtBinary binary = file.probes().getFirst().binary();
        if (!wanted.test(binary.identity())) {
            return false;
        }
        Scans.ofNoProbe(file).forEach(console::remark);
        boolean named = options.process().isEmpty() && options.command().isEmpty() && !options.all();
        if (named || binary.refusal().isEmpty()) {
            return true;
        }
        // The library reports a file that the user named. A process may have mapped other files for another reason, as
        // an emulator does.
        console.remark(file.name() + " " + binary.refusal().get() + "; its probes are left out");
        return false;
    }
}
