package io.bpf4j.trace.stack;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Segment;
import io.bpf4j.elf.Symbol;
import io.bpf4j.elf.SymbolPlaces;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The functions of an ELF file, and the addresses that the parts of the file are linked for. It stays valid after the
 * file is closed. <i>Immutable.</i>
 *
 * <p>Tested by {@code SymbolizerTest}.
 */
final class FileFunctions {
    /** Bytes of names of one file, whatever its size; those of the largest programs have a third of it. */
    private static final long MAX_NAMES = 1L << 28;

    /** Stands for a file that is no ELF file. */
    static final FileFunctions NOT_ELF = new FileFunctions(
            false, List.of(), new AddressTable.Builder(0).build(), Optional.empty(), Optional.empty());

    /**
     * Loaded segments that are searched for an address: all that the kernel reads of a program (64 KiB of headers of 56
     * bytes, load_elf_phdrs in fs/binfmt_elf.c). Real files have 2 to 5.
     */
    private static final int MAX_SEGMENTS = (1 << 16) / 56;

    private static final int PLACES = 4;

    private final boolean isElf;
    private final List<Segment> loaded;
    private final AddressTable functions;
    private final Optional<String> buildId;
    private final Optional<String> problem;

    private FileFunctions(
            boolean isElf,
            List<Segment> loaded,
            AddressTable functions,
            Optional<String> buildId,
            Optional<String> problem) {
        this.isElf = isElf;
        this.loaded = loaded;
        this.functions = functions;
        this.buildId = buildId;
        this.problem = problem;
    }

    /**
     * Reads the functions of a file. If its symbols are broken, those before the broken one are kept.
     *
     * @throws MalformedDataException if it is not an ELF file
     */
    static FileFunctions read(ElfFile elf, DebugFiles debugFiles) {
        List<Segment> loaded = elf.segments().stream()
                .filter(segment -> segment.type() == Segment.PT_LOAD)
                .limit(MAX_SEGMENTS)
                .toList();
        // A hostile file may name one string a thousand times; an honest one has more bytes than its names.
        long ownNames = 2 * elf.bytes().size() + (1 << 20);
        AddressTable.Builder builder = new AddressTable.Builder(MAX_NAMES);
        long[] left = {ownNames};
        Optional<String> buildId = Optional.empty();
        Optional<String> problem = Optional.empty();
        try {
            buildId = elf.buildId();
            SymbolPlaces.read(elf, debugFiles, (place, symbol) -> {
                if (symbol.isInSection()
                        && symbol.value() != 0
                        && (symbol.isFunction() || symbol.type() == Symbol.STT_GNU_IFUNC)) {
                    byte[] name = withoutVersion(symbol.name()).getBytes(StandardCharsets.UTF_8);
                    left[0] -= place == SymbolPlaces.Place.DEBUG_FILE ? 0 : name.length;
                    if (left[0] >= 0) {
                        builder.add(symbol.value(), symbol.size(), name, rank(place, symbol));
                    }
                }
            });
        } catch (MalformedDataException e) {
            problem = Optional.of(String.valueOf(e.getMessage()));
        }
        return new FileFunctions(true, loaded, builder.build(), buildId, problem);
    }

    /**
     * Of several names for one function, the one that people use: with a size rather than a label, exported rather than
     * static, and from the table that names most. The place is part of the number, so that it can be told.
     */
    private static int rank(SymbolPlaces.Place place, Symbol symbol) {
        int binding = symbol.isLocal() ? 0 : symbol.isWeak() ? 1 : 2;
        return ((symbol.size() == 0 ? 0 : 4) + binding) * PLACES + number(place);
    }

    private static int number(SymbolPlaces.Place place) {
        return switch (place) {
            case DYNAMIC -> 0;
            case FULL -> 1;
            case MINI_DEBUG_INFO -> 2;
            case DEBUG_FILE -> 3;
        };
    }

    private static Frame.Source source(int number) {
        return switch (number) {
            case 0 -> Frame.Source.DYNAMIC_SYMBOLS;
            case 1 -> Frame.Source.SYMBOLS;
            case 2 -> Frame.Source.MINI_DEBUG_INFO;
            default -> Frame.Source.DEBUG_FILE;
        };
    }

    /** In a full table the linker writes the version after the name: {@code memcpy@@GLIBC_2.14}. */
    private static String withoutVersion(String name) {
        int at = name.indexOf('@', 1);
        return at < 0 ? name : name.substring(0, at);
    }

    boolean isElf() {
        return isElf;
    }

    Optional<String> buildId() {
        return buildId;
    }

    /** Why not all its symbols could be read. */
    Optional<String> problem() {
        return problem;
    }

    /** Approximate memory in bytes. */
    long bytes() {
        return functions.bytes() + 64L * loaded.size();
    }

    /**
     * The frame of a place in the file.
     *
     * @param address what the frame has as its address
     * @param fileOffset of the address, in bytes
     * @param lookup the offset to look up: within the instruction, if the address is after it
     */
    Frame frame(long address, long fileOffset, long lookup, String module, Names names) {
        OptionalLong virtual = virtualAddress(fileOffset);
        int found = find(virtualAddress(lookup));
        if (found < 0) {
            found = find(virtual);
        }
        if (found < 0 || virtual.isEmpty()) {
            return new Frame(address, "", "", virtual.orElse(fileOffset), module, Frame.Source.MAPPING);
        }
        String symbol = functions.name(found);
        Frame.Source source = source(functions.rank(found) % PLACES);
        return new Frame(
                address, names.of(symbol), symbol, virtual.getAsLong() - functions.start(found), module, source);
    }

    private int find(OptionalLong virtual) {
        return virtual.isPresent() ? functions.find(virtual.getAsLong()) : -1;
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
}
