package io.bpf4j.loader.host;

import io.bpf4j.loader.internal.sys.Kernel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * A machine for tests: a kernel that is scripted, and a folder that has what usual machines have. Its kernel is 6.18, shows
 * no types and no configuration, and has four CPUs, the second of them offline, and the uprobe and kprobe sources of perf events.
 */
public final class ScriptedHost {
    private ScriptedHost() {}

    private static final class Folder {
        static final Path ROOT = make();
    }

    public static Host of(Kernel kernel) {
        return Host.of(kernel, Folder.ROOT);
    }

    /** Adds to a folder what the kernel tells in a file. */
    public static void write(Path root, String file, String content) {
        try {
            Path path = root.resolve(file);
            Files.createDirectories(path.getParent());
            Files.writeString(path, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path make() {
        try {
            Path root = Files.createTempDirectory("bpf4j-machine");
            write(root, "proc/sys/kernel/osrelease", "6.18.0\n");
            write(root, "sys/devices/system/cpu/possible", "0-3\n");
            write(root, "sys/devices/system/cpu/online", "0,2-3\n");
            // The types of the real kernel, for now.
            Path types = Files.createDirectories(root.resolve("sys/kernel/btf")).resolve("vmlinux");
            Files.createSymbolicLink(types, Path.of("/sys/kernel/btf/vmlinux"));
            sources(root.resolve("sys/bus/event_source/devices"));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(root)));
            return root;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The sources of perf events that probes come from, with the numbers that x86-64 machines have. */
    public static void sources(Path devices) {
        write(devices, "kprobe/type", "8\n");
        write(devices, "kprobe/format/retprobe", "config:0\n");
        write(devices, "uprobe/type", "9\n");
        write(devices, "uprobe/format/retprobe", "config:0\n");
        write(devices, "uprobe/format/ref_ctr_offset", "config:32-63\n");
    }

    private static void delete(Path root) {
        try (Stream<Path> files = Files.walk(root)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
