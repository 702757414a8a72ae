package io.bpf4j.trace;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Symbol;
import io.bpf4j.elf.SymbolTables;
import io.bpf4j.elf.internal.text.NearestName;
import io.bpf4j.loader.internal.glob.Glob;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.trace.internal.demangle.Demangler;
import io.bpf4j.usdt.ProbePattern;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/**
 * The entry or the return of a function in a file. At the entry {@code arg0} to {@code arg5} are the registers in which
 * the machine passes integers and pointers, unsigned; on s390x there are five. At the return {@code retval} is the
 * result, the whole register, unsigned: use {@code (int)retval} if the function returns an {@code int}.
 * <i>Immutable.</i>
 *
 * <p>In a 32-bit process of x86-64 the arguments are the first six words on the stack. For a Go function they are the
 * registers that Go uses since 1.17, on x86-64, arm64 and riscv64: a string or an interface takes two, a slice three.
 * Go functions that take arguments in another way have none here. The returns of Go functions are refused: the kernel's
 * return probes change the stack, and the Go runtime ends a program with such a stack.
 *
 * <p>Needs BPF cookies (Linux 5.15). Functions that are inlined don't exist at run time.
 */
public sealed interface FunctionProbe permits FunctionProbeData {
    /** The start of a function, by its symbol. The file is read when the probe is attached. */
    static FunctionProbe entry(Path file, String function) {
        return new FunctionProbeData(file, function, function, false, Optional.empty());
    }

    /**
     * The return of a function. The file is read when the probe is attached.
     *
     * @throws IllegalArgumentException if the symbol names a moved part of a function, such as {@code parse.cold},
     *     which has no return: the kernel would change another word of the stack
     */
    static FunctionProbe exit(Path file, String function) {
        if (FunctionPattern.isMovedPart(function)) {
            throw new IllegalArgumentException(
                    function + " is a moved part of a function, to which code jumps and which does not return: probe"
                            + " the function");
        }
        return new FunctionProbeData(file, function, function, true, Optional.empty());
    }

    /**
     * The functions of a file whose names match a pattern, which has the wildcards of a {@link ProbePattern}'s name.
     * Empty if there are none.
     *
     * <p>A pattern with {@code ::}, <code>(</code> or {@code <} is also compared with the names that C++ and Rust
     * functions have in their sources, with and without parameters: {@code shop::checkout} and {@code
     * shop::Order::pay(int)}. So is a name without a wildcard.
     *
     * <p>Functions are looked up in the file's symbol tables, and in the separate debug symbols of a stripped file. Two
     * functions with the same name are two probes; two names of the same function are one probe. An indirect function
     * (IFUNC) is left out: it only chooses the code that runs. So is a part of a function that the compiler moved
     * elsewhere ({@code parse.cold}), unless the pattern names its entry. If the pattern has a wildcard, a function
     * that the kernel can't probe is left out when the others are attached.
     *
     * @param returns true for the returns of the functions, false for their entries
     * @throws IllegalArgumentException if braces of the pattern are nested too deeply
     * @throws IOException if the file can't be read
     * @throws MalformedDataException if it is not an ELF file, is neither a program nor a library, or its symbol tables
     *     are broken
     */
    static List<FunctionProbe> matching(Path file, String pattern, boolean returns) throws IOException {
        FunctionPattern wanted = FunctionPattern.of(pattern);
        try (ElfFile elf = ElfFile.open(file, OpenFile.opener(Host.running()))) {
            elf.header().whyNotRun().ifPresent(why -> {
                throw new MalformedDataException(elf.source(), 16, why);
            });
            Path opened = elf.path().orElse(file);
            FileIdentity identity = elf.identity().orElseThrow();
            Optional<GoBuild> go = GoBuild.of(elf);
            AtomicBoolean unwinds = new AtomicBoolean();
            Map<Long, FunctionProbeData> byOffset = new LinkedHashMap<>();
            SymbolTables.read(elf, DebugFiles.standard(), (_, symbol) -> {
                if (Unwinding.indicates(symbol)) {
                    unwinds.set(true);
                }
                String function = unversioned(symbol.name());
                Optional<String> name =
                        canBeProbed(symbol, function, returns) ? wanted.nameOf(function) : Optional.empty();
                OptionalLong offset = name.isPresent() ? elf.fileOffset(symbol.value()) : OptionalLong.empty();
                if (name.isPresent() && offset.isPresent()) {
                    long start = elf.containerOffset() + offset.getAsLong();
                    FunctionProbeData.Convention convention = FunctionProbeData.Convention.of(elf, go, function);
                    FunctionProbeData.Start found =
                            new FunctionProbeData.Start(opened, identity, start, !wanted.isExact(), convention, false);
                    byOffset.putIfAbsent(
                            start, new FunctionProbeData(file, function, name.get(), returns, Optional.of(found)));
                }
            });
            return byOffset.values().stream()
                    .<FunctionProbe>map(function -> unwinds.get() ? function.withUnwinding() : function)
                    .toList();
        }
    }

    private static boolean canBeProbed(Symbol symbol, String function, boolean returns) {
        return symbol.isFunction() && symbol.isInSection() && !(returns && FunctionPattern.isMovedPart(function));
    }

    /**
     * The function in the files whose name is nearest to another name, for messages: the shortest name that contains
     * it, as mangled names contain the plain name, or else the name with the fewest characters to change, insert or
     * delete, if these are at most half of its characters. If the other name has {@code ::}, the names are those of the
     * sources, without parameters. Files with broken symbol tables are left out.
     *
     * @throws IOException if a file can't be read
     */
    static Optional<String> nearest(Collection<Path> files, String function) throws IOException {
        boolean demangled = FunctionPattern.isOfSource(function);
        NearestName nearest = new NearestName(function);
        AtomicReference<String> containing = new AtomicReference<>();
        for (Path file : files) {
            try (ElfFile elf = ElfFile.open(file, OpenFile.opener(Host.running()))) {
                SymbolTables.read(elf, DebugFiles.standard(), (_, symbol) -> {
                    if (symbol.isFunction() && symbol.isInSection()) {
                        String name = demangled
                                ? Demangler.withoutParameters(unversioned(symbol.name()))
                                : unversioned(symbol.name());
                        String shortest = containing.get();
                        if (name.contains(function) && (shortest == null || name.length() < shortest.length())) {
                            containing.set(name);
                        }
                        nearest.offer(name);
                    }
                });
            } catch (MalformedDataException e) {
                // The name that was found so far is good enough for a message.
            }
        }
        boolean ofSymbols = demangled || Demangler.isMangled(function);
        return Optional.ofNullable(containing.get())
                .or(nearest::found)
                .map(name -> ofSymbols ? name : Demangler.withoutParameters(name));
    }

    /**
     * The versions that the compiler made of functions, such as {@code f.constprop.0} for calls with a constant
     * argument, and that are not among them: their calls do not count as calls of the function. Only the first four
     * functions are looked up, since more come from a pattern.
     *
     * @param functions of one file
     * @return one for each version ({@link Diagnostic.Kind#LEFT_OUT}); the subject is the version, {@link #fullName}
     * @throws IOException if the file can't be read
     */
    static List<Diagnostic> otherVersions(List<FunctionProbe> functions) throws IOException {
        Set<String> known = functions.stream().map(FunctionProbe::symbolOf).collect(Collectors.toUnmodifiableSet());
        List<Diagnostic> others = new ArrayList<>();
        for (FunctionProbe function :
                functions.subList(0, Math.min(functions.size(), FunctionProbeData.MAX_WITH_VERSIONS))) {
            for (FunctionProbe version :
                    matching(function.file(), Glob.quoted(function.function()) + ".*", function.returns())) {
                if (!known.contains(symbolOf(version))) {
                    others.add(new Diagnostic(
                            Diagnostic.Kind.LEFT_OUT,
                            version.fullName(),
                            function.file() + " has " + version.function() + ", a version of " + function.name()
                                    + " that the compiler made: its calls do not count as calls of "
                                    + function.fullName() + "; to include them, name " + version.fullName()
                                    + ", too"));
                }
            }
        }
        return others;
    }

    private static String symbolOf(FunctionProbe function) {
        return function.provider() + ":" + function.function();
    }

    /** The linker writes versions into the names of the full table: {@code memcpy@@GLIBC_2.14}. */
    private static String unversioned(String name) {
        int at = name.indexOf('@', 1);
        return at > 0 ? name.substring(0, at) : name;
    }

    Path file();

    /** Its symbol. */
    String function();

    /** The name in answers: the symbol, or its demangled name if a pattern matched only that. */
    String name();

    /** The offset of its start in the file, in bytes; empty if it is looked up when it is attached. */
    OptionalLong fileOffset();

    /**
     * Why a count of its events may differ from the number of calls; empty if it does not. The subject is the file,
     * because the reason is the same for all its functions. May read the file.
     */
    Optional<Diagnostic> whyInexact();

    /**
     * Why the process may end because this probe is attached; empty if no reason is known. To notice a return, the
     * kernel replaces the return address by an address of its own, from which a C++ exception or a Rust panic can't
     * unwind to the caller. A reason is known for files that are linked with the functions that unwind a stack. The
     * subject is the file. May read the file.
     */
    Optional<Diagnostic> whyRisky();

    /** Whether it fires when the function returns. */
    boolean returns();

    /** {@code u} for an entry, {@code ur} for a return, in the place of a USDT probe's provider. */
    default String provider() {
        return returns() ? "ur" : "u";
    }

    /** {@code u:malloc} or {@code ur:malloc}, with {@link #name}. */
    default String fullName() {
        return provider() + ":" + name();
    }
}
