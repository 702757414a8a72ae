package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget.Uprobe;
import io.bpf4j.loader.link.AttachTarget.UprobeMulti;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.OpenFile;
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
 * Attaches a question to functions: by one link for those of a file, or by one link for each function if the kernel has
 * no uprobe_multi (Linux 6.6).
 *
 * <p>A function that a wildcard found is left out if the kernel can't probe its first instruction. Tables of a big
 * program usually have some such functions, written in assembler.
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
final class FunctionLinks {
    private final Program program;
    private final boolean together;
    private final ToLongFunction<FunctionProbeData> cookies;
    private final OptionalInt pid;
    private final Map<FileIdentity, OpenFile> files;
    private final LinkGroup group = LinkGroup.inParallel("functions");
    private final List<FunctionProbeData> leftOut = new ArrayList<>();

    /** Functions that one link can take. */
    private record Kind(Path file, Optional<FileIdentity> identity, boolean returns) {
        static Kind of(FunctionProbeData function) {
            return new Kind(
                    function.place().map(FunctionProbeData.Place::file).orElse(function.file()),
                    function.place().map(FunctionProbeData.Place::identity),
                    function.returns());
        }
    }

    private FunctionLinks(
            BpfObject object,
            ToLongFunction<FunctionProbeData> cookies,
            OptionalInt pid,
            Map<FileIdentity, OpenFile> files) {
        this.together = object.features().has(Feature.UPROBE_MULTI_LINK)
                && (pid.isEmpty() || object.features().has(Feature.UPROBE_MULTI_PROCESS));
        Program loaded = object.program(CompiledQuestion.FUNCTION_PROGRAM);
        this.program = together ? loaded.forAttachType(AttachType.TRACE_UPROBE_MULTI) : loaded.withoutAttachType();
        this.cookies = cookies;
        this.pid = pid;
        this.files = files;
    }

    /**
     * Attaches to all functions, but for those that are left out.
     *
     * <p>The entries of functions are probed, too, if only their returns are asked for: they tell which returns the kernel
     * drops.
     *
     * @param files the open files of functions that were attached to before. More are added. The caller closes them
     * @param leftOut receives the functions that are left out
     * @throws AttachException if a file lacks one of them, or the kernel refuses one that may not be left out; then
     *     nothing is attached
     */
    static LinkGroup attach(
            BpfObject object,
            List<FunctionProbe> functions,
            ProbeNumbers numbers,
            OptionalInt pid,
            Map<FileIdentity, OpenFile> files,
            Consumer<FunctionProbe> leftOut) {
        List<FunctionProbeData> asked =
                once(functions.stream().map(FunctionProbeData.class::cast).toList());
        asked.forEach(FunctionLinks::requireHarmless);
        Set<FunctionProbeData> returns =
                asked.stream().filter(FunctionProbe::returns).collect(Collectors.toCollection(LinkedHashSet::new));
        Set<FunctionProbeData> silent = new LinkedHashSet<>();
        returns.forEach(function -> silent.add(function.withReturns(false)));
        asked.forEach(silent::remove);
        FunctionLinks links = new FunctionLinks(
                object,
                function -> silent.contains(function)
                        ? ProbeNumbers.silent(pid.orElse(0))
                        : numbers.cookie(function, returns.contains(function.withReturns(true)), pid.orElse(0))
                                | ProbeNumbers.convention(function.convention()),
                pid,
                files);
        try {
            Stream.concat(asked.stream(), silent.stream())
                    .collect(Collectors.groupingBy(Kind::of, LinkedHashMap::new, Collectors.toList()))
                    .forEach(links::attach);
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
     * A return probe of the kernel replaces the return address on the stack. Go walks stacks, to grow them and to collect
     * garbage, and ends a program in which it finds an address that it does not know.
     */
    private static void requireHarmless(FunctionProbeData function) {
        if (function.returns() && function.convention() != FunctionProbeData.Convention.C) {
            throw new AttachException("the return of " + function.function() + " in " + function.file()
                    + " can't be probed: it is a Go function, and a return probe on its stack would end the program"
                    + " (\"unexpected return pc\"); probe its entry, u:" + function.function());
        }
    }

    /** An entry or a return in a file. */
    private record At(FileIdentity identity, long offset, boolean returns) {
        static Optional<At> of(FunctionProbeData function) {
            return function.place().map(place -> new At(place.identity(), place.offset(), function.returns()));
        }
    }

    /**
     * Leaves out functions with which a call would be counted twice: a function that is given twice, and a function that a
     * wildcard found at the same place as another function. Two names for one place that are both written out stay.
     */
    private static List<FunctionProbeData> once(List<FunctionProbeData> functions) {
        Predicate<FunctionProbeData> wild = function ->
                function.place().map(FunctionProbeData.Place::oneOfMany).orElse(false);
        Map<At, Set<String>> namesAt = new HashMap<>();
        return Stream.concat(
                        functions.stream().filter(wild.negate()),
                        functions.stream().filter(wild))
                .filter(function -> {
                    Optional<At> at = At.of(function);
                    Set<String> names = at.map(key -> namesAt.computeIfAbsent(key, _ -> new HashSet<>()))
                            .orElseGet(HashSet::new);
                    return (names.isEmpty() || !wild.test(function)) && names.add(function.function());
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

    /** @param file where the offsets are; empty if the functions are known by name */
    private void attach(List<FunctionProbeData> functions, Optional<OpenFile> file) {
        List<FunctionProbeData> wanted = new ArrayList<>(functions);
        if (!together) {
            for (FunctionProbeData function : functions) {
                try {
                    Uprobe one = one(function, file).withCookie(cookies.applyAsLong(function));
                    group.add(program.attach(pid.isPresent() ? one.inProcess(pid.getAsInt()) : one));
                } catch (AttachException e) {
                    leaveOut(wanted, wanted.indexOf(function), e);
                }
            }
            return;
        }
        while (true) {
            try {
                UprobeMulti all = all(wanted, file)
                        .withCookies(wanted.stream().mapToLong(cookies).toArray());
                group.add(program.attach(pid.isPresent() ? all.inProcess(pid.getAsInt()) : all));
                return;
            } catch (AttachException e) {
                leaveOut(
                        wanted,
                        e.site().orElseThrow(() -> e),
                        new AttachException(wanted.get(e.site().getAsInt()) + ": " + e.getMessage(), e));
            }
        }
    }

    /** @param wanted of one file; the last one is not left out, because then there is nothing to attach to */
    private void leaveOut(List<FunctionProbeData> wanted, int index, AttachException why) {
        boolean may = wanted.get(index)
                .place()
                .map(FunctionProbeData.Place::oneOfMany)
                .orElse(false);
        if (!may || wanted.size() == 1) {
            throw why;
        }
        leftOut.add(wanted.remove(index));
    }

    private static Uprobe one(FunctionProbeData function, Optional<OpenFile> file) {
        if (file.isPresent()) {
            long offset = function.place().orElseThrow().offset();
            return function.returns() ? Uprobe.exitAt(file.get(), offset) : Uprobe.at(file.get(), offset);
        }
        return function.returns()
                ? Uprobe.exit(function.file(), function.function())
                : Uprobe.entry(function.file(), function.function());
    }

    private static UprobeMulti all(List<FunctionProbeData> functions, Optional<OpenFile> file) {
        FunctionProbeData first = functions.getFirst();
        if (file.isPresent()) {
            long[] offsets = functions.stream()
                    .mapToLong(function -> function.place().orElseThrow().offset())
                    .toArray();
            return first.returns() ? UprobeMulti.exitAt(file.get(), offsets) : UprobeMulti.at(file.get(), offsets);
        }
        String[] names = functions.stream().map(FunctionProbe::function).toArray(String[]::new);
        return first.returns() ? UprobeMulti.exit(first.file(), names) : UprobeMulti.entry(first.file(), names);
    }
}
