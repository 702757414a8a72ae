package io.bpf4j.process.hold;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.process.hold.ProcessStop.Kind;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Capability;
import io.bpf4j.sys.internal.call.ProcessCommand;
import io.bpf4j.sys.internal.call.ProcessRights;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.Errno;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Stops a process, and optionally its descendants, when code is mapped into it: at its creation, at exec, and at
 * breakpoints, such as the one that the dynamic loader has for debuggers. Programs attached while a process is stopped
 * see everything that it does afterwards. <i>Thread-safe.</i>
 *
 * <p>It uses ptrace(2), which other processes do not notice: a parent that waits for stops ({@code WUNTRACED}) sees
 * none of these stops, SIGCONT does not end them, and signals, other stops and exit codes are unchanged. When this
 * process ends, even by SIGKILL, the kernel continues all stopped processes. The cost: another tracer (strace, gdb)
 * can't trace a traced process, and each signal that it gets, even an ignored one, takes two context switches.
 *
 * <p>It needs CAP_SYS_PTRACE: without it, programs that are set-user-ID would run without those rights while they are
 * traced. Breakpoints also need CAP_BPF, CAP_PERFMON and Linux 5.6.
 *
 * <p>Closing continues all processes, untraced.
 */
public final class ProcessTracer implements AutoCloseable {
    private static final List<Capability> TRACING = List.of(Capability.CAP_SYS_PTRACE);

    private final Host host;
    private final Consumer<ProcessStop> onStop;
    private final TracerThread thread;
    private final Map<Integer, StopSignal> breakpoints = new ConcurrentHashMap<>();

    /** The missed hits of breakpoints that were removed. */
    private StopSignal.Missed missed = StopSignal.Missed.NONE;

    private ProcessTracer(Host host, boolean withChildren, Consumer<ProcessStop> onStop) {
        this.host = host;
        this.onStop = onStop;
        this.thread = new TracerThread(host, withChildren, this::isHeld);
    }

    private boolean isHeld(ProcessStop stop) {
        @Nullable StopSignal breakpoint = breakpoints.get(stop.pid());
        if (stop.kind() == Kind.BREAKPOINT && (breakpoint == null || !breakpoint.claim())) {
            return false;
        }
        if (stop.kind() == Kind.ENDED || stop.isRenumbered()) {
            forget(stop.pid(), stop.kind() == Kind.ENDED);
        }
        onStop.accept(stop);
        return true;
    }

    /**
     * Starts to trace a process with all its threads, without stopping it.
     *
     * @param host the machine that it runs on
     * @param withChildren whether to trace its descendants, too: existing ones and all created later
     * @param onStop called for each stop, on the tracer's thread, which serves all traced processes: it must only pass
     *     the stop to another thread, which attaches and then calls {@link #resume}
     * @throws SyscallException if the process can't be traced: it has ended, another process traces it, or rights are
     *     missing
     */
    public static ProcessTracer start(Host host, int pid, boolean withChildren, Consumer<ProcessStop> onStop) {
        ProcessRights rights = ProcessRights.of(host);
        if (!rights.lacking(TRACING).isEmpty()) {
            throw refused(pid, rights.whyRefused(TRACING));
        }
        long self = ProcessHandle.current().pid();
        if (ProcessHandle.of(pid).flatMap(ProcessHandle::parent).stream().anyMatch(parent -> parent.pid() == self)) {
            throw refused(
                    pid,
                    "it is a child of this process: Java waits for its end, and would mistake a stop for the end;"
                            + " start it with HeldCommand");
        }
        ProcessTracer tracer = new ProcessTracer(host, withChildren, onStop);
        tracer.thread.start(pid);
        return tracer;
    }

    private static SyscallException refused(int pid, String why) {
        return new SyscallException(new ProcessCommand.Seize(pid, 0).call(), Errno.EPERM.number(), why);
    }

    /** Continues a stopped thread. Does nothing if the thread was killed meanwhile. */
    public void resume(ProcessStop stop) {
        thread.resume(stop);
    }

    /**
     * From now on stops each thread of a process that reaches an instruction. A process has one such breakpoint; a new
     * one replaces it. It survives exec as long as the process keeps its first thread.
     *
     * @param pid a traced process; a process that has ended, or is not traced, gets no breakpoint
     * @param file path by which the kernel finds the file
     * @param identity identity that the file must have
     * @param offset of the instruction, bytes from the start of the file
     * @throws BpfException if the kernel lacks the feature or refuses; an older breakpoint is removed then
     */
    public void breakAt(int pid, Path file, FileIdentity identity, long offset) {
        if (!isTraced(pid)) {
            return;
        }
        @Nullable StopSignal before = breakpoints.get(pid);
        if (before != null && before.isAt(identity, offset)) {
            return;
        }
        forget(pid, false);
        breakpoints.put(pid, StopSignal.attach(host, Features.of(host), pid, file, identity, offset));
        if (!isTraced(pid)) {
            forget(pid, true); // its end has been reported meanwhile
        }
    }

    private boolean isTraced(int pid) {
        return thread.processes().contains(pid);
    }

    /**
     * The processes that are traced, and have not ended. A child is among them from {@link ProcessStop.Kind#BORN} on,
     * so there may be none for a moment while {@link #isTracing} is true. Empty when the tracer has ended.
     *
     * @return a copy
     */
    public Set<Integer> processes() {
        return thread.processes();
    }

    /**
     * Whether any process is traced; a child is from its creation on. False when the last one has ended, and no more
     * stops will be reported.
     */
    public boolean isTracing() {
        return thread.isTracing();
    }

    /** Whether the kernel reports a process as traced by this tracer. A child is traced before its first stop. */
    public boolean isTracing(int pid) {
        return thread.isTracing(pid);
    }

    /** Why a thread may have continued without being stopped; empty if none did. */
    public List<Diagnostic> gaps() {
        List<Diagnostic> gaps = new ArrayList<>(thread.gaps());
        StopSignal.Missed all = missed();
        addGap(gaps, all.blocked(), "reached a breakpoint with SIGURG blocked, and could not be stopped");
        addGap(gaps, all.others(), "reached a breakpoint and was not stopped, for an unknown reason");
        return gaps;
    }

    private static void addGap(List<Diagnostic> gaps, long times, String event) {
        if (times > 0) {
            gaps.add(new Diagnostic(
                    Diagnostic.Kind.LATE, "", (times == 1 ? "once" : times + " times") + " a thread " + event));
        }
    }

    private synchronized StopSignal.Missed missed() {
        return breakpoints.values().stream()
                .map(signal -> signal.missed(false))
                .reduce(missed, StopSignal.Missed::plus);
    }

    private synchronized void forget(int pid, boolean ended) {
        @Nullable StopSignal signal = breakpoints.remove(pid);
        try (signal) { // also if the kernel does not report how many it missed
            if (signal != null) {
                missed = missed.plus(signal.missed(ended));
            }
        }
    }

    /**
     * Continues all processes, untraced. The tracing thread may outlive this call if every process blocks SIGURG or is
     * stopped: it then ends at the next event of one of them.
     */
    @Override
    public void close() {
        try (UndoStack all = new UndoStack()) {
            List.copyOf(breakpoints.keySet()).forEach(pid -> all.push(() -> forget(pid, false)));
            all.push(thread::close);
        }
    }
}
