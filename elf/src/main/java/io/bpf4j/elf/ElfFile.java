package io.bpf4j.elf;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An ELF file: headers, sections, segments, symbols, relocations and notes of either class and byte order.
 *
 * <p><i>Thread-safe</i> until closed. A file opened from a path is read as far as it is looked at, in blocks, of which
 * the last used are kept: a few MiB of memory for a file of any size. Views got from a closed file throw {@link
 * IllegalStateException}; records other than {@link Note} outlive it. As with every {@link FileChannel}, interrupting a
 * thread that reads closes the file.
 *
 * <p>Whatever is malformed gives {@link MalformedDataException} and nothing else, from {@code open} for the headers and
 * the tables of sections and segments, and from the other methods for what they read. Time and memory stay in
 * proportion to the size of the file, and within {@link ElfLimits} where a file may expand.
 *
 * <p>Somebody else may change a file while it is read. What has become shorter is malformed, and what was overwritten
 * is read as it is when it is first looked at. The file is not mapped: the machine would fault on pages that are gone,
 * and the kernel would patch that mapping, too, with every uprobe.
 *
 * <p>One file of more than the usual length: it is the single door to the package, short delegations with their
 * contracts, and what they delegate to is one concept per file beside it.
 */
public final class ElfFile implements AutoCloseable {
    private static final String BUILD_ID_SECTION = ".note.gnu.build-id";

    private final String source;
    private final @Nullable Path path;
    private final @Nullable FileIdentity identity;
    private final long containerOffset;
    /** Null if it was parsed from bytes. */
    private final @Nullable FileBlocks file;

    private final ElfLimits limits;
    private final ByteView bytes;
    private final ElfHeader header;
    private final List<Segment> segments;
    private final List<Section> sections;
    private final Map<Section, SymbolTable> symbolTables = new ConcurrentHashMap<>();
    private volatile @Nullable Map<Integer, List<Section>> relocationTables;
    /** Found through segments, for want of sections. */
    private volatile @Nullable SymbolTable segmentsTable;

    private ElfFile(
            ByteView content,
            @Nullable Path path,
            @Nullable FileIdentity identity,
            long containerOffset,
            @Nullable FileBlocks file,
            ElfLimits limits) {
        this.source = content.source();
        this.path = path;
        this.identity = identity;
        this.containerOffset = containerOffset;
        this.file = file;
        this.limits = limits;
        this.bytes = content.withOrder(HeaderReader.order(content));
        HeaderReader reader = HeaderReader.of(bytes);
        this.header = reader.header();
        this.segments = reader.segments(header, limits);
        this.sections = reader.sections(header, limits);
    }

    /**
     * Opens a file and reads its headers. A path such as {@code app.apk!/lib/x86_64/libx.so} opens an entry of a zip
     * archive, which must be stored uncompressed; offsets then count from the ELF's start, see
     * {@link #containerOffset()}.
     *
     * @throws IOException if the file can't be opened: missing, a directory, no permission; the message has the path
     * @throws MalformedDataException if it isn't a well-formed ELF file
     */
    public static ElfFile open(Path path) throws IOException {
        return open(path, ElfLimits.defaults());
    }

    /** As {@link #open(Path)}, with other limits than the defaults. */
    public static ElfFile open(Path path, ElfLimits limits) throws IOException {
        return open(path, FileName.of(path).toString(), limits);
    }

    /**
     * As {@link #open(Path)}, with other limits than the defaults.
     *
     * @param name what messages call the file, for a path like {@code /proc/self/fd/7} that doesn't tell
     */
    public static ElfFile open(Path path, String name, ElfLimits limits) throws IOException {
        Optional<StoredEntry> stored = StoredEntry.of(path);
        Path file = stored.isPresent() ? stored.get().archive() : path;
        // Looked at before it is opened: to open a FIFO is to wait for its writer.
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        if (attributes.isDirectory()) {
            throw new FileSystemException(file.toString(), null, "is a directory, not an ELF file");
        }
        if (!attributes.isRegularFile()) {
            throw new FileSystemException(file.toString(), null, "is not a regular file, so it can't be an ELF file");
        }
        FileIdentity identity = FileIdentity.of(file);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        try {
            long offset = 0;
            long size = channel.size();
            if (stored.isPresent()) {
                StoredEntry.Place place = stored.get().locate();
                offset = place.offset();
                size = place.size();
            }
            // What the path led to before and after it was opened is what was opened in between.
            if (!FileIdentity.of(file).equals(identity)) {
                throw new FileSystemException(file.toString(), null, "was replaced or written while it was opened");
            }
            FileBlocks blocks = new FileBlocks(name, channel, offset, size);
            return new ElfFile(
                    ByteView.of(name, blocks, ByteOrder.LITTLE_ENDIAN), file, identity, offset, blocks, limits);
        } catch (Throwable e) {
            channel.close();
            throw e;
        }
    }

    /**
     * Reads a file that is in memory already.
     *
     * @param source its name in error messages
     * @param bytes not copied: don't change them afterwards
     */
    public static ElfFile parse(String source, byte[] bytes) {
        return parse(source, bytes, ElfLimits.defaults());
    }

    /** As {@link #parse(String, byte[])}, with other limits than the defaults. */
    public static ElfFile parse(String source, byte[] bytes, ElfLimits limits) {
        return new ElfFile(ByteView.of(source, bytes, ByteOrder.LITTLE_ENDIAN), null, null, 0, null, limits);
    }

    /** The name of the file in messages; {@code archive!/entry} for one in an archive. */
    public String source() {
        return source;
    }

    /** The file that is read, the archive where the ELF is stored in one; empty if it was parsed from bytes. */
    public Optional<Path> path() {
        return Optional.ofNullable(path);
    }

    /**
     * Which file {@link #path()} led to when it was opened: who attaches to the file later can tell by it that the path
     * still means the same one. Empty if it was parsed from bytes.
     */
    public Optional<FileIdentity> identity() {
        return Optional.ofNullable(identity);
    }

    /** Where the ELF starts in the file at {@link #path()}, in bytes: 0 unless it is stored in an archive. */
    public long containerOffset() {
        return containerOffset;
    }

    ElfLimits limits() {
        return limits;
    }

    public ElfHeader header() {
        return header;
    }

    /** The whole file. */
    public ByteView bytes() {
        return bytes;
    }

    /** All sections by index, the empty section 0 included; empty if there is no section table. */
    public List<Section> sections() {
        return sections;
    }

    /** The first section of a name. */
    public Optional<Section> section(String name) {
        for (Section section : sections) {
            if (section.name().equals(name)) {
                return Optional.of(section);
            }
        }
        return Optional.empty();
    }

    /**
     * The section of an index that comes from the file, such as a symbol's.
     *
     * @throws MalformedDataException if there is no such section
     */
    public Section section(int index) {
        if (index < 0 || index >= sections.size()) {
            throw bytes.malformed(
                    header.sectionHeaderOffset(),
                    "refers to section " + Integer.toUnsignedString(index) + " of " + sections.size());
        }
        return sections.get(index);
    }

    /** All segments in the order of their table; none in a relocatable file. */
    public List<Segment> segments() {
        return segments;
    }

    /**
     * A section's bytes; empty for {@link Section#SHT_NOBITS}. Those of a compressed section are decompressed, anew at
     * each call, into an array of their own, which outlives this file.
     */
    public ByteView data(Section section) {
        return new Decompressor(limits).expand(header.elfClass(), section, storedBytes(section));
    }

    private ByteView storedBytes(Section section) {
        long headerOffset = header.sectionHeaderOffset() + (long) section.index() * header.sectionHeaderEntrySize();
        return HeaderReader.bytesOf(bytes, section, headerOffset);
    }

    /** A segment's bytes in the file. */
    public ByteView data(Segment segment) {
        long offset = segment.offset();
        long size = segment.fileSize();
        if (offset < 0 || size < 0 || offset > bytes.size() - size) {
            throw bytes.malformed(
                    header.programHeaderOffset() + (long) segment.index() * header.programHeaderEntrySize(),
                    "segment " + segment.index() + " of " + Long.toUnsignedString(size) + " bytes at 0x"
                            + Long.toHexString(offset) + " lies outside the file of " + bytes.size()
                            + " bytes: cut short, or damaged");
        }
        return bytes.slice(offset, size);
    }

    /**
     * All symbols of the main symbol table, in order, read as the stream advances: {@code .symtab}, else the dynamic
     * symbols. Entry 0, always empty, is included, so that positions equal indices.
     */
    public Stream<Symbol> symbols() {
        return mainTable().map(SymbolTable::stream).orElseGet(Stream::empty);
    }

    /** All symbols of the dynamic symbol table, found through the dynamic segment where section headers are missing. */
    public Stream<Symbol> dynamicSymbols() {
        return dynamicTable().map(SymbolTable::stream).orElseGet(Stream::empty);
    }

    /**
     * All symbols of one symbol table, in order.
     *
     * @throws MalformedDataException also if the section is no symbol table
     */
    public Stream<Symbol> symbols(Section table) {
        return table(table).stream();
    }

    /**
     * The defined and undefined symbols of exactly this name in the main symbol table, else in the dynamic one. The
     * first call reads all names of the table and makes an index of 8 bytes per symbol.
     */
    public List<Symbol> symbols(String name) {
        List<Symbol> found = mainTable().map(table -> table.named(name)).orElseGet(List::of);
        return found.isEmpty() ? dynamicTable().map(table -> table.named(name)).orElseGet(List::of) : found;
    }

    /**
     * One symbol of the main symbol table.
     *
     * @throws MalformedDataException if there is no such index
     */
    public Symbol symbol(long index) {
        return mainTable()
                .orElseThrow(() -> bytes.malformed(0, "refers to symbol " + index + ", but has no symbol table"))
                .at(index);
    }

    /**
     * One symbol of a symbol table.
     *
     * @throws MalformedDataException if there is no such index, or the section is no symbol table
     */
    public Symbol symbol(Section table, long index) {
        return table(table).at(index);
    }

    /** The main table, {@code SHT_SYMTAB}; the dynamic one in a stripped file. */
    private Optional<SymbolTable> mainTable() {
        Optional<Section> full = ofType(Section.SHT_SYMTAB);
        return full.isPresent() ? full.map(this::table) : dynamicTable();
    }

    private Optional<SymbolTable> dynamicTable() {
        if (!sections.isEmpty()) {
            return ofType(Section.SHT_DYNSYM).map(this::table);
        }
        SymbolTable found = segmentsTable;
        if (found == null) {
            found = DynamicSymbols.find(this, limits).orElse(null);
            segmentsTable = found;
        }
        return Optional.ofNullable(found);
    }

    private Optional<Section> ofType(int type) {
        for (Section section : sections) {
            if (section.type() == type) {
                return Optional.of(section);
            }
        }
        return Optional.empty();
    }

    private SymbolTable table(Section section) {
        return symbolTables.computeIfAbsent(section, this::makeTable);
    }

    private SymbolTable makeTable(Section section) {
        if (section.type() != Section.SHT_SYMTAB && section.type() != Section.SHT_DYNSYM) {
            throw bytes.malformed(
                    section.offset(), "section " + section.index() + " (" + section.name() + ") is no symbol table");
        }
        Section strings = section(section.link());
        if (strings.type() != Section.SHT_STRTAB) {
            throw bytes.malformed(
                    section.offset(),
                    "symbol table " + section.name() + " has its names in section " + strings.index()
                            + ", which is no string table");
        }
        ByteView extended = null;
        for (Section other : sections) {
            if (other.type() == Section.SHT_SYMTAB_SHNDX && other.link() == section.index()) {
                extended = data(other);
            }
        }
        return new SymbolTable(header.elfClass(), data(section), section.entrySize(), data(strings), extended, limits);
    }

    /**
     * Relocations, in the order of their tables. Of a {@code SHT_REL} or {@code SHT_RELA} section its own entries; of
     * any other section those that apply to it, from every relocation table whose {@code info} names it. Their symbol
     * indices belong to the table that the relocation section's {@code link} names, in relocatable files the main one.
     * The bit maps of relative relocations (SHT_RELR) are no such entries; read them through {@link #data(Section)}.
     */
    public List<Relocation> relocations(Section section) {
        List<Section> tables = RelocationReader.isTable(section)
                ? List.of(section)
                : relocationTables().getOrDefault(section.index(), List.of());
        List<Relocation> relocations = new ArrayList<>();
        long total = 0;
        for (Section table : tables) {
            ByteView data = data(table);
            total = checkTotal(total, data, "relocation tables");
            RelocationReader.read(header, table, data, relocations);
        }
        return Collections.unmodifiableList(relocations);
    }

    /** The relocation sections by the index of the section that they apply to. */
    private Map<Integer, List<Section>> relocationTables() {
        Map<Integer, List<Section>> tables = relocationTables;
        if (tables == null) {
            tables = new HashMap<>();
            for (Section section : sections) {
                if (RelocationReader.isTable(section)
                        && section.info() != 0
                        && (header.type() == ElfHeader.ET_REL || section.has(Section.SHF_INFO_LINK))) {
                    tables.computeIfAbsent(section.info(), _ -> new ArrayList<>())
                            .add(section);
                }
            }
            relocationTables = tables;
        }
        return tables;
    }

    /**
     * All notes: of the note sections, or of the note segments if there is no note section. One bad section fails the
     * call; {@link #notes(Section)} reads a single one.
     */
    public List<Note> notes() {
        List<Note> notes = new ArrayList<>();
        long total = 0;
        boolean inSections = false;
        for (Section section : sections) {
            if (section.type() == Section.SHT_NOTE) {
                inSections = true;
                total = readNotes(section, total, notes);
            }
        }
        if (!inSections) {
            for (Segment segment : segments) {
                if (segment.type() == Segment.PT_NOTE) {
                    ByteView data = data(segment);
                    total = checkTotal(total, data, "note segments");
                    NoteReader.read(data, segment.alignment(), Optional.empty(), limits, notes);
                }
            }
        }
        return Collections.unmodifiableList(notes);
    }

    /** The notes of one section, whatever its type. */
    public List<Note> notes(Section section) {
        List<Note> notes = new ArrayList<>();
        readNotes(section, 0, notes);
        return Collections.unmodifiableList(notes);
    }

    private long readNotes(Section section, long total, List<Note> notes) {
        ByteView data = data(section);
        long sum = checkTotal(total, data, "note sections");
        NoteReader.read(data, section.alignment(), Optional.of(section.name()), limits, notes);
        return sum;
    }

    /**
     * Each note and relocation becomes an object, and sections that share their bytes, or expand, could make a small
     * file into many. Honest ones do neither.
     */
    private long checkTotal(long total, ByteView next, String what) {
        long sum = total + next.size();
        if (sum > bytes.size()) {
            throw next.malformed(0, what + " overlap: together they are larger than the file");
        }
        return sum;
    }

    /**
     * Where the byte at a virtual address is in the ELF, through its {@link Segment#PT_LOAD} segments; empty if no byte
     * of the file is loaded there. Add {@link #containerOffset()} for the offset in an archive.
     *
     * <p>The answer is what the segment table says. A separate debug file has the table of the file that it belongs to,
     * so that its answers hold for that file, and may lie beyond its own end.
     */
    public OptionalLong fileOffset(long virtualAddress) {
        for (Segment segment : segments) {
            if (segment.type() == Segment.PT_LOAD && segment.holds(virtualAddress)) {
                long offset = segment.offset() + (virtualAddress - segment.virtualAddress());
                if (segment.offset() < 0 || offset < segment.offset()) {
                    throw bytes.malformed(
                            header.programHeaderOffset() + (long) segment.index() * header.programHeaderEntrySize(),
                            "segment " + segment.index() + " at 0x" + Long.toHexString(segment.offset())
                                    + " lies outside any file");
                }
                return OptionalLong.of(offset);
            }
        }
        return OptionalLong.empty();
    }

    /** The GNU build ID as lower-case hex digits. */
    public Optional<String> buildId() {
        Optional<Section> section = section(BUILD_ID_SECTION);
        List<Note> candidates =
                section.isPresent() && section.get().type() == Section.SHT_NOTE ? notes(section.get()) : notes();
        return candidates.stream()
                .filter(note ->
                        note.type() == Note.NT_GNU_BUILD_ID && note.owner().equals("GNU"))
                .findFirst()
                .map(note -> HexFormat.of().formatHex(note.description().toByteArray()));
    }

    /** The name and checksum of the file with debug information, from {@code .gnu_debuglink}. */
    public Optional<DebugLink> debugLink() {
        return section(".gnu_debuglink")
                .filter(section -> section.type() != Section.SHT_NOBITS)
                .map(section -> DebugLink.read(data(section), limits));
    }

    /**
     * The ELF file in {@code .gnu_debugdata}: symbols that were left out of this one. It is decompressed into memory of
     * its own, so it outlives this file.
     */
    public Optional<ElfFile> miniDebugInfo() {
        return section(".gnu_debugdata")
                .filter(section -> section.type() != Section.SHT_NOBITS)
                .map(section -> {
                    ByteView expanded = new Decompressor(limits).xz(section.name(), data(section));
                    return new ElfFile(expanded, null, null, 0, null, limits);
                });
    }

    /** Closes the file. Idempotent. */
    @Override
    public void close() {
        if (file != null) {
            file.close();
        }
    }

    @Override
    public String toString() {
        return source;
    }
}
