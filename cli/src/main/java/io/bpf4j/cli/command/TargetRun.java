package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Progress;
import io.bpf4j.cli.output.Text;
import io.bpf4j.cli.trace.Detachment;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.trace.Following;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.ProbeSession;
import io.bpf4j.trace.RunningProgram;
import io.bpf4j.trace.Target;
import io.bpf4j.trace.event.TextArgument;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * One run of a command that watches probes: attaches, works until the end, and detaches. {@link TargetFiles} selects
 * the files to search, {@link TargetSelection} and {@link FunctionSelection} select the probes and functions to attach
 * to, {@link TargetReport} reports what happens. <i>Confined.</i>
 *
 * <p>Tested by {@code CliTraceTest} and {@code CliStrategyTest}.
 */
final class TargetRun {
    /** The time to wait for events before checking whether the run is to end. */
    private static final Duration PATIENCE = Duration.ofMillis(20);

    /**
     * A command that runs for longer has usually loaded its libraries. For a command that ends sooner, missing probes
     * are reported at its end.
     */
    private static final Duration LOADED = Duration.ofSeconds(1);

    private static final Duration LONGEST_START = Duration.ofSeconds(30);

    /** Files with probes that are kept to name the nearest probe. */
    private static final int MAX_SEEN = 16;

    private final Console console;
    private final Interruption interruption;
    private final TargetOptions options;
    private final List<TextArgument> strings;
    private final TargetFiles files;
    private final TargetSelection selection;
    private final TargetReport report;

    /** The scans for probes, at the start and later. */
    private final List<UsdtScan> seen = new CopyOnWriteArrayList<>();

    /** The part of a command that handles the events. */
    interface Work {
        /**
         * Loads the BPF program.
         *
         * @param probes the probes that exist now; more may appear
         * @param functions entries and returns of functions
         */
        RunningProgram load(List<UsdtProbe> probes, List<FunctionProbe> functions) throws IOException;

        /**
         * Called when counting starts: after all known probes are attached, or when the child process, which is a shell
         * until then, executes the command. Not called with {@code --follow} of an existing process.
         */
        default void attached() {}

        /** Called when the program is attached to probes, on any thread; may be called again with the same probes. */
        default void attachedTo(List<UsdtProbe> probes) {}

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

        /** Whether an answer requires a probe for each pattern, as the time from one probe to another does. */
        default boolean needsAllProbes() {
            return false;
        }

        /** Whether files that take the place of those on the command line are attached to, too. */
        default boolean attachesAgain() {
            return false;
        }

        /** Called after each check for replaced files, with what is missing because of them. */
        default void missing(List<String> ofReplaced) {}

        /**
         * Handles the last events and prints the result. All probes are detached.
         *
         * @param gaps the reasons why the answer is not exact; empty if it is
         */
        void finish(List<Diagnostic> gaps);

        /**
         * Cleans up unfinished output, such as a screen or a file. Called before a signal ends the process, on another thread and
         * at any time.
         */
        default void abandon() {}

        /** What the output lacks if nobody reads it any more. Called while this work waits for the reader. */
        default String unwritten() {
            return "what follows, with the end of the answer, is lost";
        }
    }

    TargetRun(Console console, Interruption interruption, TargetOptions options, List<TextArgument> strings) {
        this.console = console;
        this.interruption = interruption;
        this.options = options;
        this.strings = strings;
        this.files = new TargetFiles(console, options);
        this.selection = new TargetSelection(console, options, strings);
        this.report = new TargetReport(console, options);
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
        Optional<Target> followed = files.followed();
        List<UsdtScan> scans = files.now(followed);
        seen.addAll(scans);
        SelectedProbes selected = SelectedProbes.of(options, selection, scans, followed);
        List<Diagnostic> risks = selected.functions().stream()
                .flatMap(function -> function.whyRisky().stream())
                .distinct()
                .toList();
        risks.forEach(console::remark);
        for (List<FunctionProbe> ofFile : selected.functionsByFile().values()) {
            FunctionProbe.otherVersions(ofFile).forEach(console::remark);
        }
        try (RunningProgram program = work.load(selected.probes(), selected.functions())) {
            interruption.onRequest(program::wakeup);
            interruption.beforeHalt(program::resumePaused);
            interruption.atHalt(work::abandon);
            interruption.whenBlocked(console, work::unwritten);
            if (followed.isEmpty()) {
                watch(program, work, selected);
                report.end(OptionalInt.empty(), !risks.isEmpty());
                detach(program, work);
                work.finish(program.reasonsForGaps());
            } else {
                try (Following following = follow(program, work, followed.get(), selected)) {
                    Waiting waiting = new Waiting(following, selected.functionsByFile());
                    poll(work, () -> {
                        waiting.look();
                        return following.isAlive();
                    });
                    List<Diagnostic> gaps = program.reasonsForGaps();
                    following.stop();
                    report.end(following.status(), !risks.isEmpty());
                    detach(program, work);
                    Optional<String> noAnswer = report.attachedAny()
                            ? report.unmatched(selection.unmatched(), work.needsAllProbes())
                                    .or(() -> report.notMapped(selected.functionsByFile(), following.notMapped()))
                            : Optional.of(report.nothingAttached(seen, gaps));
                    work.finish(noAnswer.isEmpty() ? gaps : TargetReport.withoutAnswer(gaps));
                    if (noAnswer.isPresent()) {
                        throw new CommandException(noAnswer.get());
                    }
                }
            }
        }
    }

    private void detach(ProbeSession session, Work work) {
        Detachment.await(session.detach(), console, interruption, work::keepUp);
    }

    /** Attaches to the probes that exist now, and works until the end. */
    private void watch(RunningProgram program, Work work, SelectedProbes selected) {
        List<FunctionProbe> functions = selected.functions();
        if (!functions.isEmpty()) {
            try (Progress _ = attaching(functions.size(), "function")) {
                program.attachFunctions(functions, options.process(), report::leftOut);
            }
            report.attachedFunctions();
        }
        Optional<UsdtLink> link =
                selected.probes().isEmpty() ? Optional.empty() : Optional.of(attach(program, selected.probes()));
        work.attached();
        report.flags(program);
        report.functions(functions.size());
        link.ifPresent(report::attached);
        link.map(UsdtLink::probes).ifPresent(work::attachedTo);
        options.process().ifPresent(work::appeared);
        if (!work.attachesAgain() || options.all() || options.process().isPresent()) {
            poll(work, report::targetExists);
            return;
        }
        ReplacedFiles replaced = new ReplacedFiles(
                program::replacedFiles,
                new Replacement(console, report, this::selectAgain, program, selected),
                System::nanoTime);
        poll(
                work,
                () -> {
                    replaced.look();
                    work.missing(replaced.reasons());
                },
                () -> true);
    }

    private SelectedProbes selectAgain() throws IOException {
        return SelectedProbes.of(
                options, new TargetSelection(console, options, strings), files.now(Optional.empty()), Optional.empty());
    }

    private Progress attaching(int number, String noun) {
        return Progress.of(console, "attaching to " + Scans.count(number, noun));
    }

    private UsdtLink attach(ProbeSession session, List<UsdtProbe> probes) {
        int sites = probes.stream().mapToInt(p -> p.sites().size()).sum();
        try (Progress _ = attaching(sites, "site")) {
            return options.all()
                    ? session.attachUnchanged(probes, file -> console.error("bpf4j: " + Text.printable(file.message())))
                    : session.attach(probes, options.process());
        }
    }

    /** Follows a target. A command begins to run here. */
    private Following follow(RunningProgram program, Work work, Target target, SelectedProbes first)
            throws IOException {
        List<FunctionProbe> functions = first.functions();
        Features features = options.strategy().features(Features.ofRunningKernel());
        Following.Listener listener =
                new Listener(work, selection.ofLater(first.probes()), first.probes(), !target.inGroups());
        report.beforeExec(!target.line().isEmpty());
        if (!functions.isEmpty()) {
            report.attachedFunctions();
        }
        Following following = start(program, target, functions, features, listener);
        interruption.alsoEnds(following::endCommand);
        report.flags(program);
        report.beforeExec(false);
        // Only now, because no child is missed from here on.
        report.functions(functions.size());
        following.release();
        return following;
    }

    /** Functions are attached to before the target runs, which may take a while. */
    private Following start(
            RunningProgram program,
            Target target,
            List<FunctionProbe> functions,
            Features features,
            Following.Listener listener)
            throws IOException {
        try (Progress _ = functions.isEmpty() ? null : attaching(functions.size(), "function")) {
            return Following.start(program, target, functions, features, listener);
        }
    }

    /** Selects the probes of files that appear, reports what happens, and tells the work. */
    private final class Listener implements Following.Listener {
        private final Work work;
        private final Function<UsdtScan, List<UsdtProbe>> selected;
        private final List<UsdtProbe> known;

        /** Links whose events do not count yet: they are reported when they do. */
        private final List<UsdtLink> early = new ArrayList<>();

        private boolean counts;

        Listener(Work work, Function<UsdtScan, List<UsdtProbe>> selected, List<UsdtProbe> known, boolean countsAtOnce) {
            this.work = work;
            this.selected = selected;
            this.known = known;
            this.counts = countsAtOnce;
        }

        @Override
        public List<UsdtProbe> select(UsdtScan appeared) {
            if (seen.size() < MAX_SEEN && !appeared.probes().isEmpty()) {
                seen.add(appeared);
            }
            return selected.apply(appeared);
        }

        @Override
        public List<UsdtProbe> known() {
            return known;
        }

        @Override
        public synchronized void started() {
            work.attached();
            counts = true;
            early.forEach(report::attached);
            early.clear();
        }

        @Override
        public synchronized void attached(UsdtLink link) {
            work.attachedTo(link.probes());
            if (counts) {
                report.attached(link);
            } else {
                early.add(link);
            }
        }

        @Override
        public void leftOut(FunctionProbe function) {
            report.leftOut(function);
        }

        @Override
        public void appeared(int pid) {
            work.appeared(pid);
        }

        @Override
        public void failed(Diagnostic why) {
            report.failed(why);
        }
    }

    /**
     * Reports once the probes that have not been found yet: for a process, when the run is ready; for a command, when
     * it has had time to load its libraries. Otherwise a misspelled name would be reported only at the end.
     */
    private final class Waiting {
        private final Following following;
        private final Map<FileIdentity, List<FunctionProbe>> functions;
        private final long from;
        private boolean reported;

        Waiting(Following following, Map<FileIdentity, List<FunctionProbe>> functions) {
            this.following = following;
            this.functions = functions;
            this.from = System.nanoTime() + (options.command().isPresent() ? LOADED.toNanos() : 0);
        }

        void look() {
            long late = System.nanoTime() - from;
            // On a busy machine a command may not have begun; one that has no file with probes is never seen.
            boolean begun = options.command().isEmpty() || !seen.isEmpty() || late >= LONGEST_START.toNanos();
            if (!reported && late >= 0 && begun) {
                reported = true;
                report.nothingYet(seen, selection.unmatched());
                report.notMappedYet(functions, following.notMapped());
            }
        }
    }

    /** Works until the end, or until {@code isAlive} says that there will be no more events. */
    private void poll(Work work, BooleanSupplier isAlive) {
        poll(work, () -> {}, isAlive);
    }

    /** @param look runs before each wait for events */
    private void poll(Work work, Runnable look, BooleanSupplier isAlive) {
        OptionalLong most = options.duration();
        long end = most.isPresent() ? System.nanoTime() + most.getAsLong() : Long.MAX_VALUE;
        try {
            while (!interruption.requested() && !work.isFull() && System.nanoTime() < end && isAlive.getAsBoolean()) {
                look.run();
                long left = end - System.nanoTime();
                work.poll(left < PATIENCE.toNanos() ? Duration.ofNanos(Math.max(0, left)) : PATIENCE);
                console.flush();
            }
        } finally {
            work.ended();
        }
    }
}
