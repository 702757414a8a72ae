package io.bpf4j.usdt;

import io.bpf4j.process.DynamicLoaders;
import io.bpf4j.process.Reasons;
import io.bpf4j.process.Tasks;
import io.bpf4j.process.hold.ProcessStop;
import io.bpf4j.process.hold.ProcessTracer;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The processes that a watch holds when code appears in them, and their stops. It holds none if the watch was built
 * {@link UsdtWatch.Builder#withoutHolding}, or if the process can't be traced: then the watch only polls.
 * <i>Confined</i> to the thread of the watch, but for {@link #gaps} and {@link #close}, which any thread may call.
 *
 * <p>Tested by {@code UsdtWatchTest} and {@code UsdtWatchFaultsTest}.
 */
final class HeldProcesses implements AutoCloseable {
    private final Host host;
    private final Reasons gaps;
    private final BlockingQueue<ProcessStop> stops = new LinkedBlockingQueue<>();
    private final @Nullable ProcessTracer tracer;

    /**
     * Processes whose end the tracer reports. Polling may find the end earlier, but finds the ends of several processes
     * in any order: a process whose parent waits for it would seem to outlive the parent.
     */
    private final Set<Integer> held = new HashSet<>();

    /** Starts to hold processes, or adds the reason to the gaps. */
    HeldProcesses(UsdtWatch.Builder watch, Reasons gaps) {
        this.host = watch.host;
        this.gaps = gaps;
        @Nullable ProcessTracer started = null;
        String gap = "processes are polled every few milliseconds instead of being held";
        if (watch.holding) {
            try {
                started = ProcessTracer.start(host, watch.pid, watch.children, stops::add);
            } catch (SyscallException e) {
                // For a process that has ended the kernel returns EPERM until its parent has waited for it.
                gap += ": "
                        + (e.errno() == Errno.EPERM && !new Tasks(host).isRunning(watch.pid)
                                ? "process " + watch.pid + " has ended"
                                : e.getMessage());
            }
        }
        this.tracer = started;
        if (started == null) {
            gaps.add(new Diagnostic(Kind.LATE, "", gap));
        }
    }

    /** Whether processes are held, unless the tracer has failed since. */
    boolean isHolding() {
        return tracer != null;
    }

    /** Whether stops may still come. */
    boolean mayReport() {
        return tracer != null && (tracer.isTracing() || !stops.isEmpty());
    }

    /** The next stop, if there is one now. */
    Optional<ProcessStop> poll() {
        return taken(stops.poll());
    }

    /** Waits for the next stop. */
    Optional<ProcessStop> poll(long nanos) throws InterruptedException {
        return taken(stops.poll(nanos, TimeUnit.NANOSECONDS));
    }

    private Optional<ProcessStop> taken(@Nullable ProcessStop stop) {
        if (stop != null && stop.kind() == ProcessStop.Kind.BORN) {
            held.add(stop.pid());
        } else if (stop != null && stop.kind() == ProcessStop.Kind.ENDED) {
            held.remove(stop.pid());
        }
        return Optional.ofNullable(stop);
    }

    void resume(List<ProcessStop> stopped) {
        if (tracer != null) {
            stopped.forEach(tracer::resume);
        }
    }

    /** Stops a process whenever it reaches an instruction, as {@link ProcessTracer#breakAt} does. */
    void breakAt(int process, DynamicLoaders.Site site) {
        if (tracer != null) {
            tracer.breakAt(process, site.file(), site.identity(), site.offset());
        }
    }

    /** Whether the end of a process will be reported. */
    boolean contains(int process) {
        return held.contains(process);
    }

    /** Notes that the tracer has failed and reports no more ends. */
    void clear() {
        held.clear();
    }

    /** Keeps all processes that are traced: one whose second thread calls exec looks like a zombie for a moment. */
    Set<Integer> keepTraced() {
        Set<Integer> traced = tracer == null ? Set.of() : tracer.processes();
        held.addAll(traced);
        return traced;
    }

    /**
     * Leaves the end of a process to the tracer, if the process is traced: the tracer reports it even if the process
     * has not stopped yet. A child is not traced if it was created with CLONE_UNTRACED, or before its parent was traced
     * without being found then.
     *
     * @return whether the process is traced
     */
    boolean keepIfTraced(int process) {
        if (tracer == null) {
            return false;
        }
        if (held.contains(process) || tracer.processes().contains(process) || tracer.isTracing(process)) {
            held.add(process);
            return true;
        }
        if (tracer.isTracing() && new Tasks(host).isRunning(process)) {
            gaps.add(new Diagnostic(
                    Kind.LATE,
                    "",
                    "a child process is not held: it was created with CLONE_UNTRACED, or just before tracing"
                            + " started, or it has another tracer"));
        }
        return false;
    }

    /** The tracer's reasons why events may be missing. */
    List<Diagnostic> gaps() {
        return tracer == null ? List.of() : tracer.gaps();
    }

    /** Continues all processes, untraced. */
    @Override
    public void close() {
        if (tracer != null) {
            tracer.close();
        }
    }
}
