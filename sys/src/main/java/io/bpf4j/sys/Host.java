package io.bpf4j.sys;

import io.bpf4j.sys.kernel.KernelVersion;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The machine: its kernel, {@code /proc} and {@code /sys}. <i>Thread-safe.</i>
 *
 * <p>bpf4j accesses a machine only through a {@code Host}. {@link #running()} is the machine as this process sees it.
 * In a container that has its host's files under other paths, set these paths:
 *
 * {@snippet :
 * Host host = Host.running().withProc(Path.of("/host/proc")).withSys(Path.of("/host/sys"));
 * BpfObject object = BpfLoader.of(spec).host(host).load();
 * }
 *
 * <p>Parts that can't change while a kernel runs, such as its types, are read once and kept ({@link #known}). A failed
 * read is repeated, because mounts and rights may change.
 *
 * <p>A host does not depend on the readers of its files: readers such as that of the kernel's types take a host, and
 * are in the module that needs them.
 */
public final class Host {
    /** The first line of {@code /proc/meminfo}, in KiB. */
    private static final Pattern TOTAL = Pattern.compile("MemTotal: +(\\d{1,15}) kB");

    private final Path root;
    private final Path proc;
    private final Path sys;
    private final Map<Class<?>, Object> given;
    private final Map<Class<?>, Object> known = new ConcurrentHashMap<>();
    private volatile long pageSize;

    private Host(Path root, Path proc, Path sys, Map<Class<?>, Object> given) {
        this.root = root;
        this.proc = proc;
        this.sys = sys;
        this.given = Map.copyOf(given);
    }

    private static final class Running {
        static final Host HOST = at(Path.of("/"));
    }

    /** The machine that this process runs on; the same object each time. */
    public static Host running() {
        return Running.HOST;
    }

    /**
     * A machine whose files are below another directory: for tests that must not depend on the computer they run on.
     *
     * @param root the directory with the {@code /proc}, {@code /sys} and {@code /boot} of that machine
     */
    public static Host at(Path root) {
        return new Host(root, root.resolve("proc"), root.resolve("sys"), Map.of());
    }

    /**
     * The same machine, with {@code /proc} mounted elsewhere. Information about this process still comes from its own
     * {@code /proc} ({@link #self}), because the other one may not show this process.
     */
    public Host withProc(Path newProc) {
        return new Host(root, newProc, sys, given);
    }

    /** The same machine, with {@code /sys} mounted elsewhere. */
    public Host withSys(Path newSys) {
        return new Host(root, proc, newSys, given);
    }

    /**
     * The same machine, with one of its parts given by the caller: {@link #known} returns it for its type. Other
     * information is read again, because it may depend on this part.
     */
    public <T> Host with(Class<T> type, T part) {
        Map<Class<?>, Object> parts = new HashMap<>(given);
        parts.put(type, part);
        return new Host(root, proc, sys, parts);
    }

    /**
     * A part of the machine that can't change, kept with this object; created on the first request. A module that reads
     * the machine keeps here what it has read. If several threads make the first request, each may create the part, and
     * all get the same one.
     *
     * @param factory reads the part; if it fails, the next request calls it again
     */
    public <T> T known(Class<T> type, Function<Host, T> factory) {
        Object part = given.get(type);
        if (part == null) {
            part = known.get(type);
        }
        if (part == null) {
            // Not computeIfAbsent: a factory may request other parts.
            T created = factory.apply(this);
            Object other = known.putIfAbsent(type, created);
            part = other == null ? created : other;
        }
        return type.cast(part);
    }

    /** The root of the file system, or the directory in its place. */
    public Path root() {
        return root;
    }

    /** The path of {@code /proc}. */
    public Path proc() {
        return proc;
    }

    /** The path of a process in {@code /proc}; it does not exist after the process has ended. */
    public Path process(int pid) {
        return proc.resolve(Integer.toString(pid));
    }

    /** The path of this process in {@code /proc}. */
    public Path self() {
        return root.resolve("proc/self");
    }

    /** The path of {@code /sys}. */
    public Path sys() {
        return sys;
    }

    /** The release of the kernel from uname(2), such as {@code 6.12.9-amd64}: a part of the names of its files. */
    public String release() {
        return LinuxVersion.release(proc);
    }

    /** The version of the kernel. */
    public KernelVersion version() {
        return known(KernelVersion.class, _ -> LinuxVersion.read(proc));
    }

    /** The size of a memory page in bytes. */
    public long pageSize() {
        if (pageSize == 0) {
            pageSize = PageSize.read(self().resolve("auxv"));
        }
        return pageSize;
    }

    /** The memory of the machine in bytes; empty if {@code /proc} does not show it. */
    public OptionalLong memory() {
        try (BufferedReader lines = Files.newBufferedReader(proc.resolve("meminfo"), StandardCharsets.ISO_8859_1)) {
            Matcher total = TOTAL.matcher(String.valueOf(lines.readLine()));
            return total.matches() ? OptionalLong.of(Long.parseLong(total.group(1)) << 10) : OptionalLong.empty();
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    @Override
    public String toString() {
        return "machine with " + proc + " and " + sys;
    }
}
