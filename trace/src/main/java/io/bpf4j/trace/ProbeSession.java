package io.bpf4j.trace;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Link.Closing;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * A BPF program in the kernel that can be attached to probes and detached from them while it runs. Closing it detaches
 * from all probes and unloads the program. <i>Thread-safe.</i>
 */
public interface ProbeSession extends AutoCloseable {
    /**
     * Attaches to probes: all of them, or none.
     *
     * @param pid the process to attach in; empty for every process that runs the file
     */
    UsdtLink attach(List<UsdtProbe> probes, OptionalInt pid);

    /**
     * Attaches to those probes whose files are still the ones that were read, in every process. Of the files of a whole
     * machine, some may have been removed or replaced since: a process ended, a package was upgraded.
     *
     * @param leftOut receives each other file ({@link Diagnostic.Kind#LEFT_OUT})
     * @throws io.bpf4j.sys.BpfException if attaching fails for another reason, or no file is left
     */
    default UsdtLink attachUnchanged(List<UsdtProbe> probes, Consumer<Diagnostic> leftOut) {
        return ChangedFiles.attachToOthers(probes, others -> attach(others, OptionalInt.empty()), leftOut);
    }

    /**
     * Attaches to entries and returns of functions: all of them, or none.
     *
     * @param pid the process to attach in; empty for every process that runs the file
     * @param leftOut receives the functions that are left out, because the kernel can't probe them
     * @throws UnsupportedOperationException if the session takes USDT probes only
     */
    default Link attachFunctions(List<FunctionProbe> functions, OptionalInt pid, Consumer<FunctionProbe> leftOut) {
        throw new UnsupportedOperationException("functions can't be traced, only counted");
    }

    /** Detaches from probes in the background, for instance from the probes of a process that has ended. */
    void detach(Link link);

    /** Detaches from probes. They no longer fire when this method has returned. */
    void close(Link link);

    /** Starts to detach from every probe; the program stays. */
    List<Closing> detach();

    /** Makes a thread that waits for events return. */
    void wakeup();

    /**
     * Continues all paused processes, although their events have not been delivered; from now on no process is paused. A
     * program that ends at once, without {@link #close}, has to call it. It may be called while another thread waits for
     * events.
     */
    default void resumePaused() {}

    @Override
    void close();
}
