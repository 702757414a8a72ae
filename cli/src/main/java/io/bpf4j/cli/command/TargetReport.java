package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Text;
import io.bpf4j.cli.question.AnswerReport;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.RunningProgram;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Reports, on standard error, which probes a run attaches to and which it can't attach to. <i>Thread-safe</i>: a thread
 * that follows processes reports, too.
 *
 * <p>Tested by {@code CliTraceTest}, {@code CliFunctionsTest} and {@code CliFollowTest}.
 */
final class TargetReport {
    /** A shell reports a signal as this status plus the signal's number. */
    private static final int SIGNAL_STATUS = 128;

    /** The signals that end a failing program. */
    private static final Map<Integer, String> FAILURES =
            Map.of(4, "SIGILL", 5, "SIGTRAP", 6, "SIGABRT", 7, "SIGBUS", 8, "SIGFPE", 9, "SIGKILL", 11, "SIGSEGV");

    private final Console console;
    private final TargetOptions options;

    private volatile boolean attachedAny;

    /** Whether USDT probes were attached, not only functions. */
    private volatile boolean attachedProbes;

    /** Whether the child process has not executed the command yet, and so has not mapped the command's files. */
    private volatile boolean beforeExec;

    /** The names and problems that were reported; child processes and libraries often have the same ones. */
    private final Set<String> reported = ConcurrentHashMap.newKeySet();

    /** The number of functions that the kernel can't probe. */
    private final AtomicInteger leftOut = new AtomicInteger();

    TargetReport(Console console, TargetOptions options) {
        this.console = console;
        this.options = options;
    }

    void beforeExec(boolean isBefore) {
        beforeExec = isBefore;
    }

    /** Whether anything was attached to. */
    boolean attachedAny() {
        return attachedAny;
    }

    /** Notes that functions were attached to. */
    void attachedFunctions() {
        attachedAny = true;
    }

    /** Reports how many functions are counted. */
    void functions(int functions) {
        if (functions > 0) {
            console.error("bpf4j: tracing " + Scans.count(functions - leftOut.get(), "function") + "; Ctrl-C ends");
        }
    }

    /** Reports a function that the kernel can't probe. */
    void leftOut(FunctionProbe function) {
        leftOut.incrementAndGet();
        console.remark(
                Text.printable(function.toString()) + " is left out: the kernel can't probe its first instruction");
    }

    /** Writes to standard error, so that standard output has only events and can be piped into another program. */
    void attached(UsdtLink link) {
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

    /** Reports probes that could not be attached to. */
    void failed(Diagnostic why) {
        if (reported.add(why.message())) {
            console.remark(why);
        }
    }

    /**
     * Reports a target that failed, or that an exception may have ended because it could not unwind to a caller.
     *
     * @param ofCommand how the command ended; empty if it runs, or there is none
     */
    void end(OptionalInt ofCommand, boolean risky) {
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
     * Remarks which probes may stay silent because a JVM lacks a flag, and says which do not count what they are meant to:
     * at once, since a user may wait long for an event. Without a process every JVM may have the flag, so only -v names it
     * before the end.
     */
    void flags(RunningProgram program) {
        if (options.process().isPresent() || options.verbose()) {
            program.hints().stream()
                    .filter(hint -> hint.kind() == Diagnostic.Kind.MAY_NOT_FIRE)
                    .forEach(console::remark);
            // No remark, because the answer has it among its gaps.
            program.reasonsForGaps().stream()
                    .filter(gap -> gap.kind() == Diagnostic.Kind.INEXACT)
                    .forEach(gap -> console.error("bpf4j: " + gap.message()));
        }
    }

    /**
     * Remarks what a reader of the whole answer should know; what is known from the start is not said twice. Of files on
     * the command line no others are traced with {@code --follow} either.
     */
    static void hints(Console console, TargetOptions options, RunningProgram program) {
        program.hints().stream()
                .map(hint -> hint.kind() == Diagnostic.Kind.LEFT_OUT
                                && (hint.subject().startsWith("process ")
                                        || options.files().isEmpty())
                        ? new Diagnostic(hint.kind(), hint.subject(), hint.message() + "; --follow traces these, too")
                        : hint)
                .forEach(console::remark);
    }

    /** Whether the traced process still exists. */
    boolean targetExists() {
        OptionalInt process = options.process();
        return process.isEmpty() || new Tasks(Host.running()).isRunning(process.getAsInt());
    }

    /**
     * The gaps of a question that has no answer. That it counted no events does not mean that there were none, so a sum
     * of many answers must not take it for exact.
     */
    static List<Diagnostic> withoutAnswer(List<Diagnostic> gaps) {
        return Stream.concat(
                        gaps.stream(),
                        Stream.of(new Diagnostic(
                                Diagnostic.Kind.NOT_ATTACHED,
                                "",
                                "nothing was attached for the question, or for a part of it")))
                .toList();
    }

    /** Why nothing was attached to. */
    String nothingAttached(List<UsdtScan> scans, List<Diagnostic> gaps) {
        return noProbe(target(), anyOf(options.patterns()), gaps)
                + whyNone(scans, options.patterns())
                + (options.follow() || options.groups().isPresent()
                        ? ""
                        : "; --follow traces its child processes, too");
    }

    private String target() {
        return options.groups().isPresent()
                ? "a process of " + options.processes()
                : options.command().isEmpty() ? "process " + options.process().orElseThrow() : "the command";
    }

    private static String anyOf(List<ProbePattern> patterns) {
        return String.join(" or ", patterns.stream().map(ProbePattern::toString).toList());
    }

    /**
     * Reports the probes that have not been found so far; a library that is loaded later may have them. This is no
     * remark: the end of the answer says which probes were never found.
     */
    void nothingYet(List<UsdtScan> scans, List<ProbePattern> unmatched) {
        if (!unmatched.isEmpty()) {
            console.error("bpf4j: " + (attachedAny ? "" : "nothing is attached yet: ") + "no probe " + anyOf(unmatched)
                    + " in " + target() + " or in the libraries that it has loaded so far" + whyNone(scans, unmatched)
                    + (attachedAny ? "" : "; waiting for one; Ctrl-C ends"));
        }
    }

    /** Says which functions are in files that no process has mapped so far. */
    void notMappedYet(Map<FileIdentity, List<FunctionProbe>> functions, Set<FileIdentity> notMapped) {
        functions.forEach((file, ofFile) -> {
            if (notMapped.contains(file)) {
                console.error("bpf4j: no traced process has mapped the file of " + ofFile.getFirst()
                        + " so far; waiting for one");
            }
        });
    }

    /**
     * Reports the patterns that no file matches. Returns why there is no answer, if an answer requires all patterns.
     */
    Optional<String> unmatched(List<ProbePattern> unmatched, boolean needsAll) {
        if (!unmatched.isEmpty() && needsAll) {
            return Optional.of("no traced file has a probe " + unmatched.getFirst()
                    + ", so no time from one probe to the other was measured");
        }
        unmatched.forEach(pattern -> console.remark("no traced file has a probe " + pattern));
        return Optional.empty();
    }

    /**
     * Reports the functions whose files no process was seen to map; functions are attached to before their files are
     * mapped. Returns why there is no answer, if no file of a function was mapped.
     */
    Optional<String> notMapped(Map<FileIdentity, List<FunctionProbe>> functions, Set<FileIdentity> notMapped) {
        List<String> missing = functions.entrySet().stream()
                .filter(file -> notMapped.contains(file.getKey()))
                .flatMap(file -> file.getValue().stream().limit(1))
                .map(function -> "no traced process was seen to map the file of " + Text.printable(function.toString()))
                .toList();
        if (!missing.isEmpty() && missing.size() == functions.size() && !attachedProbes) {
            return Optional.of(missing.getFirst()
                    + (options.follow() || options.groups().isPresent()
                            ? ""
                            : "; --follow traces child processes, too"));
        }
        missing.forEach(console::remark);
        return Optional.empty();
    }

    /**
     * The message that no probe was found. A process that was not held may have had the probes, and ended unnoticed.
     */
    private static String noProbe(String target, String probes, List<Diagnostic> gaps) {
        return gaps.isEmpty()
                ? "no probe " + probes + " in " + target + " or in the libraries that it loaded"
                : "no probe " + probes + " was found in " + target + " and the libraries that it loads; processes and"
                        + " libraries that existed for only a few milliseconds were not searched: "
                        + AnswerReport.because(gaps);
    }

    /** The reason why the files lack the first probe, with the nearest name. */
    private static String whyNone(List<UsdtScan> scans, List<ProbePattern> patterns) {
        return scans.stream()
                .filter(scan -> !scan.probes().isEmpty())
                .map(scan -> scan.matching(patterns.getFirst()))
                .filter(scan -> scan.probes().isEmpty())
                .findFirst()
                .map(scan -> "; " + scan.whyNone())
                .orElse("");
    }
}
