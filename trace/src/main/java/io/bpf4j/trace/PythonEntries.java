package io.bpf4j.trace;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Symbol;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The files whose {@code python:function__entry} does not fire for each call: those of CPython 3.11. <i>Thread-safe.</i>
 *
 * <p>CPython 3.6 to 3.10 tests the semaphore of {@code function__entry} whenever a frame starts. In 3.11 the test is in
 * the code that traces instructions (the label DO_TRACING of Python/ceval.c). A thread gets there if it has a function of
 * sys.setprofile or sys.settrace, or while the semaphore of {@code python:line} is raised; and {@code generator.throw()}
 * tests by itself. In all other calls the probe is silent, whoever has raised its semaphore. {@code function__return} is
 * tested in the instructions that leave a frame, and fires each time. Later versions have no {@code function__entry} until
 * 3.15, which tests it at each start of a frame again (CPython's issue 98894 and pull request 142397).
 *
 * <p>{@code Py_Version}, a constant of the interpreter or of its library, tells the version, and exists since 3.11
 * (Doc/c-api/apiabiversion.rst).
 *
 * <p>Rejected: raising the semaphore of {@code line} with that of {@code function__entry}. Each line of Python would take
 * the slow way, which nobody has asked for.
 *
 * <p>Tested by {@code CliPythonCallsTest}.
 */
final class PythonEntries {
    private static final String ENTRY = "python:function__entry";
    private static final String LINE = "python:line";
    private static final String VERSION = "Py_Version";

    /** The upper two bytes of PY_VERSION_HEX. */
    private static final long VERSION_3_11 = 0x030b;

    private final Host host;

    /** What is to be said of files that were attached to, if it is. */
    private final Map<FileIdentity, Diagnostic> entries = new LinkedHashMap<>();

    private final Set<FileIdentity> lines = new LinkedHashSet<>();

    PythonEntries(Host host) {
        this.host = host;
    }

    /** Something was attached to. Reads a file of Python that is new. */
    void attached(List<UsdtProbe> probes) {
        for (UsdtProbe probe : probes) {
            UsdtBinary file = probe.binary();
            switch (probe.fullName()) {
                case LINE -> {
                    synchronized (this) {
                        lines.add(file.identity());
                    }
                }
                case ENTRY -> {
                    if (!isKnown(file) && isVersion311(file)) {
                        know(file);
                    }
                }
                default -> {
                    // Fires whenever its semaphore is raised.
                }
            }
        }
    }

    private synchronized boolean isKnown(UsdtBinary file) {
        return entries.containsKey(file.identity());
    }

    private synchronized void know(UsdtBinary file) {
        entries.put(
                file.identity(),
                new Diagnostic(
                        Diagnostic.Kind.INEXACT,
                        ENTRY,
                        ENTRY + " of " + file.name()
                                + ", which is CPython 3.11, fires only in threads with a profile or"
                                + " trace function of sys, or while " + LINE
                                + " is traced, too: other calls are missing;"
                                + " python:function__return fires for each"));
    }

    /** The files of which calls are missing. What is detached meanwhile was attached to, and its events were counted. */
    synchronized List<Diagnostic> gaps() {
        return entries.entrySet().stream()
                .filter(entry -> !lines.contains(entry.getKey()))
                .map(Map.Entry::getValue)
                .toList();
    }

    private boolean isVersion311(UsdtBinary file) {
        try (ElfFile elf = ElfFile.open(file.path(), OpenFile.opener(host))) {
            // Another file at the path is not the one whose probes fire.
            return elf.identity().filter(file.identity()::equals).isPresent() && version(elf) >>> 16 == VERSION_3_11;
        } catch (IOException | MalformedDataException e) {
            return false; // it has just gone, or its symbols are damaged
        }
    }

    /** PY_VERSION_HEX: major and minor version, micro version, and kind and number of a release, a byte each; or 0. */
    private static long version(ElfFile elf) {
        for (Symbol symbol : elf.symbols(VERSION)) {
            OptionalLong offset =
                    symbol.isDefined() && symbol.isInSection() ? elf.fileOffset(symbol.value()) : OptionalLong.empty();
            ByteView bytes = elf.bytes();
            // An unsigned long, of which the lower four bytes are used.
            long size = symbol.size();
            if (offset.isPresent() && (size == Integer.BYTES || size == Long.BYTES)) {
                long at = offset.getAsLong();
                return size == Integer.BYTES ? bytes.u32(at) : bytes.s64(at);
            }
        }
        return 0;
    }
}
