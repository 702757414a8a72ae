package io.bpf4j.trace.stack;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.FileName;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.usdt.internal.process.MappedRange;
import io.bpf4j.usdt.internal.process.ProcessFiles;
import io.bpf4j.usdt.internal.process.ProcessLimits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Names the functions of stacks. <i>Thread-safe</i>; calls run one at a time. The caller closes it, which frees the
 * memory of the symbols.
 *
 * {@snippet lang = "java":
 * StackTraceMap stacks = StackTraceMap.of(object.map("stacks"));
 * try (Symbolizer symbolizer = Symbolizer.of(Host.running())) {
 *     List<Frame> frames = symbolizer.user(pid, stacks.get(id).orElseThrow());
 * }
 * }
 *
 * <p>A user address is looked up in the process's mappings, and then in the symbols of the mapped file: its own tables
 * and, if it is stripped, its compressed symbols or its separate debug file. Code outside of all files is looked up in
 * the list that the just-in-time compiler writes; see {@link PerfMap}. Kernel addresses are looked up in the kernel's
 * symbols.
 *
 * <p>Everything is read on first use and kept, also after the process has ended. So name a process's first stack while
 * it runs, or call {@link #remember}. If an address is not found, mappings and lists are read again, but less often
 * each time that it is in vain. A pid that is reused within the life of a symbolizer is taken for the same process
 * until an address is not found. Frames of processes and files that can't be read have no names; {@link #problems}
 * tells why.
 *
 * <p>All addresses of a stack but the first are return addresses. A return address follows the call, which may be the
 * last instruction of its function. So the byte before the address is looked up.
 *
 * <p>Tested by {@code SymbolizerTest}, {@code StacksOnKernelTest} and {@code StacksOfJvmTest}.
 */
public final class Symbolizer implements AutoCloseable {
    private static final int MOST_PROCESSES = 1 << 10;
    private static final int MOST_PROBLEMS = 100;

    /** Frames: the function itself, its caller, and one found by a register that does not hold a frame pointer. */
    private static final int MOST_WITHOUT_POINTERS = 3;

    /** Files of a process that are read before they are needed: more than any process has mapped as code. */
    private static final int MOST_REMEMBERED = 1 << 12;

    private static final int MOST_FILES = 1 << 16;

    /** Bytes of all symbol tables together; the least recently used ones are dropped. */
    private static final long MAX_TABLES = 1L << 29;

    /** Bytes of the lists of compiled code of all processes; those of the least recently used ones are dropped. */
    private static final long MAX_LISTS = 1L << 27;

    private final Host host;
    private final DebugFiles debugFiles;
    private final Names names = new Names();
    private final KernelFunctions kernel;
    private final Map<FileIdentity, FileFunctions> files = new LinkedHashMap<>(16, 0.75f, true);
    private final LinkedHashMap<Integer, KnownProcess> processes = new LinkedHashMap<>(16, 0.75f, true);
    private final Set<String> problems = new LinkedHashSet<>();
    private long tableBytes;

    /**
     * A process.
     *
     * @param opened the identities of the files that were opened
     * @param unopened the files that can't be opened
     */
    private record KnownProcess(ProcessCode code, Map<FileKey, FileIdentity> opened, Set<FileKey> unopened) {}

    /** A file as the mappings of a process name it. A file may have thousands of mappings. */
    private record FileKey(long device, long inode, FileName text) {
        static FileKey of(MappedRange mapping) {
            return new FileKey(mapping.device(), mapping.inode(), mapping.text());
        }
    }

    private Symbolizer(Host host, DebugFiles debugFiles) {
        this.host = host;
        this.debugFiles = debugFiles;
        this.kernel = new KernelFunctions(host.proc().resolve("kallsyms"), names);
    }

    /** A symbolizer for the processes and the kernel of a machine. */
    public static Symbolizer of(Host host) {
        return new Symbolizer(host, DebugFiles.standard());
    }

    /** The same, with debug files elsewhere than below {@code /usr/lib/debug}. */
    static Symbolizer of(Host host, DebugFiles debugFiles) {
        return new Symbolizer(host, debugFiles);
    }

    /**
     * The frames of a user stack.
     *
     * @param pid the process's number in the {@code /proc} of the host
     * @param addresses the innermost first
     */
    public synchronized List<Frame> user(int pid, long[] addresses) {
        KnownProcess process = process(pid);
        List<Frame> frames = new ArrayList<>(addresses.length);
        for (int i = 0; i < addresses.length; i++) {
            frames.add(user(process, addresses[i], lookup(addresses[i], i)));
        }
        boundLists(process);
        return List.copyOf(frames);
    }

    /**
     * The frames of a user stack as a map returns them.
     *
     * @param pid the process's number in the {@code /proc} of the host
     * @param stack addresses, or places in files, which remain valid after the process; the innermost first
     */
    public synchronized List<Frame> user(int pid, List<StackTraceMap.Frame> stack) {
        KnownProcess process = process(pid);
        List<Frame> frames = new ArrayList<>(stack.size());
        for (int i = 0; i < stack.size(); i++) {
            frames.add(
                    switch (stack.get(i)) {
                        case StackTraceMap.Address at -> user(process, at.address(), lookup(at.address(), i));
                        case StackTraceMap.InFile at -> inFile(process, at, lookup(at.fileOffset(), i));
                    });
        }
        boundLists(process);
        return List.copyOf(frames);
    }

    /**
     * The frames of a kernel stack.
     *
     * @param addresses the innermost first
     */
    public synchronized List<Frame> kernel(long[] addresses) {
        List<Frame> frames = new ArrayList<>(addresses.length);
        for (int i = 0; i < addresses.length; i++) {
            frames.add(kernel.frame(addresses[i], lookup(addresses[i], i)));
        }
        if (!kernel.problem().isEmpty()) {
            addProblem(kernel.problem());
        }
        return List.copyOf(frames);
    }

    /** The frames of a kernel stack as a map returns them, the innermost first. */
    public List<Frame> kernel(List<StackTraceMap.Frame> stack) {
        return kernel(stack.stream()
                .mapToLong(frame -> frame instanceof StackTraceMap.Address at ? at.address() : 0)
                .toArray());
    }

    /**
     * Whether a user stack seems to end too early, as stacks of code without frame pointers do: it has no caller, or it
     * has few and the last address is not in code. The kernel walks a stack by frame pointers. Code that is built
     * without them ({@code -fomit-frame-pointer}, the default of compilers) uses the register for any value, and the
     * walk ends there. Even then the direct caller is right if the probe is at the start of a function (Linux 6.12).
     *
     * <p>A hint, not a proof: a thread's first function has no caller either.
     *
     * @param stack the innermost frame first
     */
    public synchronized boolean endsEarly(int pid, List<StackTraceMap.Frame> stack) {
        if (stack.size() < 2) {
            return true;
        }
        return stack.size() <= MOST_WITHOUT_POINTERS
                && stack.getLast() instanceof StackTraceMap.Address last
                && process(pid).code().isElsewhere(last.address());
    }

    /** {@link #endsEarly(int, List)} of a stack of addresses. */
    public boolean endsEarly(int pid, long[] addresses) {
        return endsEarly(
                pid,
                Arrays.stream(addresses)
                        .<StackTraceMap.Frame>mapToObj(StackTraceMap.Address::new)
                        .toList());
    }

    /**
     * Reads now the mappings of a process, the symbols of its files, and the list of its compiled code, so that its
     * stacks can be named after it has ended.
     */
    public synchronized void remember(int pid) {
        KnownProcess process = process(pid);
        process.code().remember();
        Set<FileKey> remembered = new HashSet<>();
        for (MappedRange mapping : process.code().filesWithCode()) {
            if (remembered.size() < MOST_REMEMBERED && remembered.add(FileKey.of(mapping))) {
                functions(process, mapping);
            }
        }
        boundLists(process);
    }

    /** The reasons why frames have no names: distinct lines, at most 100. */
    public synchronized List<String> problems() {
        return List.copyOf(problems);
    }

    /** Frees the symbols. The symbolizer may still be used and then reads again what it needs. */
    @Override
    public synchronized void close() {
        files.clear();
        processes.clear();
        tableBytes = 0;
    }

    private static long lookup(long address, int index) {
        return index == 0 ? address : address - 1;
    }

    private KnownProcess process(int pid) {
        KnownProcess known = processes.get(pid);
        if (known == null) {
            if (processes.size() >= MOST_PROCESSES) {
                processes.remove(processes.keySet().iterator().next());
            }
            known = new KnownProcess(new ProcessCode(host, pid), new HashMap<>(), new HashSet<>());
            processes.put(pid, known);
        }
        return known;
    }

    private Frame user(KnownProcess process, long address, long lookup) {
        Optional<MappedRange> found = process.code().mapping(lookup);
        if (found.isEmpty()) {
            return Frame.unknown(address);
        }
        MappedRange mapping = found.get();
        long shift = mapping.fileOffset() - mapping.start();
        String module = mapping.text().length() == 0 ? "" : mapping.name().toString();
        Optional<FileFunctions> functions = mapping.isFile() ? functions(process, mapping) : Optional.empty();
        if (functions.isPresent()) {
            return functions.get().frame(address, address + shift, lookup + shift, module, names);
        }
        return process.code()
                .compiled(address, lookup, names)
                .orElseGet(() -> module.isEmpty()
                        ? Frame.unknown(address)
                        : new Frame(address, "", "", address + shift, module, Frame.Source.MAPPING));
    }

    /** The frame of a place given by build ID, in a file of the process or in any other file that was read before. */
    private Frame inFile(KnownProcess process, StackTraceMap.InFile place, long lookup) {
        for (MappedRange mapping : process.code().filesWithCode()) {
            Optional<FileFunctions> functions = functions(process, mapping);
            if (functions
                    .flatMap(FileFunctions::buildId)
                    .filter(place.buildId()::equals)
                    .isPresent()) {
                return functions
                        .get()
                        .frame(
                                place.fileOffset(),
                                place.fileOffset(),
                                lookup,
                                mapping.name().toString(),
                                names);
            }
        }
        String module = "build-id " + place.buildId();
        return files.values().stream()
                .filter(file -> file.buildId().filter(place.buildId()::equals).isPresent())
                .findFirst()
                .map(file -> file.frame(place.fileOffset(), place.fileOffset(), lookup, module, names))
                .orElseGet(
                        () -> new Frame(place.fileOffset(), "", "", place.fileOffset(), module, Frame.Source.MAPPING));
    }

    /** The functions of a mapped file; empty if it can't be opened or is not an ELF file. */
    private Optional<FileFunctions> functions(KnownProcess process, MappedRange mapping) {
        if (process.unopened().contains(FileKey.of(mapping))) {
            return Optional.empty();
        }
        FileIdentity identity = process.opened().get(FileKey.of(mapping));
        FileFunctions known = identity == null ? null : files.get(identity);
        return Optional.of(known == null ? open(process, mapping) : known).filter(FileFunctions::isElf);
    }

    private FileFunctions open(KnownProcess process, MappedRange mapping) {
        try (ProcessFiles.Opened opened = process.code().open(mapping)) {
            FileIdentity file = opened.file().identity();
            if (process.opened().size() > MOST_FILES) {
                process.opened().clear();
            }
            process.opened().put(FileKey.of(mapping), file);
            FileFunctions known = files.get(file);
            if (known == null) {
                known = read(opened, mapping);
                keep(file, known);
            }
            return known;
        } catch (IOException e) {
            if (process.unopened().size() > MOST_FILES) {
                process.unopened().clear();
            }
            process.unopened().add(FileKey.of(mapping));
            addProblem(mapping.name() + ": " + e.getMessage());
            return FileFunctions.NOT_ELF;
        }
    }

    private FileFunctions read(ProcessFiles.Opened opened, MappedRange mapping) {
        String name = mapping.name().toString();
        try (ElfFile elf = ElfFile.open(opened.file().path(), name, ProcessLimits.MAPPED_FILE)) {
            FileFunctions functions = FileFunctions.read(elf, debugFiles);
            functions.problem().ifPresent(problem -> addProblem(name + ": " + problem));
            return functions;
        } catch (IOException | MalformedDataException e) {
            // Shared memory, for instance, where a just-in-time compiler may put its code.
            return FileFunctions.NOT_ELF;
        }
    }

    private void keep(FileIdentity file, FileFunctions functions) {
        files.put(file, functions);
        tableBytes += functions.bytes();
        Iterator<FileFunctions> eldest = files.values().iterator();
        while (tableBytes > MAX_TABLES && files.size() > 1) {
            tableBytes -= eldest.next().bytes();
            eldest.remove();
        }
    }

    /** Called after each use of a process, whose list may have grown: bounds the lists, and collects problems. */
    private void boundLists(KnownProcess process) {
        process.code().problems().forEach(this::addProblem);
        long bytes = 0;
        for (KnownProcess one : processes.sequencedValues().reversed()) {
            bytes += one.code().listBytes();
            if (bytes > MAX_LISTS && one.code().listBytes() > 0) {
                bytes -= one.code().listBytes();
                one.code().dropList();
                one.code().problems().forEach(this::addProblem);
            }
        }
    }

    private void addProblem(String problem) {
        if (problems.size() < MOST_PROBLEMS) {
            problems.add(problem);
        }
    }
}
