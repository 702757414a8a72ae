package io.bpf4j.loader.internal.attach;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.AttachTraits;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.KernelVersion;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Attaches programs to targets, and explains failures. <i>Thread-safe.</i> */
public final class Attacher {
    private final Host host;
    private final Features features;
    private final FunctionSites functions;

    public Attacher(Host host, Features features) {
        this(host, features, DebugFiles.standard());
    }

    Attacher(Host host, Features features, DebugFiles debugFiles) {
        this.host = host;
        this.features = features;
        this.functions = new FunctionSites(debugFiles, OpenFile.opener(host));
    }

    /**
     * Attaches.
     *
     * @param program the caller closes it; the kernel holds it for the link
     * @param name of the program, for messages
     * @param attachType the attach type that the program was loaded for
     * @throws AttachException if the attach fails; nothing is left attached
     */
    public Link attach(Fd program, String name, Optional<AttachType> attachType, AttachTarget target) {
        AttachRequest request =
                new AttachRequest(host, features, program, name + " to " + target.description(), attachType);
        LinkKinds.Row row = LinkKinds.of(target, host, functions);
        try {
            return row.kind().attach(request);
        } catch (SyscallException e) {
            throw new AttachException("attach " + request.description() + ": " + explain(e, row, request), e);
        }
    }

    /** The kernel's error, with an explanation if one is known. */
    private static String explain(SyscallException failure, LinkKinds.Row row, AttachRequest request) {
        String message = Objects.requireNonNullElse(failure.getMessage(), failure.call());
        String why = message + row.kind().refusal(failure.errno());
        // The kernel returns EINVAL for features that it doesn't know; a feature probe is worth its cost only then.
        return failure.errno() == Errno.EINVAL ? why + versionHint(row.since(), request) + featureHint(request) : why;
    }

    private static String versionHint(@Nullable KernelVersion needed, AttachRequest request) {
        KernelVersion running = request.host().version();
        return needed != null && running.compareTo(needed) < 0
                ? "; it needs Linux " + needed + ", but this is Linux " + running
                : "";
    }

    private static String featureHint(AttachRequest request) {
        return request.attachType()
                .flatMap(type -> AttachTraits.of(type).feature())
                .filter(request.features()::lacks)
                .map(feature -> "; this kernel does not have " + feature.description() + " (requires Linux >= "
                        + feature.since() + ")")
                .orElse("");
    }
}
