package io.bpf4j.trace.stack;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Segment;
import io.bpf4j.elf.Symbol;
import io.bpf4j.elf.SymbolPlaces;
import io.bpf4j.trace.internal.demangle.Demangler;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The functions of an ELF file, and the addresses that its segments are linked for. It stays valid after the file is
 * closed. <i>Immutable.</i>
 *
 * <p>Tested by {@code SymbolizerTest}.
 */
final class FileFunctions {
    /** Bytes of the names of one file. The names of the largest programs take a third of this. */
    private static final long MAX_NAMES = 1L << 28;

    /** Stands for a file that is not an ELF file. */
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
     * Reads the functions of a file. If a symbol is malformed, those before it are kept.
     *
     * @throws MalformedDataException if it is not an ELF file
     */
    static FileFunctions read(ElfFile elf, DebugFiles debugFiles) {
        List<Segment> loaded = elf.segments().stream()
                .filter(segment -> segment.type() == Segment.PT_LOAD)
                .limit(MAX_SEGMENTS)
                .toList();
        // In a hostile file, a thousand symbols may share one long name. An honest file is larger than its names.
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
                    byte[] name = text(withoutVersion(symbol.name())).getBytes(StandardCharsets.UTF_8);
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
     * Ranks the names of one function, so that the one that people use is kept: a symbol with a size before a label, an
     * exported one before a static one, and the table with the most names first. The rank modulo {@link #PLACES} is the
     * number of the table.
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

    /** A symbol can be demangled only as a whole. */
    private static String text(String symbol) {
        return Demangler.isMangled(symbol) ? symbol : Names.cut(symbol);
    }

    /** In a full symbol table, the linker appends the version to the name: {@code memcpy@@GLIBC_2.14}. */
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

    /** Why not all symbols could be read; empty if all were read. */
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
     * @param address the frame's address
     * @param fileOffset the address's offset in the file, in bytes
     * @param lookup the file offset to look up, in bytes: for a return address, a byte of the call before it
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
                address,
                names.of(symbol),
                Names.cut(symbol),
                virtual.getAsLong() - functions.start(found),
                module,
                source);
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
