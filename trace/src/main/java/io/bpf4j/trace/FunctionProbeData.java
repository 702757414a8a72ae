package io.bpf4j.trace;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfHeader;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The one implementation of {@link FunctionProbe}.
 *
 * @param start the start of the function; empty if it is looked up by its name when it is attached
 */
record FunctionProbeData(Path file, String function, String name, boolean returns, Optional<Start> start)
        implements FunctionProbe {
    /** The maximum number of functions of a file whose other versions are searched for. */
    static final int MAX_WITH_VERSIONS = 4;

    /**
     * The start of a function.
     *
     * @param file the file that the kernel opens; for a library stored in an archive, the archive
     * @param identity the identity of the file whose symbols were read
     * @param offset the offset in the file, in bytes
     * @param oneOfMany whether it was found by a wildcard, and may be left out
     * @param convention the calling convention of the function
     * @param unwinds whether the file has code for exceptions
     */
    record Start(
            Path file, FileIdentity identity, long offset, boolean oneOfMany, Convention convention, boolean unwinds) {}

    /** How a function takes its arguments. */
    enum Convention {
        C,
        /** In registers, as Go does since 1.17. On x86-64 they differ from the registers of C. */
        GO_REGISTERS,
        /** On the stack or in an unknown way: a Go function of an older compiler or in assembler. */
        GO_OTHER;

        static Convention of(ElfFile elf, Optional<GoBuild> go, String symbol) {
            if (go.isEmpty() || !go.get().isGoFunction(symbol)) {
                return C;
            }
            boolean isKnown = GO_MACHINES.contains(elf.header().machine());
            return isKnown && go.get().takesRegisters(symbol) ? GO_REGISTERS : GO_OTHER;
        }

        /** The machines on which the first six registers are known: on arm64 and riscv64 they are those of C. */
        private static final Set<Integer> GO_MACHINES =
                Set.of(ElfHeader.EM_X86_64, ElfHeader.EM_AARCH64, ElfHeader.EM_RISCV);
    }

    /**
     * How the function takes its arguments; reads the file if that is not known yet. Returns C if the file can't be
     * read; attaching then reports the failure.
     */
    Convention convention() {
        if (start.isPresent()) {
            return start.get().convention();
        }
        try (ElfFile elf = ElfFile.open(file, OpenFile.opener(Host.running()))) {
            return Convention.of(elf, GoBuild.of(elf), function);
        } catch (IOException | MalformedDataException e) {
            return Convention.C;
        }
    }

    @Override
    public OptionalLong fileOffset() {
        return start.map(at -> OptionalLong.of(at.offset())).orElseGet(OptionalLong::empty);
    }

    @Override
    public Optional<Diagnostic> whyInexact() {
        return convention() == Convention.C
                ? Optional.empty()
                : Optional.of(new Diagnostic(
                        Diagnostic.Kind.INEXACT,
                        file.toString(),
                        "a Go function that must grow its stack starts again, which counts as two calls"));
    }

    @Override
    public Optional<Diagnostic> whyRisky() {
        return returns && unwinds()
                ? Optional.of(new Diagnostic(
                        Diagnostic.Kind.RISK,
                        file.toString(),
                        "if an exception or a panic unwinds through a probed return of " + file
                                + ", the process ends ('terminate called'), even if a caller would catch it"))
                : Optional.empty();
    }

    /**
     * Whether the file has code for exceptions. False if the file can't be read; attaching then reports the failure.
     */
    private boolean unwinds() {
        if (start.isPresent()) {
            return start.get().unwinds();
        }
        try (ElfFile elf = ElfFile.open(file, OpenFile.opener(Host.running()))) {
            return Unwinding.isIn(elf);
        } catch (IOException | MalformedDataException e) {
            return false;
        }
    }

    /** The same function in a file with code for exceptions. */
    FunctionProbeData withUnwinding() {
        Optional<Start> unwinding = start.map(
                at -> new Start(at.file(), at.identity(), at.offset(), at.oneOfMany(), at.convention(), true));
        return new FunctionProbeData(file, function, name, returns, unwinding);
    }

    /** The entry or the return of the same function. */
    FunctionProbeData withReturns(boolean returns) {
        return new FunctionProbeData(file, function, name, returns, start);
    }

    @Override
    public String toString() {
        return fullName() + " in " + file;
    }
}
