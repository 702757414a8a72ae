package io.bpf4j.loader.internal.linux;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The tracing file system, as far as attaching needs it: ids of tracepoints. <i>Thread-safe.</i>
 *
 * <p>It may not be mounted, in containers above all. Then the kernel is asked for a mount that no directory has (Linux
 * 5.2), which is looked into through its descriptor and gone when that is closed: the machine's mounts stay as they are.
 */
public final class TraceFs {
    private static final List<Path> PLACES =
            List.of(Path.of("/sys/kernel/tracing"), Path.of("/sys/kernel/debug/tracing"));

    private final Kernel kernel;
    private final List<Path> places;

    public TraceFs(Kernel kernel) {
        this(kernel, PLACES);
    }

    TraceFs(Kernel kernel, List<Path> places) {
        this.kernel = kernel;
        this.places = places;
    }

    /**
     * The number that perf_event_open takes for a tracepoint.
     *
     * @param category such as {@code sched}
     * @param name such as {@code sched_switch}
     * @throws AttachException if there is none of that name, or the file system can't be reached
     */
    public long tracepointId(String category, String name) {
        for (Path place : places) {
            if (Files.isDirectory(place.resolve("events"))) {
                return id(place, category, name);
            }
        }
        try (Fd mount = kernel.execute(new FileCommand.DetachedMount("tracefs"))) {
            return id(Path.of("/proc/self/fd", Integer.toString(mount.number())), category, name);
        } catch (SyscallException e) {
            throw new AttachException(
                    "tracepoint " + category + ":" + name + ": tracefs is not mounted at " + places.getFirst()
                            + ", and can't be reached without: mount -t tracefs tracefs " + places.getFirst(),
                    e);
        }
    }

    private static long id(Path tracefs, String category, String name) {
        String what = "tracepoint " + category + ":" + name;
        Path events = tracefs.resolve("events");
        if (!isPlain(category) || !isPlain(name)) {
            throw new AttachException(what + ": not a name of a tracepoint");
        }
        Path id = events.resolve(category).resolve(name).resolve("id");
        try {
            return Long.parseLong(Files.readString(id).strip());
        } catch (IOException | NumberFormatException e) {
            boolean known = Files.isDirectory(events.resolve(category));
            String why = Files.exists(id)
                    ? "its id can't be read from tracefs; that takes root"
                    : known
                            ? "this kernel has the category, but no such tracepoint"
                            : "this kernel has no such category";
            throw new AttachException(what + ": " + why, e);
        }
    }

    /** One component of a path, so that a name can't lead out of the directory. */
    private static boolean isPlain(String name) {
        return !name.isEmpty()
                && !name.equals(".")
                && !name.equals("..")
                && name.indexOf('/') < 0
                && name.indexOf('\0') < 0;
    }
}
