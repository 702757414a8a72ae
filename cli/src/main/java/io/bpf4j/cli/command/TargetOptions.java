package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.trace.StrategyChoice;
import io.bpf4j.trace.Target;
import io.bpf4j.usdt.ProbePattern;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The options that select the probes, files and processes to which a command attaches, for how long, and how.
 * <i>Confined.</i>
 *
 * <p>Tested by {@code CommandTreeTest} and {@code CliUsageTest}.
 */
final class TargetOptions {
    /** 31 years, which fit a {@code long} in nanoseconds. */
    static final int MAX_SECONDS = 1_000_000_000;

    /** What {@code -p} takes. */
    static final String PROCESSES = "PID|KIND=NAME";

    @Option(
            names = "-p",
            paramLabel = PROCESSES,
            description = "The program and the libraries of this process; or of all present and future processes of a "
                    + "unit of systemd, a container, a pod or a control group (version 2): unit=NAME, container=ID, pod=UID, "
                    + "cgroup=PATH.")
    private @Nullable String processes;

    private @Nullable Integer pid;
    private Optional<Target> groups = Optional.empty();

    @Option(
            names = "-c",
            paramLabel = "CMD",
            description =
                    "Start this command, trace it and its libraries, and end with it. No shell reads it: ; and | are "
                            + "arguments. With FILEs: only the probes of these files. The command is held while "
                            + "probes are attached; the sums tell if first events may still be missing.")
    private @Nullable String command;

    @Option(
            names = {"-a", "--all"},
            description = "All files that any process has mapped, in every process.")
    private boolean all;

    @Option(
            names = "--follow",
            description =
                    "With -p or -c: also trace code that appears later: child processes, programs started by exec, and "
                            + "libraries loaded later, also from memory. Each process is held by ptrace while probes "
                            + "are attached, so no debugger can trace it.")
    private boolean follow;

    @Option(
            names = "--no-hold",
            description =
                    "With -c or --follow: hold no process, and look for new code every few milliseconds instead. First "
                            + "events may be missing; strace, gdb and the like can trace the processes.")
    private boolean noHold;

    @Option(
            names = "--duration",
            paramLabel = "T",
            description = "End after a time: 10 (seconds), 500ms, 2m (minutes).")
    private @Nullable Double duration;

    @Option(
            names = "--json",
            description = "Print a JSON object on a line for each event or row, and one with the sums.")
    private boolean json;

    @Option(
            names = "--strategy",
            paramLabel = "auto|multi|cookie|ipmap",
            description =
                    "How to attach: one uprobe_multi link, a perf uprobe for each site with a cookie, or one whose "
                            + "arguments are found by address. Default: the first that the kernel supports.")
    private StrategyChoice strategy = StrategyChoice.AUTO;

    @Option(names = "--strict", description = "Refuse probes with an argument that can't be read.")
    private boolean strict;

    @Option(names = "-v", description = "Print how the probes were attached, and why.")
    private boolean verbose;

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE|PROVIDER:NAME",
            description = "Executables and libraries, and patterns for their probes; * and ? match any text. Questions "
                    + "take functions, too: u:NAME for the entry of a function, ur:NAME for its return; or "
                    + "u:FILE:NAME, as in bpftrace.")
    private List<String> operands = new ArrayList<>();

    private boolean takesCommand = true;
    private List<String> names = List.of();
    private List<NamedFunction> functions = List.of();
    private List<Path> files = List.of();
    private List<ProbePattern> patterns = List.of();
    private List<Operands.OfFile> ofFiles = List.of();

    /** For commands that refuse {@code -c}, so that no message recommends it. */
    void refuseCommand() {
        takesCommand = false;
    }

    /** The part of a message about {@code -c}. */
    private String ifCommand(String text) {
        return takesCommand ? text : "";
    }

    /**
     * Checks the options before anything is done.
     *
     * @throws UsageException if they don't fit together
     */
    void check() {
        checkProcesses();
        Operands parsed = readOperands();
        if (groups.isPresent() && pid != null) {
            throw new UsageException("-p " + processes + " and a name with a process's number exclude each other");
        }
        all |= parsed.selectsAllProcesses() && pid == null && command == null && groups.isEmpty();
        parsed.checkTarget(pid != null || command != null || groups.isPresent(), takesCommand);
        if (command != null || all || groups.isPresent()) {
            parsed.checkNames();
        } else if (pid != null) {
            parsed.checkProbeNames();
        }
        checkSources();
        if (patterns().isEmpty() && functions.isEmpty()) {
            parsed.checkNames();
            throw new UsageException("name the probes to trace as PROVIDER:NAME; '*:*' selects all");
        }
        checkFollowing();
        Double seconds = duration;
        if (seconds != null && !(seconds > 0 && seconds <= MAX_SECONDS)) {
            throw new UsageException("--duration takes more than 0 and up to " + MAX_SECONDS + " seconds");
        }
    }

    /** Reads the names of files, probes and functions; a name may have the number of a process. */
    private Operands readOperands() {
        // A list of functions has the form of one function in a file.
        operands.forEach(Operands::checkForm);
        functions = operands.stream()
                .map(NamedFunction::of)
                .flatMap(Optional::stream)
                .toList();
        Operands parsed = Operands.of(operands.stream()
                .filter(operand -> NamedFunction.of(operand).isEmpty())
                .toList());
        Integer given = pid;
        OptionalInt selected = parsed.process(given == null ? OptionalInt.empty() : OptionalInt.of(given));
        pid = selected.isPresent() ? Integer.valueOf(selected.getAsInt()) : null;
        files = parsed.files();
        patterns = parsed.ofAllFiles();
        ofFiles = parsed.ofFiles();
        names = operands.stream().flatMap(TargetOptions::namesOf).toList();
        return parsed;
    }

    /**
     * Refuses two targets at once: the target is a process, control groups, a command or all files. Without a target
     * there must be a file.
     */
    private void checkSources() {
        boolean processesGiven = pid != null || groups.isPresent();
        int sources = (processesGiven ? 1 : 0) + (command == null ? 0 : 1) + (all ? 1 : 0);
        if (sources == 0 && files.isEmpty()) {
            files = functions.stream()
                    .flatMap(function -> function.file().stream())
                    .distinct()
                    .toList();
        }
        if (sources > 1) {
            String process = processes == null ? "a name with a process's number" : "-p";
            String both = Stream.of(processesGiven ? process : "", command == null ? "" : "-c", all ? "--all" : "")
                    .filter(option -> !option.isEmpty())
                    .collect(Collectors.joining(" and "));
            throw new UsageException(both + " exclude each other: " + nameOne());
        }
        if (sources == 0 && files.isEmpty()) {
            throw new UsageException(nameOne());
        }
        if (all && !files.isEmpty()) {
            throw new UsageException("--all selects all files: give a FILE alone, or with -p" + ifCommand(" or -c"));
        }
        if (all && !functions.isEmpty()) {
            // A search of the machine keeps no file without probes; most have none.
            throw new UsageException("--all finds files by their USDT probes: name the FILE that has the function "
                    + functions.getFirst().name() + ", or give -p PID" + ifCommand(" or -c CMD"));
        }
    }

    private String nameOne() {
        return "name a FILE, or give " + (takesCommand ? "one of -p PID, -c CMD and --all" : "-p PID or --all");
    }

    private void checkFollowing() {
        if (groups.isPresent() && (follow || noHold)) {
            throw new UsageException((follow ? "--follow" : "--no-hold") + " is for -p PID" + ifCommand(" and -c")
                    + ": later processes of "
                    + processes + " are traced, too, and none is held");
        }
        if (follow && pid == null && command == null) {
            throw new UsageException("--follow needs -p" + ifCommand(" or -c")
                    + "; a FILE is traced in all processes, also in later ones");
        }
        if (noHold && !follow && command == null) {
            throw new UsageException(
                    "--no-hold needs " + ifCommand("-c or ") + "--follow; no other option holds a process");
        }
    }

    private void checkProcesses() {
        String given = processes;
        if (given == null) {
            return;
        }
        int equals = given.indexOf('=');
        if (equals < 0) {
            try {
                pid = Integer.valueOf(given);
            } catch (NumberFormatException e) {
                throw new UsageException("-p takes the number of a process up to " + Integer.MAX_VALUE
                        + ", or unit=NAME, container=ID, pod=UID or cgroup=PATH; not '" + given + "'");
            }
            return;
        }
        String name = given.substring(equals + 1);
        try {
            groups = Optional.of(
                    switch (given.substring(0, equals)) {
                        case "unit" -> Target.unit(name);
                        case "container" -> Target.container(name);
                        case "pod" -> Target.pod(name);
                        case "cgroup" -> Target.controlGroup(name);
                        default ->
                            throw new IllegalArgumentException("'" + given.substring(0, equals)
                                    + "' selects no processes; unit, container, pod and cgroup do");
                    });
        } catch (IllegalArgumentException e) {
            throw new UsageException("-p: " + e.getMessage());
        }
    }

    /** What {@code -p} has, as it was typed; empty without it. */
    String processes() {
        return processes == null ? "" : processes;
    }

    /** The control groups of {@code -p}; empty without them. */
    Optional<Target> groups() {
        return groups;
    }

    /** The process of {@code -p}; empty without it. */
    OptionalInt process() {
        Integer process = pid;
        return process == null ? OptionalInt.empty() : OptionalInt.of(process);
    }

    /** The command to start and trace; empty without {@code -c}. */
    Optional<String> command() {
        return Optional.ofNullable(command);
    }

    boolean all() {
        return all;
    }

    /** The files whose probes are traced; empty for all files of the processes. */
    List<Path> files() {
        return files;
    }

    /** The patterns for all files and for single files. */
    List<ProbePattern> patterns() {
        return Stream.concat(patterns.stream(), ofFiles.stream().map(Operands.OfFile::pattern))
                .toList();
    }

    /** The patterns that are looked up in one file only. */
    List<Operands.OfFile> patternsOfFiles() {
        return ofFiles;
    }

    /** The patterns that are looked up in all files. */
    List<ProbePattern> patternsOfAllFiles() {
        return patterns;
    }

    /** The probes as they are named, in the order of the operands. */
    List<String> names() {
        return names;
    }

    List<NamedFunction> functions() {
        return functions;
    }

    /** Replaces the files of the operands by the process's own files of these names. */
    void locateFiles(UnaryOperator<Path> locate) {
        files = files.stream().map(locate).toList();
        ofFiles = ofFiles.stream()
                .map(known -> new Operands.OfFile(locate.apply(known.file()), known.pattern()))
                .toList();
        functions = functions.stream()
                .map(function -> new NamedFunction(function.file().map(locate), function.name()))
                .toList();
    }

    /** Adds a probe to those of the operands. The return of a function is looked up in the same file as its entry. */
    void add(String name) {
        names = Stream.concat(names.stream(), Stream.of(name)).toList();
        Optional<NamedFunction> function = NamedFunction.of(name);
        if (function.isPresent()) {
            Optional<Path> file = functions.stream()
                    .filter(known -> known.function().equals(function.get().function()))
                    .findFirst()
                    .flatMap(NamedFunction::file);
            functions = Stream.concat(functions.stream(), Stream.of(new NamedFunction(file, name)))
                    .toList();
        } else {
            patterns = Stream.concat(patterns.stream(), Stream.of(Operands.checked(ProbePattern::parse, name, name)))
                    .toList();
        }
    }

    private static Stream<String> namesOf(String operand) {
        return NamedFunction.of(operand)
                .map(function -> Stream.of(function.name()))
                .orElseGet(
                        () -> Operands.of(List.of(operand)).patterns().stream().map(ProbePattern::toString));
    }

    /** Whether the traced processes may map new files while they are traced. */
    boolean filesMayAppear() {
        return follow || command != null || groups.isPresent();
    }

    boolean follow() {
        return follow;
    }

    boolean hold() {
        return !noHold;
    }

    /** The maximum time to trace, in nanoseconds; empty if there is no bound. */
    OptionalLong duration() {
        Double seconds = duration;
        return seconds == null ? OptionalLong.empty() : OptionalLong.of((long) (seconds * 1e9));
    }

    boolean json() {
        return json;
    }

    StrategyChoice strategy() {
        return strategy;
    }

    boolean strict() {
        return strict;
    }

    boolean verbose() {
        return verbose;
    }
}
