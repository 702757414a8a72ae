package io.bpf4j.trace.stack;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Segment;
import io.bpf4j.elf.SymbolTables;
import io.bpf4j.process.ProcessFiles;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The functions of an ELF file, and the addresses that its segments are linked for. Those of a small file are all kept,
 * and the file is closed. A file with more functions stays open, and is searched for the needed functions. The caller
 * closes it. <i>Confined.</i>
 *
 * <p>Tested by {@code SymbolizerTest}.
 */
final class FileFunctions implements AutoCloseable {
    /** The result for a file that is not an ELF file. */
    static final FileFunctions NOT_ELF = new FileFunctions(
            false, List.of(), new AddressTable.Builder(0).build(), null, Optional.empty(), Optional.empty());

    /**
     * The maximum number of loaded segments that are searched for an address: as many as the kernel reads (64 KiB of
     * headers of 56 bytes, load_elf_phdrs in fs/binfmt_elf.c). Real files have 2 to 5.
     */
    private static final int MAX_SEGMENTS = (1 << 16) / 56;

    private final boolean isElf;
    private final List<Segment> loaded;
    private final AddressTable all;
    /** Null if all functions are known. */
    private final @Nullable NeededFunctions needed;

    private final Optional<String> buildId;
    private final Optional<String> problem;

    private FileFunctions(
            boolean isElf,
            List<Segment> loaded,
            AddressTable all,
            @Nullable NeededFunctions needed,
            Optional<String> buildId,
            Optional<String> problem) {
        this.isElf = isElf;
        this.loaded = loaded;
        this.all = all;
        this.needed = needed;
        this.buildId = buildId;
        this.problem = problem;
    }

    /**
     * Reads the functions of a file. If a symbol is malformed, those before it are kept.
     *
     * @param opened the file, which the result closes if it is open
     * @param name of the file in messages
     * @throws MalformedDataException if it is not an ELF file
     */
    static FileFunctions read(
            ElfFile elf, ProcessFiles.Opened opened, String name, DebugFiles debugFiles, SymbolBudget budget) {
        List<Segment> loaded = elf.segments().stream()
                .filter(segment -> segment.type() == Segment.PT_LOAD)
                .limit(MAX_SEGMENTS)
                .toList();
        Optional<String> buildId = Optional.empty();
        Optional<String> problem = Optional.empty();
        SmallTable table = new SmallTable(budget);
        try {
            buildId = elf.buildId();
            SymbolTables.functions(elf, debugFiles, table);
        } catch (MalformedDataException e) {
            problem = Optional.of(String.valueOf(e.getMessage()));
        }
        if (table.isComplete()) {
            return new FileFunctions(true, loaded, table.build(), null, buildId, problem);
        }
        NeededFunctions needed = new NeededFunctions(opened, name, debugFiles);
        return new FileFunctions(true, loaded, new AddressTable.Builder(0).build(), needed, buildId, problem);
    }

    boolean isElf() {
        return isElf;
    }

    /** Whether the file is still open. */
    boolean isOpen() {
        return needed != null;
    }

    Optional<String> buildId() {
        return buildId;
    }

    /** Why not all symbols could be read; empty if all were read. */
    Optional<String> problem() {
        return needed == null || needed.problem().isEmpty() ? problem : needed.problem();
    }

    /** Approximate memory in bytes. */
    long bytes() {
        return all.bytes() + 64L * loaded.size() + (needed == null ? 0 : needed.bytes());
    }

    /** Finds the functions of places in the file, given as offsets in bytes, in one pass over its symbols. */
    void need(Collection<Long> fileOffsets, SymbolBudget budget) {
        if (needed != null) {
            TreeSet<Long> addresses = new TreeSet<>();
            for (long offset : fileOffsets) {
                virtualAddress(offset).ifPresent(addresses::add);
            }
            needed.find(addresses, budget);
        }
    }

    /**
     * The frame of a place in the file.
     *
     * @param address the frame's address
     * @param fileOffset the address's offset in the file, in bytes
     * @param lookup the file offset to look up, in bytes: for a return address, a byte of the call before it
     */
    Frame frame(long address, long fileOffset, long lookup, String module, Names names) {
        OptionalLong virtual = virtualAddress(fileOffset);
        Optional<FunctionSearch.Found> found = find(virtualAddress(lookup));
        if (found.isEmpty()) {
            found = find(virtual);
        }
        if (found.isEmpty() || virtual.isEmpty()) {
            return new Frame(address, "", "", virtual.orElse(fileOffset), module, Frame.Source.MAPPING);
        }
        String symbol = found.get().symbol();
        return new Frame(
                address,
                names.of(symbol),
                Names.cut(symbol),
                virtual.getAsLong() - found.get().start(),
                module,
                found.get().source());
    }

    private Optional<FunctionSearch.Found> find(OptionalLong virtual) {
        if (virtual.isEmpty()) {
            return Optional.empty();
        }
        if (needed != null) {
            return needed.at(virtual.getAsLong());
        }
        int found = all.find(virtual.getAsLong());
        return found < 0
                ? Optional.empty()
                : Optional.of(new FunctionSearch.Found(
                        all.start(found), all.name(found), SymbolRank.source(all.rank(found))));
    }

    /** The address that the linker gave to the byte at an offset; empty if no segment has it. */
    private OptionalLong virtualAddress(long fileOffset) {
        for (Segment segment : loaded) {
            if (Long.compareUnsigned(fileOffset - segment.offset(), segment.fileSize()) < 0) {
                return OptionalLong.of(fileOffset - segment.offset() + segment.virtualAddress());
            }
        }
        return OptionalLong.empty();
    }

    @Override
    public void close() {
        if (needed != null) {
            needed.close();
        }
    }
}
