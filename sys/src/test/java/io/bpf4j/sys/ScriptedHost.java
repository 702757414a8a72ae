package io.bpf4j.sys;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.sys.internal.call.Kernel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A machine for tests: a kernel that is scripted, and a folder that has what usual machines have. Its kernel is 6.18
 * and shows few types and no configuration; there are four CPUs, the second of them offline, and the uprobe and kprobe
 * sources of perf events.
 */
@SuppressWarnings("exports") // tests only
public final class ScriptedHost {
    private ScriptedHost() {}

    private static final class Folder {
        static final Path ROOT = make();
    }

    @SuppressWarnings("exports") // only tests of the loader have a Kernel
    public static Host of(Kernel kernel) {
        return of(kernel, Folder.ROOT);
    }

    /** A machine whose files are below a folder. */
    public static Host of(Kernel kernel, Path root) {
        return Host.at(root).with(Kernel.class, kernel);
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
            Path types = Files.createDirectories(root.resolve("sys/kernel/btf"));
            Files.write(types.resolve("vmlinux"), types());
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

    /** The congestion controls of TCP, which programs may implement, with as many members as tests ask for. */
    private static byte[] types() {
        BtfBuilder types = BtfBuilder.create();
        int number = types.integer("unsigned int", 4, 0);
        int text = types.array(types.integer("char", 1, BtfType.Int.SIGNED), number, 16);
        int function = types.pointer(types.add(new BtfType.FuncProto(number, List.of())));
        int ops = types.struct(
                "tcp_congestion_ops",
                64,
                BtfType.Member.at("ssthresh", function, 0),
                BtfType.Member.at("cong_avoid", function, 8),
                BtfType.Member.at("undo_cwnd", function, 16),
                BtfType.Member.at("init", function, 24),
                BtfType.Member.at("release", function, 32),
                BtfType.Member.at("name", text, 40));
        types.struct("bpf_struct_ops_tcp_congestion_ops", 128, BtfType.Member.at("data", ops, 64));
        return types.toBytes(ByteOrder.nativeOrder());
    }

    private static void delete(Path root) {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
