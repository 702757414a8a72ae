package io.bpf4j.loader.internal.attach;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.OpenFlags;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.link.TargetFile;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A file held by a descriptor. <i>Thread-safe.</i> */
public final class HeldFile implements OpenFile {
    private static final String DESCRIPTORS = "/proc/self/fd/";
    private static final Pattern DESCRIPTOR = Pattern.compile(DESCRIPTORS + "([0-9]{1,9})");

    private final Fd fd;
    private final TargetFile target;
    private final FileIdentity identity;

    private HeldFile(Fd fd, TargetFile target, FileIdentity identity) {
        this.fd = fd;
        this.target = target;
        this.identity = identity;
    }

    /**
     * Opens a file.
     *
     * @param name what messages call it
     * @throws io.bpf4j.loader.error.SyscallException if it can't be opened
     */
    public static HeldFile open(Kernel kernel, Path path, String name) {
        // Not blocking: a FIFO that took the file's place would wait for somebody to write.
        Fd fd = kernel.execute(new FileCommand.Open(path.toString(), OpenFlags.RDONLY | OpenFlags.NONBLOCK));
        try {
            FileIdentity identity = kernel.execute(new FileCommand.Identify(fd));
            return new HeldFile(fd, new TargetFile(Path.of(DESCRIPTORS + fd.number()), name), identity);
        } catch (RuntimeException e) {
            fd.close();
            throw e;
        }
    }

    /** The number of a path that is nothing but an open descriptor of this process. */
    static OptionalInt descriptor(Path path) {
        Matcher matcher = DESCRIPTOR.matcher(path.toString());
        return matcher.matches() ? OptionalInt.of(Integer.parseInt(matcher.group(1))) : OptionalInt.empty();
    }

    @Override
    public TargetFile target() {
        return target;
    }

    @Override
    public FileIdentity identity() {
        return identity;
    }

    @Override
    public void close() {
        fd.close();
    }

    @Override
    public String toString() {
        return target.name() + " (open)";
    }
}
