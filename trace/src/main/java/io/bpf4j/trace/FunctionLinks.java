package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.process.UprobeInodes;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Feature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Attaches a question to functions: by one link for all functions of a file, or by one link for each function if the
 * kernel has no uprobe_multi (Linux 6.6).
 *
 * <p>A function that a wildcard found is left out if the kernel can't probe its first instruction. The symbol tables of
 * a large program usually contain some such functions, written in assembler.
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
final class FunctionLinks {
    private final Program program;
    private final boolean multiLinks;
    private final ToLongFunction<FunctionProbeData> cookies;
    private final OptionalInt pid;
    private final Map<FileIdentity, OpenFile> files;
    private final LinkGroup group = LinkGroup.inParallel("functions");
    private final List<FunctionProbeData> leftOut = new ArrayList<>();

    /** The key of the functions that one link can take. */
    private record Kind(Path file, Optional<FileIdentity> identity, boolean returns) {
        static Kind of(FunctionProbeData function) {
            return new Kind(
                    function.start().map(FunctionProbeData.Start::file).orElse(function.file()),
                    function.start().map(FunctionProbeData.Start::identity),
                    function.returns());
        }
    }

    private FunctionLinks(
            BpfObject object,
            ToLongFunction<FunctionProbeData> cookies,
            OptionalInt pid,
            Map<FileIdentity, OpenFile> files) {
        this.multiLinks = haveMultiLinks(object, pid);
        this.program = program(object, pid);
        this.cookies = cookies;
        this.pid = pid;
        this.files = files;
    }

    private static boolean haveMultiLinks(BpfObject object, OptionalInt pid) {
        return object.features().has(Feature.UPROBE_MULTI_LINK)
                && (pid.isEmpty() || object.features().has(Feature.UPROBE_MULTI_PROCESS));
    }

    /** The program that is attached, in a process or in all. */
    static Program program(BpfObject object, OptionalInt pid) {
        Program loaded = object.program(QuestionProgram.FUNCTION_PROGRAM);
        return haveMultiLinks(object, pid)
                ? loaded.forAttachType(AttachType.TRACE_UPROBE_MULTI)
                : loaded.withoutAttachType();
    }

    /**
     * Attaches to all functions except those that are left out.
     *
     * <p>What ends a pair is attached before what begins one ({@link PairOrder}).
     *
     * <p>If only the return of a function is requested, its entry is probed, too, because the entries tell which
     * returns the kernel drops.
     *
     * @param files the open files of functions that were attached to before; receives the newly opened files. The
     *     caller closes them
     * @param leftOut receives the functions that are left out
     * @throws AttachException if a file lacks one of the functions, or the kernel refuses a function that may not be
     *     left out; then nothing is attached
     */
    static LinkGroup attach(
            BpfObject object,
            List<FunctionProbe> functions,
            ProbeNumbers numbers,
            OptionalInt pid,
            Map<FileIdentity, OpenFile> files,
            Consumer<FunctionProbe> leftOut) {
        List<FunctionProbeData> requested = withoutDuplicates(
                functions.stream().map(FunctionProbeData.class::cast).toList(), numbers::mustRunFirst);
        requested.forEach(FunctionLinks::refuseGoReturn);
        Set<FunctionProbeData> returns =
                requested.stream().filter(FunctionProbe::returns).collect(Collectors.toCollection(LinkedHashSet::new));
        Set<FunctionProbeData> silent = new LinkedHashSet<>();
        returns.forEach(function -> silent.add(function.withReturns(false)));
        requested.forEach(silent::remove);
        FunctionLinks links = new FunctionLinks(
                object,
                function -> silent.contains(function)
                        ? ProbeNumbers.silent(pid.orElse(0))
                        : numbers.cookie(function, returns.contains(function.withReturns(true)), pid.orElse(0))
                                | ProbeNumbers.convention(function.convention()),
                pid,
                files);
        try {
            Map<Boolean, List<FunctionProbeData>> all = Stream.concat(requested.stream(), silent.stream())
                    .collect(Collectors.partitioningBy(numbers::mustRunFirst));
            for (boolean runsFirst : new boolean[] {false, true}) { // see PairOrder
                all.getOrDefault(runsFirst, List.of()).stream()
                        .collect(Collectors.groupingBy(Kind::of, LinkedHashMap::new, Collectors.toList()))
                        .forEach(links::attach);
            }
            links.leftOut.stream()
                    .filter(function -> !silent.contains(function))
                    .forEach(leftOut);
            return links.group;
        } catch (RuntimeException | Error e) {
            links.group.closeAfter(e);
            throw e;
        }
    }

    /**
     * A return probe of the kernel replaces the return address on the stack. The Go runtime walks stacks, to grow them
     * and to collect garbage, and ends the program if it finds an unknown address.
     */
    private static void refuseGoReturn(FunctionProbeData function) {
        if (function.returns() && function.convention() != FunctionProbeData.Convention.C) {
            throw new AttachException("the return of " + function.function() + " in " + function.file()
                    + " can't be probed: it is a Go function, and a return probe on its stack would end the program"
                    + " (\"unexpected return pc\"); probe its entry, u:" + function.function());
        }
    }

    /**
     * An entry or a return in a file; for files that share their breakpoints, in the first one.
     *
     * @param where the offset in the file, or the name if the offset is unknown
     * @param begins whether it begins a pair, which another name of the function may end
     */
    private record At(FileIdentity identity, Object where, boolean returns, boolean begins) {}

    /** The file of a function; empty if it does not exist: attaching says so. */
    private static Optional<FileIdentity> identity(FunctionProbeData function) {
        try {
            return Optional.of(
                    function.start().isPresent()
                            ? function.start().get().identity()
                            : FileIdentity.of(function.file()));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /**
     * Leaves out functions whose calls would be counted twice: a function that is given twice, also in two files that
     * share their breakpoints, and a function that a wildcard found at the same address as another function. Two names for one address stay if both are written out.
     */
    private static List<FunctionProbeData> withoutDuplicates(
            List<FunctionProbeData> functions, Predicate<FunctionProbe> begins) {
        Predicate<FunctionProbeData> byWildcard = function ->
                function.start().map(FunctionProbeData.Start::oneOfMany).orElse(false);
        Map<FunctionProbeData, FileIdentity> identities = new HashMap<>();
        Map<FileIdentity, Path> paths = new LinkedHashMap<>();
        functions.forEach(function -> identity(function).ifPresent(identity -> {
            identities.put(function, identity);
            paths.putIfAbsent(
                    identity,
                    function.start().map(FunctionProbeData.Start::file).orElse(function.file()));
        }));
        Map<FileIdentity, FileIdentity> shared = UprobeInodes.shared(Host.running(), paths);
        Map<At, Set<String>> namesAt = new HashMap<>();
        return Stream.concat(
                        functions.stream().filter(byWildcard.negate()),
                        functions.stream().filter(byWildcard))
                .filter(function -> {
                    Optional<At> at = Optional.ofNullable(identities.get(function))
                            .map(identity -> new At(
                                    shared.getOrDefault(identity, identity),
                                    function.start()
                                            .<Object>map(FunctionProbeData.Start::offset)
                                            .orElse(function.function()),
                                    function.returns(),
                                    begins.test(function)));
                    Set<String> names = at.map(key -> namesAt.computeIfAbsent(key, _ -> new HashSet<>()))
                            .orElseGet(HashSet::new);
                    return (names.isEmpty() || !byWildcard.test(function)) && names.add(function.function());
                })
                .toList();
    }

    private void attach(Kind kind, List<FunctionProbeData> functions) {
        attach(functions, kind.identity().map(identity -> files.computeIfAbsent(identity, _ -> open(kind))));
    }

    private static OpenFile open(Kind kind) {
        OpenFile file = OpenFile.open(Host.running(), kind.file(), kind.file().toString());
        if (!file.identity().equals(kind.identity().orElseThrow())) {
            file.close();
            throw new AttachException("attach to functions of " + kind.file()
                    + ": the file was replaced or written after its symbols were read; try again");
        }
        return file;
    }

    /** @param file the file with the functions' offsets; empty if the functions are known by name only */
    private void attach(List<FunctionProbeData> functions, Optional<OpenFile> file) {
        List<FunctionProbeData> remaining = new ArrayList<>(functions);
        if (!multiLinks) {
            for (FunctionProbeData function : functions) {
                try {
                    Uprobe uprobe = uprobe(function, file).withCookie(cookies.applyAsLong(function));
                    group.add(program.attach(pid.isPresent() ? uprobe.inProcess(pid.getAsInt()) : uprobe));
                } catch (AttachException e) {
                    leaveOut(remaining, remaining.indexOf(function), e);
                }
            }
            return;
        }
        while (true) {
            try {
                UprobeMulti uprobeMulti = uprobeMulti(remaining, file)
                        .withCookies(remaining.stream().mapToLong(cookies).toArray());
                group.add(program.attach(pid.isPresent() ? uprobeMulti.inProcess(pid.getAsInt()) : uprobeMulti));
                return;
            } catch (AttachException e) {
                leaveOut(
                        remaining,
                        e.site().orElseThrow(() -> e),
                        new AttachException(remaining.get(e.site().getAsInt()) + ": " + e.getMessage(), e));
            }
        }
    }

    /** @param remaining the functions of one file; the last one is not left out, because a link needs at least one */
    private void leaveOut(List<FunctionProbeData> remaining, int index, AttachException failure) {
        boolean mayBeLeftOut = remaining
                .get(index)
                .start()
                .map(FunctionProbeData.Start::oneOfMany)
                .orElse(false);
        if (!mayBeLeftOut || remaining.size() == 1) {
            throw failure;
        }
        leftOut.add(remaining.remove(index));
    }

    private static Uprobe uprobe(FunctionProbeData function, Optional<OpenFile> file) {
        if (file.isPresent()) {
            long offset = function.start().orElseThrow().offset();
            return function.returns() ? Uprobe.exitAt(file.get(), offset) : Uprobe.at(file.get(), offset);
        }
        return function.returns()
                ? Uprobe.exit(function.file(), function.function())
                : Uprobe.entry(function.file(), function.function());
    }

    private static UprobeMulti uprobeMulti(List<FunctionProbeData> functions, Optional<OpenFile> file) {
        FunctionProbeData first = functions.getFirst();
        if (file.isPresent()) {
            long[] offsets = functions.stream()
                    .mapToLong(function -> function.start().orElseThrow().offset())
                    .toArray();
            return first.returns() ? UprobeMulti.exitAt(file.get(), offsets) : UprobeMulti.at(file.get(), offsets);
        }
        String[] names = functions.stream().map(FunctionProbe::function).toArray(String[]::new);
        return first.returns() ? UprobeMulti.exit(first.file(), names) : UprobeMulti.entry(first.file(), names);
    }
}
