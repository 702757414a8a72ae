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
import io.bpf4j.loader.internal.linux.TaskFiles;
import io.bpf4j.loader.internal.linux.TraceFs;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.LinuxKernel;
import io.bpf4j.loader.internal.sys.ProcessCommand;
import io.bpf4j.loader.kernel.KernelVersion;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
 * <p>Properties that can't change while a kernel runs, such as its types, are read once and kept. A failed read is
 * repeated, because mounts and rights may change.
 */
@SuppressWarnings("exports") // kernel, types, CPUs and the like are for the loader; other modules can't name them
public final class Host {
    private static final Path ROOT = Path.of("/");

    private final Kernel kernel;
    private final Path root;
    private final Path proc;
    private final Path sys;
    private final KernelBtf types;
    private final Map<Class<?>, Object> known = new ConcurrentHashMap<>();
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

    /** The first line of {@code /proc/meminfo}, in KiB. */
    private static final Pattern TOTAL = Pattern.compile("MemTotal: +(\\d{1,15}) kB");

    private static final class Running {
        static final Host HOST = of(new LinuxKernel(ROOT.resolve("proc")), ROOT);
    }

    /** The machine that this process runs on; the same object each time. */
    public static Host running() {
        return Running.HOST;
    }

    /**
     * A machine with its own {@code Kernel}: for tests that must not depend on the computer they run on.
     *
     * @param root the directory with the {@code /proc}, {@code /sys} and {@code /boot} of that machine
     */
    public static Host of(Kernel kernel, Path root) {
        return new Host(kernel, root, root.resolve("proc"), root.resolve("sys"));
    }

    /**
     * The same machine, with {@code /proc} mounted elsewhere. Information about this process still comes from its own
     * {@code /proc} ({@link #self}), because the other one may not show this process.
     */
    public Host withProc(Path newProc) {
        return new Host(kernel, root, newProc, sys);
    }

    /** The same machine, with {@code /sys} mounted elsewhere. */
    public Host withSys(Path newSys) {
        return new Host(kernel, root, proc, newSys);
    }

    /** The same machine, with its kernel accessed in another way, which may have other rights. */
    public Host withKernel(Kernel newKernel) {
        return new Host(newKernel, root, proc, sys, types);
    }

    /** The path of {@code /proc}. */
    public Path proc() {
        return proc;
    }

    /** The path of a process in {@code /proc}; it does not exist after the process has ended. */
    public Path process(int pid) {
        return proc.resolve(Integer.toString(pid));
    }

    /**
     * Whether a process exists and has not ended. A process has ended when its last thread has; it may remain as a
     * zombie until its parent waits for it.
     */
    public boolean isRunning(int pid) {
        return new TaskFiles(proc).isRunning(pid);
    }

    /** The children that a process has now, in no order; empty if it has ended. */
    public List<Integer> children(int pid) {
        return new TaskFiles(proc).childrenOf(pid);
    }

    /**
     * Whether two processes share their memory, as a child and its parent do between vfork and exec: kcmp(2) of Linux
     * 3.5. Also false if the kernel can't compare them: without CONFIG_KCMP, if this process may not trace both, or if
     * one has ended.
     */
    public boolean haveSameMemory(int pid, int other) {
        return kernel.execute(new ProcessCommand.SameMemory(pid, other));
    }

    /** The path of this process in {@code /proc}. */
    public Path self() {
        return root.resolve("proc/self");
    }

    /** The path of {@code /sys}. */
    public Path sys() {
        return sys;
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

    /** The present rights of this process. */
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
     * The kernel's configuration.
     *
     * @return empty if none of the usual files exists
     * @throws IOException if the file exists but can't be read
     */
    public Optional<KernelConfig> configuration() throws IOException {
        return KernelConfig.find(proc, root);
    }

    public Kallsyms symbols() {
        return new Kallsyms(proc.resolve("kallsyms"));
    }

    /**
     * All possible CPUs.
     *
     * @throws io.bpf4j.loader.error.BpfException if sysfs does not list them
     */
    public CpuSet possibleCpus() {
        return known(CpuSet.class, _ -> CpuSet.read(cpus("possible")));
    }

    /**
     * The CPUs that are online now.
     *
     * @throws io.bpf4j.loader.error.BpfException if sysfs does not list them
     */
    public CpuSet onlineCpus() {
        return CpuSet.read(cpus("online"));
    }

    private Path cpus(String set) {
        return sys.resolve("devices/system/cpu").resolve(set);
    }

    public PerfSources perfSources() {
        return known(PerfSources.class, _ -> new PerfSources(sys.resolve("bus/event_source/devices")));
    }

    public TraceFs traceFs() {
        return new TraceFs(kernel, self(), sys);
    }

    /** The current setting of the JIT compiler. */
    public Jit jit() {
        return Jit.read(proc.resolve("sys/net/core"));
    }

    /** Information about the machine that can't change, kept with this object; created on the first request. */
    public <T> T known(Class<T> type, Function<Host, T> factory) {
        return type.cast(known.computeIfAbsent(type, _ -> factory.apply(this)));
    }

    @Override
    public String toString() {
        return "machine with " + proc + " and " + sys;
    }
}
