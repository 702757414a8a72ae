package io.bpf4j.trace;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.trace.stack.Frame;
import io.bpf4j.trace.stack.StackCounts;
import io.bpf4j.trace.stack.Symbolizer;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The stacks of an answer with the names of their functions. A question about stacks in user space needs the key {@code
 * pid}, which says whose addresses they are; {@link Question#byUserStack} adds it. <i>Single consumer</i>: all methods
 * on one thread, but {@link #remember} on any.
 *
 * {@snippet lang = "java":
 * try (Answer answer = Question.on(probes).byUserStack().open();
 *         NamedStacks stacks = NamedStacks.create(Duration.ofSeconds(1))) {
 *     Thread.sleep(10_000);
 *     stacks.read(answer.rows());
 *     stacks.forEach(stack -> System.out.println(stack.count() + " " + stack.user()));
 * }
 * }
 *
 * <p>The names of a stack are not kept but looked up each time that they are needed, because the names of a hostile
 * process's frames could fill the memory.
 *
 * <p>Tested by {@code KindsOfQuestionsTest} and {@code CliStackTest}.
 */
public final class NamedStacks implements AutoCloseable {
    /** The frame in place of those that a {@link Stack#isCut() cut} stack lacks, in {@link #counts}. */
    public static final String CUT = "[cut]";

    /** The maximum number of sites that are checked; a program has some hundreds. */
    private static final int MAX_SITES = 1 << 16;

    private final Symbolizer symbolizer = Symbolizer.of(Host.running());
    private final JvmNames jvms;
    private List<Answer.Row> rows = List.of();
    private long endingEarly;
    private long cut;

    /** The facts about the sites of USDT probes; guarded by itself. */
    private final Map<Site, Judged> sites = new HashMap<>();

    private record Site(FileIdentity file, long address) {}

    /** Whether the code of a site has no frame of its own, by the table of its file. */
    private record Judged(String probe, boolean frameless) {}

    private NamedStacks(Duration patience) {
        jvms = new JvmNames(symbolizer, patience);
    }

    /**
     * Stacks that are named by the symbols of their files, and compiled Java methods by what their JVM says.
     *
     * @param patience how long to wait for a JVM that is asked for the names of its compiled methods, by its attach
     *     mechanism ({@link io.bpf4j.trace.stack.PerfMap#request}); zero to ask none
     */
    public static NamedStacks create(Duration patience) {
        return new NamedStacks(patience);
    }

    /**
     * A stack with its names. <i>Immutable.</i>
     *
     * @param key the values of the question's keys; without those that differ if it stands for several rows
     * @param user innermost first; empty if it was not asked for, or the thread had none
     * @param kernel likewise
     * @param count the number of events
     */
    public record Stack(Map<String, Object> key, List<Frame> user, List<Frame> kernel, long count) {
        /** Whether outer frames are missing, because the stack had more than the kernel records. */
        public boolean isCut() {
            return user.size() >= CompiledQuestion.FRAMES || kernel.size() >= CompiledQuestion.FRAMES;
        }

        /** All frames, innermost first. */
        public List<Frame> frames() {
            return Stream.concat(kernel.stream(), user.stream()).toList();
        }
    }

    /**
     * Tells which probes there are, so that the names of a stack are right if its process has ended: a probe's address
     * tells where a file was mapped. Call this only with all probes of the question, because the address of another
     * probe would be taken for one of these.
     */
    public void probes(List<UsdtProbe> probes, List<FunctionProbe> functions) {
        Map<Path, List<Long>> places = new HashMap<>();
        probes.forEach(probe -> probe.sites()
                .forEach(site -> places.computeIfAbsent(probe.binary().path(), _ -> new ArrayList<>())
                        .add(site.fileOffset())));
        functions.forEach(function -> function.fileOffset()
                .ifPresent(offset -> places.computeIfAbsent(function.file(), _ -> new ArrayList<>())
                        .add(offset)));
        places.forEach((file, offsets) -> {
            try {
                symbolizer.probesAt(file, offsets);
            } catch (IOException | MalformedDataException e) {
                // Attaching reports the failure, too. If only this fails, the stacks of ended processes lack names.
            }
        });
    }

    /**
     * Tells that the question is attached to these probes, so that {@link #gaps} can say whose stacks lack a caller. Reads
     * their files now, because the files of a container can't be reached after its processes. On any thread; a probe
     * may be passed again.
     */
    public void attached(Collection<UsdtProbe> probes) {
        synchronized (sites) {
            probes.stream()
                    .collect(Collectors.groupingBy(UsdtProbe::binary))
                    .forEach((binary, ofFile) -> judge(binary, ofFile));
        }
    }

    private void judge(UsdtBinary binary, List<UsdtProbe> probes) {
        Map<Site, String> unknown = new LinkedHashMap<>();
        for (UsdtProbe probe : probes) {
            for (UsdtSite site : probe.sites()) {
                Site key = new Site(binary.identity(), site.address());
                if (!sites.containsKey(key) && sites.size() + unknown.size() < MAX_SITES) {
                    unknown.put(key, probe.fullName());
                }
            }
        }
        if (unknown.isEmpty()) {
            return;
        }
        Set<Long> frameless = Set.of();
        try (ElfFile elf = ElfFile.open(binary.path(), OpenFile.opener(Host.running()))) {
            if (elf.identity().equals(Optional.of(binary.identity()))) {
                frameless = UnwindTable.frameless(
                        elf, unknown.keySet().stream().map(Site::address).toList());
            }
        } catch (IOException | MalformedDataException e) {
            // Attaching reports the first failure. The second is not a defect of the answer, as a table may lack the
            // site, too.
        }
        Set<Long> found = frameless;
        unknown.forEach((site, probe) -> sites.put(site, new Judged(probe, found.contains(site.address()))));
    }

    /** Keeps what a process has mapped now, because it may have ended before its stacks are named. */
    public void remember(int pid) {
        symbolizer.remember(pid);
    }

    /**
     * Asks the JVMs among some processes for the names of their compiled methods, each once. {@link #read} does so,
     * too; an earlier request gives names to methods that the JVM discards before.
     *
     * @param asking gets the pid of each JVM that is asked
     */
    public void ask(Collection<Integer> pids, Consumer<Integer> asking) {
        jvms.ask(pids, asking);
    }

    /** Lets {@link #read} ask the JVMs again, because they may have compiled more methods. */
    public void forget() {
        jvms.forget();
    }

    /**
     * Reads the symbols that the stacks of an answer need. The other methods are about these stacks from now on.
     *
     * @param asking gets the pid of each JVM that is asked
     */
    public void read(List<Answer.Row> answer, Consumer<Integer> asking) {
        rows = answer.stream()
                .sorted(Comparator.comparingLong(Answer.Row::count).reversed())
                .toList();
        endingEarly = 0;
        cut = 0;
        Map<Integer, List<List<StackTraceMap.Frame>>> inUser = rows.stream()
                .filter(row -> row.userStack().isPresent())
                .collect(Collectors.groupingBy(
                        NamedStacks::pid,
                        LinkedHashMap::new,
                        Collectors.mapping(row -> row.userStack().orElseThrow(), Collectors.toList())));
        jvms.ask(inUser.keySet(), asking);
        symbolizer.prepare(inUser);
        for (Answer.Row row : rows) {
            List<StackTraceMap.Frame> stack = row.userStack().orElse(List.of());
            if (!stack.isEmpty() && symbolizer.endsEarly(pid(row), stack)) {
                endingEarly += row.count();
            }
            if (named(row).isCut()) {
                cut += row.count();
            }
        }
    }

    /** As {@link #read(List, Consumer)}. */
    public void read(List<Answer.Row> answer) {
        read(answer, _ -> {});
    }

    /** Hands over each row with its names, the most frequent first. */
    public void forEach(Consumer<Stack> handler) {
        rows.forEach(row -> handler.accept(named(row)));
    }

    /**
     * As {@link #forEach}, but one for all processes whose stacks have the same names, and the same keys but {@code
     * pid}.
     */
    public void forEachOfAll(Consumer<Stack> handler) {
        if (rows.stream().map(NamedStacks::pid).distinct().limit(2).count() < 2) {
            forEach(handler);
            return;
        }
        Map<String, SameStacks> byDigest = new LinkedHashMap<>();
        for (Answer.Row row : rows) {
            byDigest.merge(
                    digest(row), new SameStacks(row, row.key(), row.count()), (all, one) -> all.and(one.first()));
        }
        byDigest.values().stream()
                .sorted(Comparator.comparingLong(SameStacks::count).reversed())
                .forEach(same -> {
                    Stack first = named(same.first());
                    handler.accept(new Stack(same.key(), first.user(), first.kernel(), same.count()));
                });
    }

    /** Equal stacks of several processes, represented by the first one. */
    private record SameStacks(Answer.Row first, Map<String, Object> key, long count) {
        /** The process is left out if there are several. */
        SameStacks and(Answer.Row other) {
            Map<String, Object> common = new LinkedHashMap<>(key);
            common.entrySet().retainAll(other.key().entrySet());
            return new SameStacks(first, common, count + other.count());
        }
    }

    /** A digest of a stack's names and keys without its process: the names themselves could fill the memory. */
    private String digest(Answer.Row row) {
        Stack stack = named(row);
        Map<String, Object> key = new LinkedHashMap<>(stack.key());
        key.remove("pid");
        MessageDigest digest = sha256();
        digest.update(CString.encode(key.toString()));
        for (List<Frame> frames : List.of(stack.kernel(), stack.user())) {
            digest.update((byte) '\n');
            frames.forEach(frame -> digest.update(CString.encode(frame.label() + "\n")));
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
        }
    }

    /** All stacks as a tree, for folded stacks and flame graphs. */
    public StackCounts counts() {
        StackCounts counts = StackCounts.create();
        forEach(stack -> counts.add(stack.isCut() ? CUT : "", stack.user(), stack.kernel(), stack.count()));
        return counts;
    }

    /**
     * Which functions have no names, and why ({@link Diagnostic.Kind#UNNAMED}, {@link Diagnostic.Kind#LEFT_OUT}), of
     * all stacks so far.
     */
    public List<Diagnostic> problems() {
        return Stream.concat(symbolizer.problems().stream(), jvms.problems().stream())
                .toList();
    }

    /**
     * Which callers the stacks lack ({@link Diagnostic.Kind#LEFT_OUT}): if a stack is cut, if those of more than half of
     * the events end early, and else if the code of a probe that was {@link #attached} has no frame of its own. The last
     * is known on x86-64, of files with {@code .eh_frame}, as compilers write it.
     */
    public List<Diagnostic> gaps() {
        List<Diagnostic> gaps = new ArrayList<>();
        long all = rows.stream().mapToLong(Answer.Row::count).sum();
        // Some are short by nature, but many are a sign of code without frame pointers.
        if (endingEarly > all / 2) {
            gaps.add(new Diagnostic(
                    Diagnostic.Kind.LEFT_OUT,
                    "",
                    "the stacks of " + endingEarly + " of " + all
                            + " events end early: this code seems to be built without frame pointers"
                            + " (gcc -fno-omit-frame-pointer, on s390x -mbackchain; java -XX:+PreserveFramePointer)"));
        } else if (rows.stream().anyMatch(row -> row.userStack().isPresent())) {
            withoutCaller().ifPresent(gaps::add);
        }
        if (cut > 0) {
            gaps.add(new Diagnostic(
                    Diagnostic.Kind.LEFT_OUT,
                    "",
                    "the stacks of " + cut + " events are cut after the innermost " + CompiledQuestion.FRAMES
                            + " frames (the default of the sysctl kernel.perf_event_max_stack); " + CUT
                            + " stands for their callers"));
        }
        return gaps;
    }

    /** The probes whose stacks lack the direct caller, which the stacks don't show: see {@link UnwindTable}. */
    private Optional<Diagnostic> withoutCaller() {
        List<Judged> judged;
        synchronized (sites) {
            judged = List.copyOf(sites.values());
        }
        List<String> probes = judged.stream()
                .filter(Judged::frameless)
                .map(Judged::probe)
                .distinct()
                .sorted()
                .toList();
        if (probes.isEmpty()) {
            return Optional.empty();
        }
        long all = judged.stream().filter(site -> probes.contains(site.probe())).count();
        long lacking = judged.stream().filter(Judged::frameless).count();
        return Optional.of(new Diagnostic(
                Diagnostic.Kind.LEFT_OUT,
                probes.size() == 1 ? probes.getFirst() : "",
                "the stacks of "
                        + (probes.size() == 1
                                ? probes.getFirst()
                                : probes.size() + " probes, such as " + probes.getFirst() + ",")
                        + " lack the direct caller"
                        + (lacking < all ? " at " + lacking + " of " + all + " sites" : "")
                        + ": their function has no frame of its own there; a question about the function"
                        + " (u:NAME) has it"));
    }

    private Stack named(Answer.Row row) {
        return new Stack(
                row.key(),
                row.userStack().map(stack -> symbolizer.user(pid(row), stack)).orElse(List.of()),
                row.kernelStack().map(symbolizer::kernel).orElse(List.of()),
                row.count());
    }

    private static int pid(Answer.Row row) {
        return ((Long) row.key().getOrDefault("pid", 0L)).intValue();
    }

    /** Frees the symbols that were read. */
    @Override
    public void close() {
        symbolizer.close();
    }
}
