package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.AttachTraits;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.AttachType;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/**
 * A request to attach: the program and its attach type. <i>Immutable.</i>
 *
 * <p>Tested by {@code KernelLinkTest}.
 *
 * @param program its owner closes it
 * @param description the program and the target, for messages: {@code on_gc to uprobe at …}
 */
record AttachRequest(Host host, Features features, Fd program, String description, Optional<AttachType> attachType) {
    Kernel kernel() {
        return Kernel.of(host);
    }

    <R> R execute(Command<R> command) {
        return kernel().execute(command);
    }

    /** The exception for an invalid request, or for a feature that the kernel lacks. */
    AttachException refused(String why) {
        return new AttachException("attach " + description + ": " + why);
    }

    Link link(LinkCommand.Create create) {
        return KernelLink.of(this, execute(create));
    }

    int index(NetDevice device) {
        return index(kernel(), device);
    }

    static int index(Kernel kernel, NetDevice device) {
        return device.index()
                .orElseGet(() ->
                        kernel.execute(new FileCommand.DeviceIndex(device.name().orElseThrow())));
    }

    /** The file descriptor of a public program, which the program closes. */
    static Fd fd(ProgramHandle program) {
        return program.unwrap(Fd.class).orElseThrow();
    }

    Fd open(Path path) {
        return execute(new FileCommand.Open(path, OpenFlags.RDONLY | OpenFlags.NONBLOCK));
    }

    /** A link that it takes an open file to make; nothing is left of it if the file can't be closed. */
    Link through(Path path, Function<Fd, Link> linking) {
        try (Fd file = open(path)) {
            Link link = linking.apply(file);
            return UndoStack.closing(link, link::close, file::close);
        }
    }

    /** The attach type of the target, or else of the program. */
    AttachType requiredType(Optional<AttachType> ofTarget, String section) {
        return ofTarget.or(this::attachType)
                .orElseThrow(
                        () -> refused("the attach type that the program was loaded for is unknown; set it by SEC(\""
                                + section + "\"), by the target, or by Program.forAttachType"));
    }

    /** The type that the program was loaded for, if it is one for a link of many such sites. */
    Optional<AttachType> manyType(String sites) {
        return attachType.filter(type -> AttachTraits.of(type).many().equals(sites));
    }

    /** Refuses a program for a link of many functions; {@code probes} as for {@link #multiType}. */
    void requireSingle(String probes) {
        if (manyType(probes).isPresent()) {
            throw refused(
                    "the program was loaded for a link of many " + probes + "s, which can't change after the load;"
                            + " use SEC(\"" + probes + "\") for single " + probes + "s");
        }
    }

    /**
     * The attach type of a link to many functions, which is the program's own.
     *
     * @param returns whether the target is for returns alone
     * @param probes the kind of the functions' probes, for messages: {@code uprobe}
     */
    AttachType multiType(boolean returns, String probes) {
        AttachType type = manyType(probes)
                .orElseThrow(() -> refused("the program was loaded for single " + probes + "s; use SEC(\"" + probes
                        + ".multi\") for a link of many"));
        if (AttachTraits.of(type).session() && returns) {
            throw refused("a session program runs on entry and on return; it can't be attached to returns alone");
        }
        return type;
    }

    /** Creates a link of the attach type that the program was loaded for. */
    LinkCommand.Create create(AttachType type, LinkCommand.Details details) {
        return LinkCommand.Create.of(description, program, type.number(), details);
    }
}
