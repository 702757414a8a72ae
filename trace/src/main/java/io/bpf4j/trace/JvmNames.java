package io.bpf4j.trace;

import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.trace.stack.PerfMap;
import io.bpf4j.trace.stack.Symbolizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/**
 * Asks JVMs for the names of their compiled methods, so that the symbolizer knows them. <i>Confined.</i>
 *
 * <p>Each JVM is asked once between two calls of {@link #forget}. A JVM may be too busy to answer, and any user can
 * start processes that look like JVMs and never answer. So all are asked at the same time, each by its own thread, and
 * one that did not answer is not asked again.
 *
 * <p>Tested by {@code CliStackTest} and {@code HostileJvmsTest}.
 */
final class JvmNames {
    private static final int MAX_JVMS = 64;

    private final Symbolizer symbolizer;
    private final Host host = Host.running();
    private final Set<Integer> asked = new HashSet<>();
    /** The JVMs whose last request failed. */
    private final Set<Integer> unanswered = new HashSet<>();

    /** The JVMs that have ever answered: their names are known even if they have ended. */
    private final Set<Integer> answered = new HashSet<>();

    private int jvmsLeft = MAX_JVMS;
    private final Duration patience;
    private boolean failureReported;
    private final Set<Diagnostic> problems = new LinkedHashSet<>();

    /** @param patience how long to wait for the answer of one JVM; zero to ask none */
    JvmNames(Symbolizer symbolizer, Duration patience) {
        this.symbolizer = symbolizer;
        this.patience = patience;
    }

    /** Lets {@link #ask} ask the JVMs again that answered, because they may have compiled more methods. */
    void forget() {
        asked.clear();
        asked.addAll(unanswered);
        jvmsLeft = MAX_JVMS;
    }

    /**
     * Asks the JVMs among some processes that have not been asked yet. As root this process may ask all JVMs, else only
     * those of the same user.
     *
     * @param pids the processes, those first whose names matter most
     * @param asking gets the pid of each JVM that is asked
     */
    void ask(Collection<Integer> pids, Consumer<Integer> asking) {
        if (patience.isZero()) {
            return;
        }
        List<Integer> jvms =
                pids.stream().filter(pid -> asked.add(pid) && mayAsk(pid)).toList();
        List<Integer> chosen = jvms.subList(0, Math.min(jvmsLeft, jvms.size()));
        jvmsLeft -= chosen.size();
        chosen.forEach(asking);
        Map<Integer, Exception> failures = new ConcurrentHashMap<>();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(
                Thread.ofPlatform().name("bpf4j-jvm-", 0).daemon().factory())) {
            chosen.forEach(pid -> threads.execute(() -> request(pid, failures)));
        }
        unanswered.addAll(failures.keySet());
        chosen.stream().filter(pid -> !failures.containsKey(pid)).forEach(answered::add);
        // In the order of the processes, so that the one whose names matter most is named.
        chosen.stream()
                .filter(failures::containsKey)
                .forEach(pid -> failed(pid, Objects.requireNonNull(failures.get(pid))));
        int notAsked = jvms.size() - chosen.size();
        if (notAsked > 0) {
            problems.add(new Diagnostic(
                    Diagnostic.Kind.UNNAMED,
                    "",
                    "compiled Java methods of " + notAsked + (notAsked == 1 ? " JVM" : " JVMs")
                            + " may have no names: at most " + MAX_JVMS + " JVMs are asked"));
        }
    }

    /** Why compiled methods may have no names. */
    List<Diagnostic> problems() {
        return List.copyOf(problems);
    }

    /** Asks a JVM, and reads its list. */
    private void request(int pid, Map<Integer, Exception> failures) {
        try (PerfMap _ = PerfMap.request(host, pid, patience)) {
            symbolizer.remember(pid);
        } catch (IOException | RuntimeException e) {
            failures.put(pid, e);
        }
    }

    private void failed(int pid, Exception failure) {
        if (new Tasks(host).isRunning(pid)) {
            unnamed(pid, String.valueOf(failure.getMessage()));
        } else {
            ended(pid);
        }
    }

    private void ended(int pid) {
        if (!answered.contains(pid) && symbolizer.isJvm(pid)) {
            unnamed(pid, "process " + pid + ", a JVM, ended before it was asked for them");
        }
    }

    /** Keeps the first reason only, because others usually have the same cause. */
    private void unnamed(int pid, String why) {
        if (!failureReported) {
            failureReported = true;
            problems.add(new Diagnostic(
                    Diagnostic.Kind.UNNAMED,
                    "process " + pid,
                    "frames of compiled Java methods may have no names: " + why));
        }
    }

    private boolean mayAsk(int pid) {
        try {
            int own = user(host.self());
            return (own == 0 || own == user(host.process(pid))) && symbolizer.isJvm(pid);
        } catch (IOException | UnsupportedOperationException e) {
            ended(pid);
            return false;
        }
    }

    private static int user(Path process) throws IOException {
        return (Integer) Files.getAttribute(process, "unix:uid");
    }
}
