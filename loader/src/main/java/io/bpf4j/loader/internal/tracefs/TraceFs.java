package io.bpf4j.loader.internal.tracefs;

import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.OpenFlags;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The parts of the tracing file system for attaching: ids of tracepoints, and the traceable functions.
 * <i>Thread-safe.</i>
 *
 * <p>It may not be mounted, especially in containers. Then it is opened as a file system without a mount point (Linux
 * 5.2), which is read through its file descriptor until that is closed: the machine's mounts do not change.
 *
 * <p>Tested by {@code TraceFsTest} and {@code KernelLinkTest}.
 */
public final class TraceFs {
    private final Kernel kernel;
    private final List<Path> mountPoints;
    private final Path descriptors;

    /** Of a machine. */
    public static TraceFs of(Host host) {
        return new TraceFs(Kernel.of(host), host.self(), host.sys());
    }

    /**
     * The tracing file system of a kernel.
     *
     * @param self this process's directory in {@code /proc}
     * @param sys the path of {@code /sys}
     */
    public TraceFs(Kernel kernel, Path self, Path sys) {
        this.kernel = kernel;
        this.mountPoints = List.of(sys.resolve("kernel/tracing"), sys.resolve("kernel/debug/tracing"));
        this.descriptors = self.resolve("fd");
    }

    /**
     * The id of a tracepoint for perf_event_open.
     *
     * @param category such as {@code sched}
     * @param name such as {@code sched_switch}
     * @throws AttachException if the tracepoint does not exist, or the file system is not accessible
     */
    public long tracepointId(String category, String name) {
        return in(
                "tracepoint " + category + ":" + name + ": tracefs is not mounted",
                tracefs -> id(tracefs, category, name));
    }

    /**
     * The names of the traceable kernel functions that a test accepts, in the kernel's order. A name that several static
     * functions share occurs once for each.
     *
     * @throws AttachException if the list is not accessible (it needs CONFIG_DYNAMIC_FTRACE)
     */
    public List<String> traceableFunctions(Predicate<String> test) {
        return in("tracefs, which lists the traceable functions, is not mounted", tracefs -> functions(tracefs, test));
    }

    /**
     * Opens {@code trace_pipe}; a read without lines fails with EAGAIN.
     *
     * @throws AttachException if the file system is not accessible
     */
    public Fd openPipe() {
        return in(
                "tracefs, which has trace_pipe, is not mounted",
                tracefs -> kernel.execute(
                        new FileCommand.Open(tracefs.resolve("trace_pipe"), OpenFlags.RDONLY | OpenFlags.NONBLOCK)));
    }

    /** Reads from a mount point, or from a detached mount if there is none. */
    private <T> T in(String missing, Function<Path, T> reader) {
        for (Path mountPoint : mountPoints) {
            if (Files.isDirectory(mountPoint.resolve("events"))) {
                return reader.apply(mountPoint);
            }
        }
        try (Fd mount = kernel.execute(new FileCommand.DetachedMount("tracefs"))) {
            return reader.apply(descriptors.resolve(Integer.toString(mount.number())));
        } catch (SyscallException e) {
            Path mountPoint = mountPoints.getFirst();
            throw new AttachException(
                    missing + " at " + mountPoint + ", and can't be opened without a mount: mount -t tracefs tracefs "
                            + mountPoint + " (" + e.getMessage() + ")",
                    e);
        }
    }

    /** A line is a name, and in brackets the module if it has one: {@code nf_hook_slow [nf_tables]}. */
    private static List<String> functions(Path tracefs, Predicate<String> test) {
        Path list = tracefs.resolve("available_filter_functions");
        try (Stream<String> lines = Files.lines(list, StandardCharsets.ISO_8859_1)) {
            return lines.map(line -> line.indexOf(' ') < 0 ? line : line.substring(0, line.indexOf(' ')))
                    // Names that the kernel generates for code without a name.
                    .filter(name -> !name.isEmpty() && !name.startsWith("__ftrace_invalid_address__"))
                    .filter(test)
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            throw new AttachException(
                    "the list of traceable functions, " + list + ", can't be read: this requires root, and a kernel"
                            + " with CONFIG_DYNAMIC_FTRACE",
                    e);
        }
    }

    private static long id(Path tracefs, String category, String name) {
        String tracepoint = "tracepoint " + category + ":" + name;
        Path events = tracefs.resolve("events");
        FileName folder = FileName.of(category);
        FileName file = FileName.of(name);
        if (!folder.isPlain() || !file.isPlain()) {
            throw new AttachException(tracepoint + ": this is not a valid name of a tracepoint");
        }
        Path id = file.below(folder.below(events)).resolve("id");
        try {
            return Long.parseLong(Files.readString(id).strip());
        } catch (IOException | NumberFormatException e) {
            boolean known = Files.isDirectory(folder.below(events));
            String why = Files.exists(id)
                    ? "its id can't be read from tracefs, which requires root"
                    : known
                            ? "this kernel has the category, but no such tracepoint"
                            : "this kernel has no such category";
            throw new AttachException(tracepoint + ": " + why, e);
        }
    }
}
