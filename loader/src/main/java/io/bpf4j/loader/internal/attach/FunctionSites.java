package io.bpf4j.loader.internal.attach;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.FileOpener;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.SymbolTables;
import io.bpf4j.elf.internal.text.NearestName;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.internal.attach.FunctionSymbols.Function;
import io.bpf4j.loader.internal.attach.FunctionSymbols.VersionedName;
import io.bpf4j.loader.link.OpenFile;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Resolves names of functions to the sites in a file that the kernel probes. <i>Immutable.</i> */
record FunctionSites(DebugFiles debugFiles, FileOpener opener) {
    /** MAX_UPROBE_MULTI_CNT in kernel/trace/bpf_trace.c. */
    private static final int MAX_SITES = 1 << 20;

    private static final int MAX_SUGGESTIONS = 5;

    /**
     * Sites of functions in a file, by file offset in bytes.
     *
     * @param file the file that the kernel opens; for a library stored in an archive, the archive
     * @param identity the identity of the file whose symbols were read
     * @param names for each offset a function, by its symbol
     */
    @SuppressWarnings("ArrayRecordComponent") // passed on once, never compared
    record Sites(Path file, FileIdentity identity, long[] offsets, List<String> names) {
        /** The identity of the file whose symbols were read: its offsets are not valid in a file that replaced it. */
        OpenFile open(AttachRequest request) {
            OpenFile opened = OpenFile.open(request.host(), file, file.toString());
            if (!opened.identity().equals(identity)) {
                opened.close();
                throw request.refused(file + " was replaced or written while its symbols were read; try again");
            }
            return opened;
        }
    }

    /**
     * The sites where functions start, in the order of their names, found in one pass.
     *
     * @param request the request, for messages
     * @param functions {@code NAME}, {@code NAME@VERSION} or {@code NAME@@VERSION}
     * @throws AttachException if the file lacks one of them, or has several that differ
     */
    Sites each(String request, Path file, List<String> functions) {
        return reading(request, file, elf -> {
            List<VersionedName> wanted =
                    functions.stream().map(FunctionSites::single).toList();
            Set<String> names = wanted.stream().map(w -> w.name().text()).collect(Collectors.toSet());
            Map<String, List<Function>> found =
                    FunctionSymbols.find(elf, debugFiles, f -> names.contains(f.name())).stream()
                            .collect(Collectors.groupingBy(Function::name));
            List<Function> chosen = new ArrayList<>();
            for (VersionedName each : wanted) {
                List<Function> own = found.getOrDefault(each.name().text(), List.of()).stream()
                        .filter(f -> f.is(each))
                        .toList();
                chosen.add(choose(elf, each, own));
            }
            return sites(elf, chosen);
        });
    }

    private static VersionedName single(String function) {
        VersionedName wanted = VersionedName.parse(function);
        if (!wanted.name().isExact()) {
            throw new AttachException("\"" + function + "\" is a pattern, which can match many functions:"
                    + " use UprobeMulti without cookies and semaphores, and a program of"
                    + " SEC(\"uprobe.multi\")");
        }
        return wanted;
    }

    /**
     * The sites where all functions start whose name matches a pattern, each site once, in file order.
     *
     * @throws AttachException if no function matches one of the patterns, or more than the kernel accepts match
     */
    Sites matching(String request, Path file, List<String> patterns) {
        return reading(request, file, elf -> {
            List<VersionedName> wanted =
                    patterns.stream().map(VersionedName::parse).toList();
            // A symbol whose bytes are not in the file, such as one in a section without file contents, can't be
            // probed.
            List<Function> found = FunctionSymbols.find(
                    elf,
                    debugFiles,
                    f -> wanted.stream().anyMatch(f::is)
                            && !f.indirect()
                            && elf.fileOffset(f.address()).isPresent());
            for (VersionedName each : wanted) {
                if (found.stream().noneMatch(f -> f.is(each))) {
                    throw new AttachException(
                            "no function in the file matches \"" + each.text() + "\"" + alternatives(elf, each));
                }
            }
            TreeMap<Long, Function> once = new TreeMap<>();
            found.forEach(f -> once.putIfAbsent(fileOffset(elf, f), f));
            if (once.size() > MAX_SITES) {
                throw new AttachException(once.size() + " functions match " + String.join(", ", patterns)
                        + ", but the kernel accepts at most " + MAX_SITES + " in one link");
            }
            return sites(elf, once.values());
        });
    }

    /**
     * Chooses among definitions: a function that other files can link against precedes a static function of the same
     * name, and the default version precedes other versions. Symbols at one address are one function.
     */
    private Function choose(ElfFile elf, VersionedName wanted, List<Function> found) {
        if (found.isEmpty()) {
            throw new AttachException("the file has no function \"" + wanted.text() + "\"" + alternatives(elf, wanted));
        }
        List<Function> direct = found.stream().filter(f -> !f.indirect()).toList();
        if (direct.isEmpty()) {
            throw new AttachException("\"" + wanted.text() + "\" is an indirect function (IFUNC): each"
                    + " process selects the code at its start; probe the selected function by its own name");
        }
        List<Function> chosen = preferred(direct, f -> !f.local());
        if (addresses(chosen) > 1) {
            chosen = preferred(chosen, f -> f.isDefault() && f.version().isPresent());
        }
        int count = addresses(chosen);
        if (count > 1) {
            String all = chosen.stream()
                    .map(f -> f.name() + f.version().map(v -> "@" + v).orElse("") + " at 0x"
                            + Long.toHexString(f.address()))
                    .distinct()
                    .collect(Collectors.joining(", "));
            throw new AttachException("\"" + wanted.text() + "\" is the name of " + count + " functions: " + all
                    + "; give the version, attach to one by its file offset, or attach to all with"
                    + " a program of SEC(\"uprobe.multi\")");
        }
        return chosen.getFirst();
    }

    /** The functions that a test accepts; all if it accepts none. */
    private static List<Function> preferred(List<Function> all, Predicate<Function> test) {
        List<Function> accepted = all.stream().filter(test).toList();
        return accepted.isEmpty() ? all : accepted;
    }

    private static int addresses(List<Function> functions) {
        return (int) functions.stream().mapToLong(Function::address).distinct().count();
    }

    private static long fileOffset(ElfFile elf, Function function) {
        return elf.containerOffset()
                + elf.fileOffset(function.address())
                        .orElseThrow(() -> new AttachException("address 0x" + Long.toHexString(function.address())
                                + " of " + function.name() + " is not in the file"));
    }

    private static Sites sites(ElfFile elf, Collection<Function> functions) {
        return new Sites(
                elf.path().orElseThrow(),
                elf.identity().orElseThrow(),
                functions.stream().mapToLong(f -> fileOffset(elf, f)).toArray(),
                functions.stream().map(Function::name).toList());
    }

    /** Similar functions in the file, or the reason why it may have none. */
    private String alternatives(ElfFile elf, VersionedName wanted) {
        String name = wanted.name().text();
        TreeSet<String> similar = new TreeSet<>();
        NearestName nearest = new NearestName(name);
        int[] functions = {0};
        FunctionSymbols.find(elf, debugFiles, f -> {
            functions[0]++;
            nearest.offer(f.name());
            // Mangled names contain the plain name: _ZN3Foo3barEv.
            if (f.name().contains(name)) {
                similar.add(f.version().map(v -> f.name() + "@" + v).orElse(f.name()));
            }
            return false;
        });
        if (!similar.isEmpty()) {
            return "; it has "
                    + similar.stream().limit(MAX_SUGGESTIONS).collect(Collectors.joining(", "))
                    + (similar.size() > MAX_SUGGESTIONS ? " and " + (similar.size() - MAX_SUGGESTIONS) + " more" : "");
        }
        boolean stripped = !SymbolTables.hasFullTable(elf);
        String closest =
                nearest.found().map(other -> "; the nearest is '" + other + "'").orElse("");
        return stripped
                ? closest + "; the file is stripped, and symbols were found for " + functions[0]
                        + " functions: install its debug symbols, or attach to a file offset"
                : closest;
    }

    /** Reads a file; the message of a failure begins with the request. */
    private Sites reading(String request, Path file, java.util.function.Function<ElfFile, Sites> reading) {
        try (ElfFile elf = ElfFile.open(file, opener)) {
            elf.header().whyNotRun().ifPresent(why -> {
                throw new AttachException(file + " " + why);
            });
            return reading.apply(elf);
        } catch (IOException e) {
            String why = switch (e) {
                case NoSuchFileException _ when file.toString().equals(e.getMessage()) -> "there is no file " + file;
                case AccessDeniedException _ -> "no permission to read " + file;
                default -> "the file can't be read: " + e.getMessage();
            };
            throw new AttachException("attach " + request + ": " + why, e);
        } catch (MalformedDataException e) {
            throw new AttachException("attach " + request + ": " + e.getMessage(), e);
        } catch (AttachException e) {
            throw new AttachException("attach " + request + ": " + e.getMessage(), e.getCause());
        }
    }
}
