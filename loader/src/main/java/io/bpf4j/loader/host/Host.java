package io.bpf4j.loader.host;

import io.bpf4j.loader.error.ProcessRights;
import io.bpf4j.loader.internal.linux.CpuSet;
import io.bpf4j.loader.internal.linux.Jit;
import io.bpf4j.loader.internal.linux.Kallsyms;
import io.bpf4j.loader.internal.linux.KernelBtf;
import io.bpf4j.loader.internal.linux.KernelConfig;
import io.bpf4j.loader.internal.linux.LinuxVersion;
import io.bpf4j.loader.internal.linux.PageSize;
import io.bpf4j.loader.internal.linux.PerfSources;
import io.bpf4j.loader.internal.linux.TraceFs;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.LinuxKernel;
import io.bpf4j.loader.kernel.KernelVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The machine: its kernel, and what the kernel tells in {@code /proc} and {@code /sys}. <i>Thread-safe.</i>
 *
 * <p>Whatever bpf4j asks a machine, it asks through one of these. {@link #running()} is the machine as this process sees
 * it. A container that was given the files of its host under other paths says where they are:
 *
 * {@snippet :
 * Host host = Host.running().withProc(Path.of("/host/proc")).withSys(Path.of("/host/sys"));
 * BpfObject object = BpfLoader.of(spec).host(host).load();
 * }
 *
 * <p>What can't change while a kernel runs, such as its types, is read once and kept here. What could not be read is not
 * kept: a file may be mounted, and rights may be given, later.
 */
@SuppressWarnings("exports") // kernel, types, CPUs and the like are for the loader itself; nobody else can name them
public final class Host {
    private static final Path ROOT = Path.of("/");

    private final Kernel kernel;
    private final Path root;
    private final Path proc;
    private final Path sys;
    private final KernelBtf types;
    private final Map<Class<?>, Object> known = new ConcurrentHashMap<>();
    private volatile @Nullable KernelVersion version;
    private volatile @Nullable CpuSet possibleCpus;
    private volatile long pageSize;

    private Host(Kernel kernel, Path root, Path proc, Path sys) {
        this(kernel, root, proc, sys, new KernelBtf(root, proc, sys));
    }

    private Host(Kernel kernel, Path root, Path proc, Path sys, KernelBtf types) {
        this.kernel = kernel;
        this.root = root;
        this.proc = proc;
        this.sys = sys;
        this.types = types;
    }

    private static final class Running {
        static final Host HOST = of(new LinuxKernel(ROOT.resolve("proc")), ROOT);
    }

    /** The machine that this process runs on; the same object each time. */
    public static Host running() {
        return Running.HOST;
    }

    /**
     * A machine that is reached through a kernel of its own: for tests, which see nothing of the computer they run on.
     *
     * @param root the folder with the {@code /proc}, {@code /sys} and {@code /boot} of that machine
     */
    public static Host of(Kernel kernel, Path root) {
        return new Host(kernel, root, root.resolve("proc"), root.resolve("sys"));
    }

    /**
     * The same machine, whose {@code /proc} is mounted elsewhere. What this process is told about itself still comes from
     * its own ({@link #self}), since it need not be among those that the other one shows.
     */
    public Host withProc(Path newProc) {
        return new Host(kernel, root, newProc, sys);
    }

    /** The same machine, whose {@code /sys} is mounted elsewhere. */
    public Host withSys(Path newSys) {
        return new Host(kernel, root, proc, newSys);
    }

    /** The same machine, whose kernel is reached in another way, which may give other rights. */
    public Host withKernel(Kernel newKernel) {
        return new Host(newKernel, root, proc, sys, types);
    }

    /** Where {@code /proc} is. */
    public Path proc() {
        return proc;
    }

    /** Where {@code /proc} has a process; there is no such folder once it has ended. */
    public Path process(int pid) {
        return proc.resolve(Integer.toString(pid));
    }

    /** Where {@code /proc} has this process. */
    public Path self() {
        return root.resolve("proc/self");
    }

    /** Where {@code /sys} is. */
    public Path sys() {
        return sys;
    }

    /** The version of the kernel. */
    public KernelVersion version() {
        KernelVersion known = version;
        if (known == null) {
            known = LinuxVersion.read(proc);
            version = known;
        }
        return known;
    }

    /** Bytes of a page of memory. */
    public long pageSize() {
        if (pageSize == 0) {
            pageSize = PageSize.read(self().resolve("auxv"));
        }
        return pageSize;
    }

    /** What this process may do, now. */
    public ProcessRights rights() {
        return ProcessRights.read(root.resolve("proc"));
    }

    public Kernel kernel() {
        return kernel;
    }

    /** The kernel's types and those of its modules. */
    public KernelBtf types() {
        return types;
    }

    /**
     * How the kernel was configured.
     *
     * @return empty if that is in none of the places where it usually is
     * @throws IOException if it is there and can't be read
     */
    public Optional<KernelConfig> configuration() throws IOException {
        return KernelConfig.find(proc, root);
    }

    public Kallsyms symbols() {
        return new Kallsyms(proc.resolve("kallsyms"));
    }

    /** The CPUs that may ever come. */
    public CpuSet possibleCpus() {
        CpuSet known = possibleCpus;
        if (known == null) {
            known = CpuSet.read(cpus("possible"));
            possibleCpus = known;
        }
        return known;
    }

    /** The CPUs that run code now. */
    public CpuSet onlineCpus() {
        return CpuSet.read(cpus("online"));
    }

    private Path cpus(String which) {
        return sys.resolve("devices/system/cpu").resolve(which);
    }

    public PerfSources perfSources() {
        return new PerfSources(sys.resolve("bus/event_source/devices"));
    }

    public TraceFs traceFs() {
        return new TraceFs(kernel, self(), sys);
    }

    /** Whether programs are compiled, now. */
    public Jit jit() {
        return Jit.read(proc.resolve("sys/net/core"));
    }

    /** What a package above this one finds out about the machine, and keeps with it; made when it is first asked for. */
    public <T> T known(Class<T> type, Function<Host, T> maker) {
        return type.cast(known.computeIfAbsent(type, _ -> maker.apply(this)));
    }

    @Override
    public String toString() {
        return "machine with " + proc + " and " + sys;
    }
}
