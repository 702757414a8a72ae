package io.bpf4j.trace;

import io.bpf4j.process.Reasons;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A question that is attached to the probes of its {@link Target} as they appear: decides which, and remembers what was
 * not attached to. <i>Thread-safe.</i>
 */
final class FollowedQuestion implements Following.Listener, AutoCloseable {
    private final RunningProgram program;
    private final List<ProbePattern> patterns;
    private final List<UsdtProbe> known;
    private final Set<ProbePattern> unmatched;
    private final Reasons failures = new Reasons();
    private final Following following;

    private FollowedQuestion(Question question, Target target, RunningProgram program) throws IOException {
        this.program = program;
        this.patterns = question.expected;
        this.known = question.probes;
        this.unmatched = new LinkedHashSet<>(patterns);
        this.following = Following.start(program, target, question.functions, question.features, this);
    }

    /**
     * Attaches a program to its target, and lets a command run.
     *
     * @return the caller's to close, after {@link #stop}
     * @throws UsdtException if the command can't be started
     */
    static FollowedQuestion start(Question question, Target target, RunningProgram program) {
        program.setCounting(target.pid().isPresent());
        try {
            FollowedQuestion followed = new FollowedQuestion(question, target, program);
            followed.following.release();
            return followed;
        } catch (IOException e) {
            throw new UsdtException("ask a question: " + e.getMessage(), e);
        }
    }

    /** The probes that the target has now. A script has none. */
    static List<UsdtProbe> known(Target target, List<ProbePattern> patterns) throws IOException {
        return target.scan().stream()
                .flatMap(scan -> matching(scan, patterns).stream())
                .toList();
    }

    /** Without those of files that can't be attached to, such as those for another machine, which an emulator maps. */
    private static List<UsdtProbe> matching(UsdtScan scan, List<ProbePattern> patterns) {
        return patterns.isEmpty()
                ? List.of()
                : scan.matching(patterns).probes().stream()
                        .filter(probe -> probe.binary().refusal().isEmpty())
                        .toList();
    }

    @Override
    public synchronized List<UsdtProbe> select(UsdtScan appeared) {
        List<UsdtProbe> selected = matching(appeared, patterns);
        unmatched.removeIf(pattern -> selected.stream().anyMatch(pattern::matches));
        return selected;
    }

    @Override
    public List<UsdtProbe> known() {
        return known;
    }

    @Override
    public void started() {
        program.setCounting(true);
    }

    @Override
    public void failed(Diagnostic why) {
        failures.add(why);
    }

    boolean isAlive() {
        return following.isAlive();
    }

    /** Why probes are not attached to; {@link Following#gaps} has the other reasons. */
    synchronized List<Diagnostic> gaps() {
        List<Diagnostic> own = new ArrayList<>(failures.toList());
        unmatched.forEach(pattern -> own.add(new Diagnostic(
                Diagnostic.Kind.NOT_ATTACHED,
                pattern.toString(),
                "no file of the followed processes has a probe " + pattern)));
        return own;
    }

    void stop() {
        following.stop();
    }

    @Override
    public void close() {
        following.close();
    }
}
