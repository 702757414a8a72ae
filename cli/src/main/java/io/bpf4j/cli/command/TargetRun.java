package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Progress;
import io.bpf4j.cli.output.Text;
import io.bpf4j.cli.question.AnswerReport;
import io.bpf4j.cli.trace.Detachment;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.cli.trace.Words;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.process.FirstThreads;
import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.trace.Following;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.ProbeSession;
import io.bpf4j.trace.Target;
import io.bpf4j.trace.event.TextArgument;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One run of a command that watches probes: attaches, works until the end, and detaches. <i>Confined.</i>
 *
 * <p>Tested by {@code CliTraceTest} and {@code CliStrategyTest}.
 */
final class TargetRun {
    /** A shell reports a signal as this status plus the signal's number. */
    private static final int SIGNAL_STATUS = 128;

    /** The signals that end a failing program. */
    private static final Map<Integer, String> FAILURES =
            Map.of(4, "SIGILL", 5, "SIGTRAP", 6, "SIGABRT", 7, "SIGBUS", 8, "SIGFPE", 9, "SIGKILL", 11, "SIGSEGV");

    /** The time to wait for events before checking whether the run is to end. */
    private static final Duration PATIENCE = Duration.ofMillis(20);

    private final Console console;
    private final Interruption interruption;
    private final TargetOptions options;
    private final TargetSelection selection;

    private volatile boolean attachedAny;

    /** Whether USDT probes were attached, not only functions. */
    private volatile boolean attachedProbes;

    /** The files with functions that no process was seen to map. */
    private Set<FileIdentity> notMapped = Set.of();

    /** Whether the child process has not executed the command yet, and so has not mapped the command's files. */
    private volatile boolean beforeExec;

    /** The names and problems that were reported; child processes and libraries often have the same ones. */
    private final Set<String> reported = ConcurrentHashMap.newKeySet();

    /** The number of functions that the kernel can't probe. */
    private final AtomicInteger leftOut = new AtomicInteger();

    /** Whether the kernel has one uprobe for each site, which belongs to one thread. */
    private final boolean perfUprobes;

    private final FirstThreads firstThreads;

    /** The part of a command that handles the events. */
    interface Work {
        /**
         * Loads the BPF program.
         *
         * @param probes the probes that exist now; more may appear
         * @param functions entries and returns of functions
         */
        ProbeSession load(List<UsdtProbe> probes, List<FunctionProbe> functions) throws IOException;

        /**
         * Called when counting starts: after all known probes are attached, or when the child process, which is a shell
         * until then, executes the command. Not called with {@code --follow} of an existing process.
         */
        default void attached() {}

        /** Called when a process is watched, or has new code. If the process is held, none of this code has run yet. */
        default void appeared(int pid) {}

        /** Waits for events, and handles the received ones. */
        void poll(Duration patience);

        /** Called after the last poll. Next the probes are detached, which may take a while. */
        default void ended() {}

        /** Handles events while probes are detached, so that no process waits for room in the ring buffer. */
        default void keepUp() {}

        /** Whether the command has enough events. */
        boolean isFull();

        /** Whether an event has come; called after {@link #finish}. */
        boolean hasEvents();

        /** Whether an answer requires a probe for each pattern, as the time from one probe to another does. */
        default boolean needsAllProbes() {
            return false;
        }

        /**
         * Handles the last events and prints the result. All probes are detached.
         *
         * @param gaps the reasons why the answer is not exact; empty if it is
         */
        void finish(List<Diagnostic> gaps);
    }

    TargetRun(Console console, Interruption interruption, TargetOptions options, List<TextArgument> strings) {
        this.console = console;
        this.interruption = interruption;
        this.options = options;
        this.selection = new TargetSelection(console, options, strings);
        this.perfUprobes =
                AttachStrategy.bestFor(options.strategy().features(Features.ofRunningKernel())) != AttachStrategy.MULTI;
        this.firstThreads = new FirstThreads(perfUprobes);
    }

    /** A run without arguments that are shown as strings. */
    static TargetRun of(Console console, Interruption interruption, TargetOptions options) {
        return new TargetRun(console, interruption, options, List.of());
    }

    /**
     * Runs until the end.
     *
     * @throws CommandException if there was nothing to watch
     */
    void run(Work work) throws IOException {
        if (options.command().isPresent()) {
            Target command = target();
            run(work, options.files().isEmpty() ? ownFile(command) : scans(), command);
        } else {
            OptionalInt process = options.process();
            List<UsdtScan> scans = process.isPresent() ? scansOfProcess(process.getAsInt()) : scans();
            run(work, scans, options.filesMayAppear() ? target() : null);
        }
    }

    /** The processes in which code may appear. */
    private Target target() {
        Target target = options.command().isPresent()
                ? command(options.command().get())
                : Target.process(options.process().orElseThrow());
        target = options.follow() ? target.withChildren() : target;
        return options.hold() ? target : target.withoutHolding();
    }

    private Target command(String line) {
        try {
            Target command = Target.command(Words.split(line));
            return options.json() ? command.withOutputToError() : command;
        } catch (IllegalArgumentException e) {
            throw new UsageException("-c: " + e.getMessage());
        }
    }

    /** The file of the command. A script has no probes; the program that runs it is found when it is mapped. */
    private static List<UsdtScan> ownFile(Target command) throws IOException {
        try {
            return List.of(UsdtScan.ofFile(command.program().toRealPath()));
        } catch (MalformedDataException e) {
            return List.of();
        }
    }

    /** The files of a process, or those on the command line, as the process has them. */
    private List<UsdtScan> scansOfProcess(int pid) throws IOException {
        UsdtScan all;
        try {
            all = Scans.ofProcess(pid);
        } catch (IOException e) {
            if (options.files().isEmpty()) {
                throw e;
            }
            return scans(); // files can be attached to without permission to read the mappings
        }
        FilesOfProcess files = new FilesOfProcess(pid, all);
        options.locateFiles(files::locate);
        if (!options.follow()) {
            Set<FileIdentity> named =
                    new HashSet<>(); // a file may have several names, as a relative and an absolute one
            options.functions().stream()
                    .flatMap(function -> function.file().stream())
                    .filter(file -> !files.isMapped(file)
                            && FilesOfProcess.identity(file).filter(named::add).isPresent())
                    .forEach(file ->
                            console.remark("process " + pid + " has not mapped " + Text.printable(file.toString())
                                    + ": probes in this file fire only if the process maps it later"));
        }
        return options.files().isEmpty() ? List.of(all) : scans();
    }

    private List<UsdtScan> scans() throws IOException {
        if (options.all()) {
            return List.of(Scans.ofMachine(console));
        }
        List<UsdtScan> scans = new ArrayList<>();
        for (Path file : options.files()) {
            scans.add(UsdtScan.ofFile(Operands.check(file)));
        }
        return scans;
    }

    /** @param target the processes that are followed; null if files may not appear */
    private void run(Work work, List<UsdtScan> scans, @Nullable Target target) throws IOException {
        List<UsdtProbe> probes = options.patterns().isEmpty() ? List.of() : selection.of(scans);
        Map<FileIdentity, List<FunctionProbe>> byFile = FunctionSelection.of(options, scans, target);
        List<FunctionProbe> functions =
                byFile.values().stream().flatMap(List::stream).toList();
        List<Diagnostic> risks = functions.stream()
                .flatMap(function -> function.whyRisky().stream())
                .distinct()
                .toList();
        risks.forEach(console::remark);
        FunctionSelection.otherVersions(byFile).stream().map(Text::printable).forEach(console::remark);
        int sites = probes.stream().mapToInt(p -> p.sites().size()).sum();
        try (ProbeSession session = work.load(probes, functions)) {
            interruption.onRequest(session::wakeup);
            interruption.beforeHalt(session::resumePaused);
            if (target == null) {
                watch(session, work, probes, functions, sites);
                reportEnd(OptionalInt.empty(), !risks.isEmpty());
                detach(session, work);
                boolean childless = options.process().isEmpty()
                        || new Tasks(Host.running())
                                .childrenOf(options.process().getAsInt())
                                .isEmpty();
                work.finish(gaps(firstThreads.gaps(), functions));
                if (!childless && !work.hasEvents()) {
                    console.remark("no event came from process "
                            + options.process().orElseThrow()
                            + ", which has child processes; --follow traces these, too");
                }
            } else {
                try (Following following = follow(session, work, target, probes, functions)) {
                    poll(work, following::isAlive);
                    List<Diagnostic> gaps = gaps(following.gaps(), functions);
                    following.stop();
                    notMapped = following.notMapped();
                    reportEnd(following.status(), !risks.isEmpty());
                    detach(session, work);
                    finish(work, scans, byFile, gaps);
                }
            }
        }
    }

    private static List<Diagnostic> gaps(List<Diagnostic> gaps, List<FunctionProbe> functions) {
        return Stream.concat(gaps.stream(), functions.stream().flatMap(function -> function.whyInexact().stream()))
                .distinct()
                .toList();
    }

    private void detach(ProbeSession session, Work work) {
        Detachment.await(session.detach(), console, interruption, work::keepUp);
    }

    /** Attaches to what is there now, and works until the end. */
    private void watch(
            ProbeSession session, Work work, List<UsdtProbe> probes, List<FunctionProbe> functions, int sites) {
        attachFunctions(functions.size(), () -> session.attachFunctions(functions, options.process(), this::leftOut));
        Optional<UsdtLink> link = probes.isEmpty() ? Optional.empty() : Optional.of(attach(session, probes, sites));
        work.attached();
        reportFunctions(functions.size());
        link.ifPresent(this::report);
        options.process().ifPresent(work::appeared);
        if (perfUprobes) {
            options.process().ifPresent(firstThreads::add);
        }
        poll(work, this::targetExists);
    }

    /** Prints the answer about followed processes, or why there is none. */
    private void finish(
            Work work, List<UsdtScan> scans, Map<FileIdentity, List<FunctionProbe>> functions, List<Diagnostic> gaps) {
        if (!attachedAny) {
            work.finish(gaps);
            throw new CommandException(noProbe(
                            options.command().isEmpty()
                                    ? "process " + options.process().orElseThrow()
                                    : "the command",
                            String.join(
                                    " or ",
                                    options.patterns().stream()
                                            .map(ProbePattern::toString)
                                            .toList()),
                            gaps)
                    + whyNone(scans)
                    + (options.follow() ? "" : "; --follow traces its child processes, too"));
        }
        Optional<String> noAnswer = reportUnmatched(work).or(() -> reportNotMapped(functions));
        work.finish(gaps);
        if (noAnswer.isPresent()) {
            throw new CommandException(noAnswer.get());
        }
    }

    /**
     * Reports a target that failed, or that an exception may have ended because it could not unwind to a caller.
     *
     * @param ofCommand how the command ended; empty if it runs, or there is none
     */
    private void reportEnd(OptionalInt ofCommand, boolean risky) {
        String cause = "an exception may have unwound through a probed return";
        String signal = FAILURES.get(ofCommand.orElse(0) - SIGNAL_STATUS);
        if (signal != null) {
            console.remark("the command ended with status " + ofCommand.orElse(0) + ", the status for " + signal
                    + (risky && signal.equals("SIGABRT") ? ": " + cause : ""));
        } else if (risky && !targetExists()) {
            console.remark("process " + options.process().orElseThrow() + " has ended; if it aborted, " + cause);
        }
    }

    /**
     * Reports the patterns that no file matches. Returns why there is no answer, if an answer requires all patterns.
     */
    private Optional<String> reportUnmatched(Work work) {
        List<ProbePattern> unmatched = selection.unmatched();
        if (!unmatched.isEmpty() && work.needsAllProbes()) {
            return Optional.of("no traced file has a probe " + unmatched.getFirst()
                    + ", so no time from one probe to the other was measured");
        }
        unmatched.forEach(pattern -> console.remark("no traced file has a probe " + pattern));
        return Optional.empty();
    }

    /**
     * Reports the functions whose files no process mapped; functions are attached to before their files are mapped.
     * Returns why there is no answer, if no file of a function was mapped.
     */
    private Optional<String> reportNotMapped(Map<FileIdentity, List<FunctionProbe>> functions) {
        List<String> missing = functions.entrySet().stream()
                .filter(file -> notMapped.contains(file.getKey()))
                .flatMap(file -> file.getValue().stream().limit(1))
                .map(function -> "no traced process was seen to map the file of " + Text.printable(function.toString()))
                .toList();
        if (!missing.isEmpty() && missing.size() == functions.size() && !attachedProbes) {
            return Optional.of(missing.getFirst() + (options.follow() ? "" : "; --follow traces child processes, too"));
        }
        missing.forEach(console::remark);
        return Optional.empty();
    }

    /**
     * The message that no probe was found. A process that was not held may have had the probes, and ended unnoticed.
     */
    private static String noProbe(String target, String probes, List<Diagnostic> gaps) {
        return gaps.isEmpty()
                ? "neither " + target + " nor a library that it loaded has a probe " + probes
                : "no probe " + probes + " was found in " + target + " and the libraries that it loads; processes and"
                        + " libraries that existed for only a few milliseconds were not searched: "
                        + AnswerReport.because(gaps);
    }

    /** The reason why the files that exist at the start lack the first probe, with the nearest name. */
    private String whyNone(List<UsdtScan> scans) {
        return scans.stream()
                .filter(scan -> !scan.probes().isEmpty())
                .map(scan -> scan.matching(options.patterns().getFirst()))
                .filter(scan -> scan.probes().isEmpty())
                .findFirst()
                .map(scan -> "; " + scan.whyNone())
                .orElse("");
    }

    private void attachFunctions(int functions, Runnable attach) {
        if (functions > 0) {
            try (Progress _ = Progress.of(console, "attaching to " + Scans.count(functions, "function"))) {
                attach.run();
            }
            attachedAny = true;
        }
    }

    private void reportFunctions(int functions) {
        if (functions > 0) {
            console.error("bpf4j: tracing " + Scans.count(functions - leftOut.get(), "function") + "; Ctrl-C ends");
        }
    }

    private void leftOut(FunctionProbe function) {
        leftOut.incrementAndGet();
        console.remark(
                Text.printable(function.toString()) + " is left out: the kernel can't probe its first instruction");
    }

    private UsdtLink attach(ProbeSession session, List<UsdtProbe> probes, int sites) {
        try (Progress _ = Progress.of(console, "attaching to " + Scans.count(sites, "site"))) {
            return options.all()
                    ? GoneFiles.attachToOthers(
                            probes,
                            others -> session.attach(others, OptionalInt.empty()),
                            file -> console.error("bpf4j: " + Text.printable(file)))
                    : session.attach(probes, options.process());
        }
    }

    /** Follows a target: a command runs from now on. */
    private Following follow(
            ProbeSession session, Work work, Target target, List<UsdtProbe> first, List<FunctionProbe> functions)
            throws IOException {
        Features features = options.strategy().features(Features.ofRunningKernel());
        Following.Listener listener = new Listener(work, selection.ofLater(first), first);
        beforeExec = !target.line().isEmpty();
        attachedAny = !functions.isEmpty();
        Following following =
                start(functions.size(), () -> Following.start(session, target, functions, features, listener));
        beforeExec = false;
        // Only now, because from here on no child is missed.
        reportFunctions(functions.size());
        following.release();
        return following;
    }

    /** Shows that functions are attached to, which may take a while. */
    private Following start(int functions, Start start) throws IOException {
        if (functions == 0) {
            return start.start();
        }
        try (Progress _ = Progress.of(console, "attaching to " + Scans.count(functions, "function"))) {
            return start.start();
        }
    }

    private interface Start {
        Following start() throws IOException;
    }

    /** Selects the probes of files that appear, reports what happens, and tells the work. */
    private final class Listener implements Following.Listener {
        private final Work work;
        private final Function<UsdtScan, List<UsdtProbe>> selected;
        private final List<UsdtProbe> known;

        Listener(Work work, Function<UsdtScan, List<UsdtProbe>> selected, List<UsdtProbe> known) {
            this.work = work;
            this.selected = selected;
            this.known = known;
        }

        @Override
        public List<UsdtProbe> select(UsdtScan appeared) {
            return selected.apply(appeared);
        }

        @Override
        public List<UsdtProbe> known() {
            return known;
        }

        @Override
        public void started() {
            work.attached();
        }

        @Override
        public void attached(UsdtLink link) {
            report(link);
        }

        @Override
        public void leftOut(FunctionProbe function) {
            TargetRun.this.leftOut(function);
        }

        @Override
        public void appeared(int pid) {
            work.appeared(pid);
        }

        @Override
        public void failed(Diagnostic why) {
            if (reported.add(why.message())) {
                console.remark(why);
            }
        }
    }

    /** Works until the end, or until {@code isAlive} says that there will be no more events. */
    private void poll(Work work, BooleanSupplier isAlive) {
        OptionalLong most = options.duration();
        long end = most.isPresent() ? System.nanoTime() + most.getAsLong() : Long.MAX_VALUE;
        try {
            while (!interruption.requested() && !work.isFull() && System.nanoTime() < end && isAlive.getAsBoolean()) {
                long left = end - System.nanoTime();
                work.poll(left < PATIENCE.toNanos() ? Duration.ofNanos(Math.max(0, left)) : PATIENCE);
                firstThreads.look();
                console.flush();
            }
        } finally {
            work.ended();
        }
    }

    /** Whether the traced process still exists; the trace ends with it. */
    private boolean targetExists() {
        OptionalInt process = options.process();
        return process.isEmpty() || new Tasks(Host.running()).isRunning(process.getAsInt());
    }

    /** Writes to standard error, so that standard output has only events and can be piped into another program. */
    private void report(UsdtLink link) {
        attachedProbes = true;
        boolean first = !attachedAny;
        attachedAny = true;
        List<String> names =
                link.probes().stream().map(UsdtProbe::fullName).distinct().toList();
        // count() and not anyMatch(): each name has to be remembered.
        boolean hasNewNames = names.stream().filter(reported::add).count() > 0;
        if (first || hasNewNames || options.verbose()) {
            console.error("bpf4j: " + (first || options.verbose() ? "tracing " : "also tracing ")
                    + Scans.count(names.size(), "probe") + " at " + Scans.count(link.siteCount(), "site")
                    + (first ? "; Ctrl-C ends" : ""));
        }
        if (options.verbose()) {
            console.error("bpf4j: strategy " + link.strategy() + ", " + Scans.count(link.specCount(), "argument spec"));
            link.reasons().forEach(reason -> console.error("bpf4j: " + reason));
            console.error("bpf4j: " + link.strategy().description());
        }
        // Without -v, arguments that can't be read are not reported, because each event shows them. Sites and files
        // that don't fire are reported, because nothing else would show them.
        for (Diagnostic problem : link.problems()) {
            boolean shown = switch (problem.kind()) {
                case UNREADABLE -> options.verbose();
                case NOT_MAPPED -> !beforeExec;
                default -> true;
            };
            if (shown && (reported.add(problem.message()) || options.verbose())) {
                console.remark(problem);
            }
        }
    }
}
