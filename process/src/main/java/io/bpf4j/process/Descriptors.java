package io.bpf4j.process;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.sys.internal.proc.StatusFile;
import java.io.IOException;
import java.nio.file.Files;

/**
 * The descriptors of this process, by its files in {@code /proc}.
 *
 * <p>Tested by {@code OutputFileTest}.
 */
public final class Descriptors {
    private Descriptors() {}

    /**
     * Whether a descriptor is a pipe that this process got from the one that started it. An inherited descriptor does
     * not have the flag that closes it at execve(2); those that this process opens have it.
     *
     * @throws IOException if there is no such descriptor
     */
    public static boolean isInheritedPipe(Host host, int number) throws IOException {
        String target =
                Files.readSymbolicLink(host.self().resolve("fd/" + number)).toString();
        String flags = StatusFile.ofDescriptor(host.self(), number).field("flags");
        return target.startsWith("pipe:") && !flags.isEmpty() && (Long.parseLong(flags, 8) & OpenFlags.CLOEXEC) == 0;
    }
}
