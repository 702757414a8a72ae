package io.bpf4j.trace;

import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.JvmProbes;
import io.bpf4j.usdt.UsdtProbe;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * Why probes that are attached to may stay silent: a JVM lacks a flag, or the process of the question leaves the work
 * to its children. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code WhySilentTest}, and by {@code HintsOnKernelTest}.
 */
final class WhySilent {
    private final Host host;

    /** The flags that processes lack. They are read when the probes are attached, because the process may end. */
    private final Map<String, Diagnostic> lacking = new LinkedHashMap<>();

    /** The flags that probes need, in whatever process. */
    private final Map<String, Diagnostic> needed = new LinkedHashMap<>();

    /** The processes that are attached to without their children. */
    private final Set<Integer> processes = new TreeSet<>();

    /** Whether the processes are those of a target, in which more may appear. */
    private boolean following;

    /** The process of the target, if it is one that runs. */
    private OptionalInt root = OptionalInt.empty();

    private boolean withChildren;

    WhySilent(Host host) {
        this.host = host;
    }

    /** The processes of a target are attached to from now on. */
    synchronized void follows(Target target) {
        following = true;
        root = target.pid();
        withChildren = target.children();
    }

    /**
     * Something was attached to.
     *
     * @param probes the USDT probes; empty for functions
     * @param pid empty for all processes
     */
    void attached(List<UsdtProbe> probes, OptionalInt pid) {
        List<Diagnostic> any = JvmProbes.hints(probes);
        boolean known;
        synchronized (this) {
            if (pid.isPresent() && !withChildren) {
                processes.add(pid.getAsInt());
            }
            // A process that appears may still have the command line of the program before its exec.
            known = pid.isPresent() && (!following || pid.equals(root));
        }
        if (any.isEmpty()) {
            return;
        }
        List<Diagnostic> hints = known ? JvmProbes.hints(probes, host, pid.getAsInt()) : any;
        synchronized (this) {
            for (Diagnostic hint : hints) { // of several attachments the same flag may have other probes as its example
                if (known && !any.contains(hint)) {
                    lacking.putIfAbsent(hint.subject() + " " + pid, hint);
                } else {
                    needed.putIfAbsent(hint.subject(), hint);
                }
            }
        }
    }

    /**
     * The reasons.
     *
     * @param silent whether no event has come so far; asked only if that matters
     */
    List<Diagnostic> reasons(BooleanSupplier silent) {
        List<Diagnostic> reasons;
        List<Diagnostic> ifSilent;
        List<Integer> alone;
        synchronized (this) {
            reasons = new ArrayList<>(lacking.values());
            ifSilent = new ArrayList<>(needed.values());
            alone = List.copyOf(processes);
        }
        Tasks tasks = new Tasks(host);
        for (int pid : alone) {
            if (!tasks.childrenOf(pid).isEmpty()) {
                ifSilent.add(new Diagnostic(
                        Kind.LEFT_OUT,
                        "process " + pid,
                        "no event came from process " + pid + ", which has child processes"));
            }
        }
        // Last, so that an event that comes meanwhile counts.
        if (!ifSilent.isEmpty() && silent.getAsBoolean()) {
            reasons.addAll(ifSilent);
        }
        return List.copyOf(reasons);
    }
}
