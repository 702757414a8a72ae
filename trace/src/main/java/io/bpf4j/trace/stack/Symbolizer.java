package io.bpf4j.trace.stack;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.process.MappedRange;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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
 * <p>Mappings and symbols are read on first use and kept, also after the process has ended. So name a process's first
 * stack while it runs, or call {@link #remember}. If an address is not found, mappings and lists are read again, but
 * less and less often if that does not help. A pid that is reused during the life of a symbolizer counts as the same
 * process until an address is not found. Frames of processes and files that can't be read have no names; {@link
 * #problems} gives the reasons.
 *
 * <p>All addresses of a stack but the first are return addresses. A return address follows the call, which may be the
 * last instruction of its function. So the byte before the address is looked up.
 *
 * <p>Tested by {@code SymbolizerTest}, {@code StacksOnKernelTest} and {@code StacksOfJvmTest}.
 */
public final class Symbolizer implements AutoCloseable {
    private static final int MAX_PROCESSES = 1 << 10;

    /**
     * The number of frames that a stack without frame pointers can have: the function itself, its caller, and one found
     * by a register that does not hold a frame pointer.
     */
    private static final int MAX_FRAMES_WITHOUT_POINTERS = 3;

    /**
     * The maximum number of files of a process that are read before they are needed: more than any process has mapped
     * as code.
     */
    private static final int MAX_REMEMBERED_FILES = 1 << 12;

    /** Bytes of the lists of compiled code of all processes; those of the least recently used ones are dropped. */
    private static final long MAX_LISTS = 3L << 24;

    private final Host host;
    private final Names names = new Names();
    private final KernelFunctions kernel;
    private final NamingProblems problems = new NamingProblems();
    private final FunctionFiles files;
    private final LinkedHashMap<Integer, KnownProcess> processes = new LinkedHashMap<>(16, 0.75f, true);
    private final ProbeSites probes = new ProbeSites();
    private final SymbolBudget budget;
    private boolean prepared;

    private Symbolizer(Host host, DebugFiles debugFiles, SymbolBudget budget) {
        this.host = host;
        this.budget = budget;
        this.files = new FunctionFiles(debugFiles, budget, problems);
        this.kernel = new KernelFunctions(host, names);
    }

    /** A symbolizer for the processes and the kernel of a machine. */
    public static Symbolizer of(Host host) {
        return new Symbolizer(host, DebugFiles.standard(), new SymbolBudget());
    }

    /** A symbolizer with other debug files than those below {@code /usr/lib/debug}. */
    static Symbolizer of(Host host, DebugFiles debugFiles) {
        return of(host, debugFiles, new SymbolBudget());
    }

    static Symbolizer of(Host host, DebugFiles debugFiles, SymbolBudget budget) {
        return new Symbolizer(host, debugFiles, budget);
    }

    /**
     * The frames of a user stack.
     *
     * @param pid the process's number in the {@code /proc} of the host
     * @param addresses the innermost first
     */
    public List<Frame> user(int pid, long[] addresses) {
        return user(pid, addresses(addresses));
    }

    /**
     * The frames of a user stack as a map returns them.
     *
     * @param pid the process's number in the {@code /proc} of the host
     * @param stack addresses, or places in files, which remain valid after the process; the innermost first
     */
    public synchronized List<Frame> user(int pid, List<StackTraceMap.Frame> stack) {
        if (!prepared) {
            budget.renew();
        }
        read(Map.of(pid, List.of(stack)));
        KnownProcess process = process(pid);
        int end = Math.min(stack.size(), endOfCode(process, stack) + 1);
        List<Frame> frames = new ArrayList<>(end);
        for (int i = 0; i < end; i++) {
            frames.add(frame(process, stack.get(i), i));
        }
        boundLists(process);
        return List.copyOf(frames);
    }

    /**
     * Reads the symbols that many stacks need, so that each file is read once. Without this call, a file of a hundred
     * thousand functions or more is read again for each stack with a new address.
     *
     * @param stacks user stacks by the processes' numbers in the {@code /proc} of the host
     */
    public synchronized void prepare(Map<Integer, List<List<StackTraceMap.Frame>>> stacks) {
        prepared = true;
        budget.renew();
        files.renew();
        read(stacks);
    }

    private void read(Map<Integer, List<List<StackTraceMap.Frame>>> stacks) {
        Map<FileFunctions, FunctionFiles.Need> needs = new HashMap<>();
        stacks.forEach((pid, ofProcess) -> {
            KnownProcess process = process(pid);
            if (process.code().isGone()) {
                process.code().assume(probes.mappings(innermost(ofProcess)));
                problems.recordEnd(process.code());
            }
            for (List<StackTraceMap.Frame> stack : ofProcess) {
                for (int i = 0; i < stack.size(); i++) {
                    Location location = location(process, stack.get(i), i);
                    if (location != null && location.functions().isOpen()) {
                        FunctionFiles.Need need = needs.computeIfAbsent(
                                location.functions(), _ -> new FunctionFiles.Need(location.module(), new HashSet<>()));
                        need.offsets().add(location.lookup());
                        need.offsets().add(location.fileOffset());
                    }
                }
                if (needs.size() > FunctionFiles.MAX_OPEN / 2) {
                    // Before other files are opened, and these are closed for them.
                    files.read(needs);
                    needs.clear();
                }
            }
        });
        files.read(needs);
    }

    private static Set<Long> innermost(List<List<StackTraceMap.Frame>> stacks) {
        Set<Long> addresses = new HashSet<>();
        for (List<StackTraceMap.Frame> stack : stacks) {
            if (!stack.isEmpty() && stack.getFirst() instanceof StackTraceMap.Address at) {
                addresses.add(at.address());
            }
        }
        return addresses;
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
            problems.add("kernel", kernel.problem());
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
        int end = endOfCode(process(pid), stack);
        return end < stack.size() && end < MAX_FRAMES_WITHOUT_POINTERS;
    }

    /**
     * The number of frames before the first caller that is outside of all code. There the kernel used another value as
     * a frame pointer, so the following frames are not callers either, even if they are in code: the kernel may have
     * walked through a table of functions. Such a stack is shown with one unknown caller at its end.
     */
    private static int endOfCode(KnownProcess process, List<StackTraceMap.Frame> stack) {
        for (int i = 1; i < stack.size(); i++) {
            if (stack.get(i) instanceof StackTraceMap.Address at
                    && process.code().isOutsideOfCode(lookup(at.address(), i))) {
                return i;
            }
        }
        return stack.size();
    }

    /** {@link #endsEarly(int, List)} of a stack of addresses. */
    public boolean endsEarly(int pid, long[] addresses) {
        return endsEarly(pid, addresses(addresses));
    }

    private static List<StackTraceMap.Frame> addresses(long[] stack) {
        return Arrays.stream(stack)
                .<StackTraceMap.Frame>mapToObj(StackTraceMap.Address::new)
                .toList();
    }

    /**
     * Reads the mappings of a process, the symbols of its files, and the list of its compiled code, so that its stacks
     * can be named after it has ended.
     */
    public synchronized void remember(int pid) {
        KnownProcess process = process(pid);
        process.code().remember();
        if (process.code().isGone()) {
            problems.recordEnd(process.code());
        }
        Set<KnownProcess.FileKey> remembered = new HashSet<>();
        for (MappedRange mapping : process.code().filesWithCode()) {
            if (remembered.size() < MAX_REMEMBERED_FILES && remembered.add(KnownProcess.FileKey.of(mapping))) {
                files.of(process, mapping);
            }
        }
        boundLists(process);
    }

    /**
     * Whether a process looks like a JVM that {@link PerfMap#request} can ask: it has mapped a file with the name of
     * HotSpot's library, as any process can do. The mappings are read now, and stacks are then named by them: a process
     * that is asked for here is not read again for its first stack.
     *
     * @param pid the process's number in the {@code /proc} of the host
     * @return false also if the mappings can't be read
     */
    public synchronized boolean isJvm(int pid) {
        return process(pid).code().isJvm();
    }

    /**
     * Adds the probes whose events have the stacks. Functions of the file with the probe then have names even in the
     * stacks of a process that ended before its mappings were read. The caller must add all probes or none: the
     * innermost address of a stack is assumed to be one of them.
     *
     * @param file with the probes, by a path of this machine
     * @param offsets of the probes in the file, in bytes
     * @throws IOException if the file can't be read
     * @throws MalformedDataException if it is not an ELF file
     */
    public synchronized void probesAt(Path file, Collection<Long> offsets) throws IOException {
        try (ElfFile elf = ElfFile.open(file, OpenFile.opener(host))) {
            probes.add(elf, FileName.of(file.toRealPath()), elf.identity().orElseThrow(), offsets);
        }
    }

    /**
     * The reasons why frames have no names ({@link Diagnostic.Kind#UNNAMED}): distinct, about a hundred at most; the
     * last one then says how many more there are. The subject is a process, a file, or {@code kernel}; of the last one
     * it is empty.
     */
    public synchronized List<Diagnostic> problems() {
        return problems.toList();
    }

    /** Frees the symbols. The symbolizer may still be used; it then reads the symbols again. */
    @Override
    public synchronized void close() {
        files.close();
        processes.clear();
    }

    private static long lookup(long address, int index) {
        return index == 0 ? address : address - 1;
    }

    private KnownProcess process(int pid) {
        KnownProcess known = processes.get(pid);
        if (known == null) {
            if (processes.size() >= MAX_PROCESSES) {
                processes.remove(processes.keySet().iterator().next());
            }
            known = new KnownProcess(new ProcessCode(host, pid));
            processes.put(pid, known);
        }
        return known;
    }

    /** A location in a file, with the name that the process uses for the file. */
    private record Location(FileFunctions functions, long fileOffset, long lookup, Supplier<String> name) {
        String module() {
            return name.get();
        }
    }

    /** The location of a frame; null if it is not in a readable file. */
    private @Nullable Location location(KnownProcess process, StackTraceMap.Frame frame, int index) {
        return switch (frame) {
            case StackTraceMap.Address at -> location(process, at.address(), lookup(at.address(), index));
            case StackTraceMap.InFile at -> location(process, at, lookup(at.fileOffset(), index));
        };
    }

    private @Nullable Location location(KnownProcess process, long address, long lookup) {
        MappedRange mapping = process.code().mapping(lookup).orElse(null);
        if (mapping == null || !mapping.isFile()) {
            return null;
        }
        long shift = mapping.fileOffset() - mapping.start();
        return files.of(process, mapping)
                .map(functions -> new Location(
                        functions,
                        address + shift,
                        lookup + shift,
                        () -> mapping.name().toString()))
                .orElse(null);
    }

    /** A location given by build ID, in a file of the process or in any other file that was read before. */
    private @Nullable Location location(KnownProcess process, StackTraceMap.InFile location, long lookup) {
        for (MappedRange mapping : process.code().filesWithCode()) {
            Optional<FileFunctions> functions = files.of(process, mapping);
            if (functions
                    .flatMap(FileFunctions::buildId)
                    .filter(location.buildId()::equals)
                    .isPresent()) {
                return new Location(
                        functions.get(),
                        location.fileOffset(),
                        lookup,
                        () -> mapping.name().toString());
            }
        }
        return files.withBuildId(location.buildId())
                .map(file -> new Location(file, location.fileOffset(), lookup, () -> "build-id " + location.buildId()))
                .orElse(null);
    }

    private Frame frame(KnownProcess process, StackTraceMap.Frame frame, int index) {
        Location location = location(process, frame, index);
        if (location != null) {
            long address = switch (frame) {
                case StackTraceMap.Address at -> at.address();
                case StackTraceMap.InFile at -> at.fileOffset();
            };
            return location.functions()
                    .frame(address, location.fileOffset(), location.lookup(), location.module(), names);
        }
        return switch (frame) {
            case StackTraceMap.Address at -> outsideOfFiles(process, at.address(), lookup(at.address(), index));
            case StackTraceMap.InFile at ->
                new Frame(at.fileOffset(), "", "", at.fileOffset(), "build-id " + at.buildId(), Frame.Source.MAPPING);
        };
    }

    /** The frame of an address that is not in a readable file. */
    private Frame outsideOfFiles(KnownProcess process, long address, long lookup) {
        MappedRange mapping = process.code().mapping(lookup).orElse(null);
        if (mapping == null) {
            return Frame.unknown(address);
        }
        String module = mapping.text().length() == 0 ? "" : mapping.name().toString();
        long offset = address + mapping.fileOffset() - mapping.start();
        return process.code()
                .compiled(address, lookup, names)
                .orElseGet(() -> module.isEmpty()
                        ? Frame.unknown(address)
                        : new Frame(address, "", "", offset, module, Frame.Source.MAPPING));
    }

    /** Called after each use of a process, whose list may have grown: bounds the lists, and collects problems. */
    private void boundLists(KnownProcess process) {
        problems.addAll(process.code());
        long bytes = 0;
        for (KnownProcess one : processes.sequencedValues().reversed()) {
            bytes += one.code().listBytes();
            if (bytes > MAX_LISTS && one.code().listBytes() > 0) {
                bytes -= one.code().listBytes();
                one.code().dropList();
                problems.addAll(one.code());
            }
        }
    }
}
