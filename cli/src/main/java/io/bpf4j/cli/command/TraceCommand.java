package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.trace.ChildCommand;
import io.bpf4j.cli.trace.Detachment;
import io.bpf4j.cli.trace.EventFormat;
import io.bpf4j.cli.trace.Follower;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.cli.trace.StrategyChoice;
import io.bpf4j.cli.trace.StringArg;
import io.bpf4j.cli.trace.TraceEvent;
import io.bpf4j.cli.trace.TracedProbe;
import io.bpf4j.cli.trace.Tracer;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.usdt.JvmProbes;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.UsdtWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Attaches to probes and prints a line for each event. */
@Command(
        name = "trace",
        description = {
            "Prints a line for each time that a probe fires: time, process/thread, command, probe, arguments.",
            "Needs root, or CAP_BPF and CAP_PERFMON where one link takes many probes (Linux 6.6); perf uprobes,",
            "which are the way before that, may need CAP_SYS_ADMIN. Ctrl-C detaches and prints how many events came."
        },
        footer = {
            "  bpf4j trace -p 4711 'hotspot:gc__*'",
            "  bpf4j trace -p 4711 hotspot:class__loaded --str 0:1",
            "  bpf4j trace /usr/lib/postgresql/15/bin/postgres postgresql:query__start --str 0",
            "  bpf4j trace -c 'python3 -c pass' 'python:import__find__load__*' --str 0 --json"
        })
final class TraceCommand implements Callable<Integer> {
    /** Room for the probes of libraries that a command loads later. */
    private static final int SPECS_OF_LATER_FILES = 4096;

    /** How long to wait for events before looking whether it is time to end. */
    private static final Duration PATIENCE = Duration.ofMillis(20);

    /** 31 years, so that nanoseconds can be counted. */
    private static final int LONGEST_SECONDS = 1_000_000_000;

    private static final int PROBLEMS_COUNTED = 100;

    private final Console console;
    private final Interruption interruption;

    @Option(names = "-p", paramLabel = "PID", description = "The program and the libraries of this process.")
    private @Nullable Integer pid;

    @Option(
            names = "-c",
            paramLabel = "CMD",
            description = {
                "Start this command, trace it and its libraries, and end with it. With a FILE: only these files in it.",
                "It is held while probes are attached; the sums say if first events may be missing nevertheless."
            })
    private @Nullable String command;

    @Option(
            names = {"-a", "--all"},
            description = "All files that any process has mapped, in every process.")
    private boolean all;

    @Option(
            names = "--follow",
            description = {
                "With -p or -c: also what appears later: children, programs that they become by exec,",
                "libraries that are loaded later, from memory too. Each process is held while probes are attached, by",
                "ptrace: no debugger can be attached to it meanwhile."
            })
    private boolean follow;

    @Option(
            names = "--no-hold",
            description = {
                "With -c or --follow: hold no process, and look for new code every few milliseconds instead. First",
                "events may be missing; strace, gdb and the like can trace the processes."
            })
    private boolean noHold;

    @Option(
            names = "--str",
            paramLabel = "N[:M]",
            description = "Show argument N (from 0) as a string: zero-terminated, or of the length in argument M.")
    private List<String> strings = new ArrayList<>();

    @Option(names = "--duration", paramLabel = "S", description = "End after that many seconds.")
    private @Nullable Double duration;

    @Option(names = "--count", paramLabel = "N", description = "End after that many events.")
    private @Nullable Long count;

    @Option(names = "--json", description = "One JSON object for each event, and one with the sums.")
    private boolean json;

    @Option(
            names = "--strategy",
            paramLabel = "auto|multi|cookie|ipmap",
            description = {
                "How to attach: one uprobe_multi link, a perf uprobe for each site with a cookie, or one whose",
                "arguments are found by address. Default: the first that the kernel has."
            })
    private StrategyChoice strategy = StrategyChoice.AUTO;

    @Option(names = "--strict", description = "Refuse probes with an argument that can't be read.")
    private boolean strict;

    @Option(names = "-v", description = "Say how the probes were attached, and why so.")
    private boolean verbose;

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE|PROVIDER:NAME",
            description = "Executables and libraries, and which of their probes; * and ? match any text.")
    private List<String> operands = new ArrayList<>();

    private long events;
    private boolean filesGiven;
    private volatile boolean attachedAny;

    /** Those that had probes to trace. */
    private final List<UsdtScan> found = new ArrayList<>();

    /** How often probes that appeared could not be attached. */
    private final AtomicInteger notAttached = new AtomicInteger();

    TraceCommand(Console console, Interruption interruption) {
        this.console = console;
        this.interruption = interruption;
    }

    @Override
    public Integer call() throws IOException {
        Operands what = Operands.of(operands);
        Integer given = pid;
        OptionalInt meant = what.process(given == null ? OptionalInt.empty() : OptionalInt.of(given));
        pid = meant.isPresent() ? Integer.valueOf(meant.getAsInt()) : null;
        filesGiven = !what.files().isEmpty();
        List<StringArg> wanted = checkUsage(what);
        List<ProbePattern> patterns = what.patterns();
        String line = command;
        if (line == null) {
            return trace(scans(what), patterns, wanted, null);
        }
        try (ChildCommand child = start(line)) {
            return trace(what.files().isEmpty() ? ownFile(child) : scans(what), patterns, wanted, child);
        }
    }

    /** A command that is a script has no probes; the program that runs it is found once it is mapped. */
    private static List<UsdtScan> ownFile(ChildCommand child) throws IOException {
        try {
            return List.of(UsdtScan.ofFile(child.file()));
        } catch (MalformedDataException e) {
            return List.of();
        }
    }

    private ChildCommand start(String line) {
        try {
            return ChildCommand.start(line, json);
        } catch (IllegalArgumentException e) {
            throw new UsageException("-c: " + e.getMessage());
        }
    }

    private List<StringArg> checkUsage(Operands what) {
        all |= what.meansAllProcesses() && pid == null && command == null;
        what.checkTarget(pid != null || command != null);
        if (pid != null || command != null || all) {
            what.checkNames();
        }
        int sources = (pid == null ? 0 : 1) + (command == null ? 0 : 1) + (all ? 1 : 0);
        if (sources > 1 || (sources == 0 && what.files().isEmpty())) {
            throw new UsageException("name a FILE, or give -p PID, -c CMD or --all: one of the four");
        }
        if (all && !what.files().isEmpty()) {
            throw new UsageException("--all means all files; a FILE goes alone, or with -p or -c");
        }
        if (what.patterns().isEmpty()) {
            what.checkNames();
            throw new UsageException("name the probes to trace as PROVIDER:NAME; '*:*' means all");
        }
        if (follow && pid == null && command == null) {
            throw new UsageException("--follow goes with -p or -c; a FILE is traced in all processes, later ones too");
        }
        if (noHold && !follow && command == null) {
            throw new UsageException("--no-hold goes with -c or --follow; nothing else holds a process");
        }
        Double seconds = duration;
        if (seconds != null && !(seconds > 0 && seconds <= LONGEST_SECONDS)) {
            throw new UsageException("--duration takes seconds, more than 0 and up to " + LONGEST_SECONDS);
        }
        Long most = count;
        if (most != null && most <= 0) {
            throw new UsageException("--count takes a number of events, 1 or more");
        }
        List<StringArg> wanted = new ArrayList<>();
        for (String text : strings) {
            try {
                StringArg string = StringArg.parse(text);
                if (wanted.stream().anyMatch(other -> other.pointer() == string.pointer())) {
                    throw new UsageException("--str: argument " + string.pointer() + " is given twice");
                }
                wanted.add(string);
            } catch (IllegalArgumentException e) {
                throw new UsageException("--str: " + e.getMessage());
            }
        }
        return wanted;
    }

    private List<UsdtScan> scans(Operands what) throws IOException {
        Integer process = pid;
        if (process != null && what.files().isEmpty()) {
            return Scans.ofProcess(process);
        }
        if (all) {
            return Scans.ofMachine(console).scans();
        }
        List<UsdtScan> scans = new ArrayList<>();
        for (Path file : what.files()) {
            scans.add(UsdtScan.ofFile(Operands.check(file)));
        }
        return scans;
    }

    private int trace(
            List<UsdtScan> scans, List<ProbePattern> patterns, List<StringArg> wanted, @Nullable ChildCommand child) {
        boolean appearing = follow || child != null;
        if (!appearing || filesGiven) {
            requireEach(scans, patterns);
            filesWithout(scans, patterns)
                    .forEach(scan ->
                            console.error("bpf4j: " + Scans.whyNone(List.of(scan), patterns, OptionalInt.empty())));
        }
        List<UsdtProbe> probes = probes(scans, patterns);
        if (!appearing) {
            requireArguments(probes, wanted);
            requireAddresses(probes);
        }
        sayUnreadable(probes);
        hints(probes).forEach(hint -> console.error("bpf4j: " + hint));
        int sites = probes.stream().mapToInt(p -> p.sites().size()).sum();
        try (Tracer tracer = Tracer.load(wanted, sites + (appearing ? SPECS_OF_LATER_FILES : 0), strategy, strict)) {
            interruption.onRequest(tracer::wakeup);
            List<String> gaps = List.of();
            if (appearing) {
                gaps = follow(tracer, probes, patterns, child);
            } else {
                report(tracer.attach(probes, process()));
                run(tracer, this::isThere);
            }
            Detachment.await(tracer.detach(), console, interruption);
            tracer.drain(this::print);
            summary(tracer.lost(), tracer.unknown(), gaps);
            if (appearing && !attachedAny) {
                throw new CommandException("neither "
                        + (child == null ? "process " + pid : "the command")
                        + " nor a library that it loaded has a probe "
                        + String.join(
                                " or ",
                                patterns.stream().map(ProbePattern::toString).toList()));
            }
            if (appearing) {
                Scans.unmatched(found, patterns)
                        .forEach(pattern -> console.error("bpf4j: no file that was traced has a probe " + pattern));
            }
            return CommandTree.OK;
        }
    }

    /** Files that were named and have none of the probes: of several, most likely the wrong ones. */
    private List<UsdtScan> filesWithout(List<UsdtScan> scans, List<ProbePattern> patterns) {
        return pid != null || all
                ? List.of()
                : scans.stream()
                        .filter(scan -> Scans.matching(scan, patterns).isEmpty())
                        .toList();
    }

    /**
     * Traces a process and what appears in it, and perhaps in its children.
     *
     * @return why first events may be missing; empty if none is
     */
    private List<String> follow(
            Tracer tracer, List<UsdtProbe> first, List<ProbePattern> patterns, @Nullable ChildCommand child) {
        Follower follower = new Follower(tracer, wanted(first, patterns), this::report, this::notAttached);
        UsdtWatch.Builder what = child != null
                ? UsdtWatch.of(Host.running(), child.pid()).fromExec()
                : UsdtWatch.of(Host.running(), process().orElseThrow());
        UsdtWatch.Builder followed = follow ? what.withChildren() : what;
        try (UsdtWatch watch = (noHold ? followed.withoutHolding() : followed).start(follower)) {
            if (child != null) {
                if (!watch.gaps().isEmpty() && !first.isEmpty()) {
                    // Not held at its exec: what is attached to the process before then is there when it maps the file.
                    follower.attach(child.pid(), first);
                }
                child.resume();
            }
            run(tracer, () -> (child == null || follow) ? watch.isAlive() : child.isAlive());
            List<String> gaps = new ArrayList<>(watch.gaps());
            int failed = notAttached.get();
            if (failed > 0) {
                gaps.add(Scans.count(failed, "time") + " probes that appeared could not be attached");
            }
            return gaps;
        }
    }

    private void notAttached(String why) {
        notAttached.incrementAndGet();
        console.error("bpf4j: " + why);
    }

    /** The probes of a file that are to be traced: of any file, or of those that were named. */
    private Function<UsdtScan, List<UsdtProbe>> wanted(List<UsdtProbe> first, List<ProbePattern> patterns) {
        if (!filesGiven) {
            return scan -> traced(scan, patterns);
        }
        Set<FileIdentity> named =
                first.stream().map(probe -> probe.binary().identity()).collect(Collectors.toUnmodifiableSet());
        return scan -> traced(scan, patterns).stream()
                .filter(probe -> named.contains(probe.binary().identity()))
                .toList();
    }

    private List<String> hints(List<UsdtProbe> probes) {
        Integer process = pid;
        return process != null
                ? JvmProbes.hints(probes, Host.running(), process)
                : verbose ? JvmProbes.hints(probes) : List.of();
    }

    /** One pattern of several that matches nothing is a slip of the pen: its events would be waited for in vain. */
    private void requireEach(List<UsdtScan> scans, List<ProbePattern> patterns) {
        for (ProbePattern pattern : patterns) {
            List<ProbePattern> one = List.of(pattern);
            if (scans.stream().allMatch(scan -> Scans.matching(scan, one).isEmpty())) {
                throw new CommandException(Scans.whyNone(scans, one, filesGiven ? OptionalInt.empty() : process()));
            }
        }
    }

    /** A string that no probe can have is a slip of the pen, too. */
    private static void requireArguments(List<UsdtProbe> probes, List<StringArg> wanted) {
        int most = probes.stream()
                .flatMap(probe -> probe.sites().stream())
                .mapToInt(site -> site.args().size())
                .max()
                .orElse(0);
        for (StringArg string : wanted) {
            if (string.highest() >= most) {
                throw new CommandException("--str " + string + ": "
                        + (probes.size() == 1
                                ? probes.getFirst().fullName() + " has "
                                : "none of the probes has more than ")
                        + Scans.count(most, "argument") + (most == 0 ? "" : ", numbered from 0"));
            }
        }
    }

    private void requireAddresses(List<UsdtProbe> probes) {
        if (strategy == StrategyChoice.IPMAP
                && process().isEmpty()
                && probes.stream().anyMatch(probe -> !probe.binary().fixedAddress())) {
            throw new CommandException("--strategy ipmap knows a probe by its address in memory, which a library and a"
                    + " position-independent program have in one process only: give -p PID");
        }
    }

    /** Values that are shown as "?" would leave a person guessing: the first is explained, and with -v the link does all. */
    private void sayUnreadable(List<UsdtProbe> probes) {
        if (verbose) {
            return;
        }
        List<String> problems = probes.stream()
                .flatMap(probe -> probe.sites().stream()
                        .flatMap(site -> site.unreadable().entrySet().stream())
                        .map(arg -> probe.fullName() + " arg" + arg.getKey() + " can't be read: " + arg.getValue()))
                .distinct()
                .limit(PROBLEMS_COUNTED)
                .toList();
        if (!problems.isEmpty()) {
            console.error("bpf4j: " + problems.getFirst()
                    + (problems.size() > 1 ? " (and " + (problems.size() - 1) + " more such: see -v)" : ""));
        }
    }

    private OptionalInt process() {
        Integer process = pid;
        return process == null ? OptionalInt.empty() : OptionalInt.of(process);
    }

    /**
     * The matching probes of each file once. A uprobe belongs to an inode: the same file under two names ({@code /lib/x.so}
     * and {@code /usr/lib/x.so}, or one of another mount namespace) would report each event twice. Which file it is counts
     * from when it was read; its path may lead elsewhere by now.
     */
    private List<UsdtProbe> probes(List<UsdtScan> scans, List<ProbePattern> patterns) {
        Set<FileIdentity> seen = new HashSet<>();
        return scans.stream()
                .filter(scan -> scan.probes().isEmpty()
                        || seen.add(scan.probes().getFirst().binary().identity()))
                .flatMap(scan -> traced(scan, patterns).stream())
                .toList();
    }

    /** The matching probes of a file. Says what is wrong with the file, as far as sites of them may be missing. */
    private List<UsdtProbe> traced(UsdtScan scan, List<ProbePattern> patterns) {
        List<UsdtProbe> probes = Scans.matching(scan, patterns);
        if (probes.isEmpty()) {
            return probes;
        }
        found.add(scan);
        Scans.ofNoProbe(scan).forEach(problem -> console.error("bpf4j: " + scan.path() + ": " + problem));
        UsdtBinary file = probes.getFirst().binary();
        boolean named = pid == null && command == null && !all;
        if (named || file.refusal() == null) {
            return probes;
        }
        // Of what was named, the library says it. Others are there by chance, mapped by an emulator for instance.
        console.error("bpf4j: " + file.name() + " " + file.refusal() + "; its probes are left out");
        return List.of();
    }

    /** Prints events until it is time to end, or {@code goesOn} says that there will be no more. */
    private void run(Tracer tracer, BooleanSupplier goesOn) {
        long end = duration == null ? Long.MAX_VALUE : System.nanoTime() + (long) (duration * 1e9);
        while (!isOver(end) && goesOn.getAsBoolean()) {
            long left = end - System.nanoTime();
            tracer.poll(left < PATIENCE.toNanos() ? Duration.ofNanos(Math.max(0, left)) : PATIENCE, this::print);
            console.flush();
        }
    }

    private boolean isOver(long end) {
        return interruption.requested() || isFull() || System.nanoTime() >= end;
    }

    private boolean isFull() {
        Long most = count;
        return most != null && events >= most;
    }

    /** A trace of one process ends with it. */
    private boolean isThere() {
        OptionalInt process = process();
        return process.isEmpty() || Files.isDirectory(Host.running().process(process.getAsInt()));
    }

    /** Standard error is for what is not an event: output that is piped into another program has events only. */
    private void report(UsdtLink link) {
        attachedAny = true;
        console.error("bpf4j: tracing "
                + Scans.count(
                        link.probes().stream()
                                .map(UsdtProbe::fullName)
                                .distinct()
                                .count(),
                        "probe") + " at " + Scans.count(link.siteCount(), "site") + "; Ctrl-C ends");
        if (verbose) {
            console.error("bpf4j: strategy " + link.strategy() + ", " + Scans.count(link.specCount(), "argument spec"));
            link.reasons().forEach(reason -> console.error("bpf4j: " + reason));
        }
        // Arguments that can't be read show as such in each event; sites and files that don't fire show in nothing.
        List<String> problems = verbose
                ? link.problems()
                : Stream.concat(problemsOfSites(link).stream(), link.notMapped().stream())
                        .toList();
        problems.forEach(problem -> console.error("bpf4j: " + problem));
    }

    private static List<String> problemsOfSites(UsdtLink link) {
        return link.probes().stream()
                .flatMap(probe ->
                        probe.problems().stream().map(problem -> probe.binary().name() + ": " + problem))
                .distinct()
                .toList();
    }

    private final EventFormat format = EventFormat.create();

    private void print(TraceEvent event, TracedProbe probe) {
        if (isFull()) {
            return;
        }
        events++;
        console.line(json ? format.json(event, probe) : format.human(event, probe));
    }

    private void summary(long lost, long unknown, List<String> gaps) {
        if (json) {
            JsonLine line = new JsonLine().beginObject().field("events", events).field("lost", lost);
            if (unknown > 0) {
                line.field("unknown", unknown);
            }
            if (follow || command != null) {
                line.field("exact", gaps.isEmpty());
                if (!gaps.isEmpty()) {
                    line.field("reason", String.join("; ", gaps));
                }
            }
            console.line(line.endObject().toString());
        } else {
            console.line(Scans.count(events, "event") + ", " + lost + " lost"
                    + (unknown > 0 ? ", " + unknown + " of no known probe" : "")
                    + (gaps.isEmpty()
                            ? ""
                            : "; the first milliseconds of new code may be missing: " + String.join("; ", gaps)));
        }
        console.flush();
    }
}
