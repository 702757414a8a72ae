package io.bpf4j.usdt;

import io.bpf4j.process.DynamicLoaders;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.Reasons;
import io.bpf4j.process.Tasks;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.util.Optional;

/**
 * Breakpoints in the dynamic loaders of held processes: a process stops there when it has mapped a library. Where no
 * breakpoint can be set, the libraries are found by polling, and the gaps say so. <i>Confined.</i>
 *
 * <p>Tested by {@code CliFirstEventsTest}.
 */
final class LoaderBreakpoints {
    private final Host host;
    private final HeldProcesses held;
    private final Reasons gaps;
    private final DynamicLoaders loaders;

    LoaderBreakpoints(Host host, HeldProcesses held, Reasons gaps) {
        this.host = host;
        this.held = held;
        this.gaps = gaps;
        this.loaders = new DynamicLoaders(host);
    }

    /** How a process was started; empty if that is unknown, or the process is not held. */
    Optional<DynamicLoaders.Start> startOf(int process) {
        if (!held.isHolding()) {
            return Optional.empty();
        }
        try {
            return Optional.of(loaders.start(process));
        } catch (IOException e) {
            addGap(process, e);
            return Optional.empty();
        }
    }

    /** Sets the breakpoint of a process, unless its program is static. */
    void set(int process, DynamicLoaders.Start start, MappedFile loader) {
        try {
            loaders.of(start, loader).ifPresent(place -> held.breakAt(process, place));
        } catch (BpfException | IOException e) {
            addGap(process, e);
        }
    }

    private void addGap(int process, Exception cause) {
        if (new Tasks(host).isRunning(process)) {
            gaps.add(new Diagnostic(
                    Kind.LATE,
                    "",
                    "libraries that a process loads later are found by polling every few milliseconds: "
                            + cause.getMessage()));
        }
    }
}
