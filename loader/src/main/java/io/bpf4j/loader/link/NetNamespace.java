package io.bpf4j.loader.link;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.kernel.AttachType;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A network namespace; {@code SEC("sk_lookup")} (SK_LOOKUP, Linux 5.9; several programs) and {@code
 * SEC("flow_dissector")} (FLOW_DISSECTOR, Linux 5.8; one).
 */
public sealed interface NetNamespace extends AttachTarget {
    /** A namespace by its file, such as {@code /proc/PID/ns/net} or {@code /run/netns/NAME}. */
    static NetNamespace of(Path file) {
        return new NetNamespaceData(file, Optional.empty());
    }

    /** The network namespace of this process. */
    static NetNamespace own() {
        return of(Host.running().self().resolve("ns/net"));
    }

    Path file();

    /** Empty for the program's own attach type. */
    Optional<AttachType> attachType();

    /** For {@code Links.attachedTo}: {@link AttachType#FLOW_DISSECTOR} or {@link AttachType#SK_LOOKUP}. */
    default NetNamespace withAttachType(AttachType type) {
        return new NetNamespaceData(file(), Optional.of(type));
    }
}

record NetNamespaceData(Path file, Optional<AttachType> attachType) implements NetNamespace {
    @Override
    public String description() {
        return "network namespace " + file;
    }
}
