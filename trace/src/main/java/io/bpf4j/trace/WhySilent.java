package io.bpf4j.trace;

import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.JvmProbes;
import io.bpf4j.usdt.UsdtProbe;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * Why probes that are attached to may stay silent: a JVM lacks a flag, or the process of the question leaves the work
 * to its children. <i>Thread-safe.</i>
 *
 * <p>The flags are read on request, and without a lock: a process can make a reader of its command line wait, since the
 * command line is a part of its memory.
 *
 * <p>Tested by {@code WhySilentTest}, and by {@code HintsOnKernelTest}.
 */
final class WhySilent {
    private final Host host;
    private final Tasks tasks;

    /** Processes whose flags were not read yet, with their probes that need some. */
    private final List<Jvm> unread = new ArrayList<>();

    /** The flags that processes lack. */
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

    /** @param start distinguishes the process from a later one with the same pid; empty if it has ended */
    private record Jvm(int pid, OptionalLong start, List<UsdtProbe> probes) {}

    WhySilent(Host host) {
        this.host = host;
        this.tasks = new Tasks(host);
    }

    /** Notes that the processes of a target are attached to from now on. */
    synchronized void follows(Target target) {
        following = true;
        root = target.pid();
        withChildren = target.children();
    }

    /**
     * Notes an attachment.
     *
     * @param probes the USDT probes; empty for functions
     * @param pid empty for all processes
     */
    synchronized void attached(List<UsdtProbe> probes, OptionalInt pid) {
        if (pid.isPresent() && !withChildren) {
            processes.add(pid.getAsInt());
        }
        List<UsdtProbe> withFlag = probes.stream()
                .filter(probe -> JvmProbes.flagFor(probe).isPresent())
                .toList();
        if (withFlag.isEmpty()) {
            return;
        }
        // A process that appears may still have the command line of the program before its exec.
        if (pid.isPresent() && (!following || pid.equals(root))) {
            unread.add(new Jvm(pid.getAsInt(), tasks.start(pid.getAsInt()), withFlag));
        } else {
            need(withFlag);
        }
    }

    /** Of several attachments the same flag may have other probes as its example; it is said once. */
    private synchronized void need(List<UsdtProbe> probes) {
        JvmProbes.hints(probes).forEach(hint -> needed.putIfAbsent(hint.subject(), hint));
    }

    /**
     * The reasons.
     *
     * @param silent whether no event has come so far; asked only if that matters
     */
    List<Diagnostic> reasons(BooleanSupplier silent) {
        List<Jvm> jvms;
        synchronized (this) {
            jvms = List.copyOf(unread);
        }
        jvms.forEach(this::read);
        List<Diagnostic> reasons;
        List<Diagnostic> ifSilent;
        List<Integer> alone;
        synchronized (this) {
            unread.removeAll(jvms);
            reasons = new ArrayList<>(lacking.values());
            ifSilent = new ArrayList<>(needed.values());
            alone = List.copyOf(processes);
        }
        for (int pid : alone) {
            if (!tasks.childrenOf(pid).isEmpty()) {
                ifSilent.add(new Diagnostic(
                        Kind.LEFT_OUT,
                        "process " + pid,
                        "no event came from process " + pid + ", which has child processes"));
            } else if (Files.notExists(host.process(pid))) {
                // Such as a command that has forked, and waited for its children.
                ifSilent.add(new Diagnostic(
                        Kind.LEFT_OUT,
                        "process " + pid,
                        "no event came from process " + pid + ", and not from child processes that it may have had"));
            }
        }
        // Last, so that an event that comes meanwhile counts.
        if (!ifSilent.isEmpty() && silent.getAsBoolean()) {
            reasons.addAll(ifSilent);
        }
        return List.copyOf(reasons);
    }

    private void read(Jvm jvm) {
        List<Diagnostic> hints = JvmProbes.hints(jvm.probes(), host, jvm.pid());
        boolean itself = jvm.start().isPresent() && jvm.start().equals(tasks.start(jvm.pid()));
        if (!itself || hints.equals(JvmProbes.hints(jvm.probes()))) {
            need(jvm.probes()); // it has ended, or its flags are not all known
            return;
        }
        synchronized (this) {
            hints.forEach(hint -> lacking.putIfAbsent(hint.subject() + " " + jvm.pid(), hint));
        }
    }
}
