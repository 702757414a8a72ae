package io.bpf4j.elf;

import io.bpf4j.elf.internal.text.FileName;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
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
 * <p><i>Thread-safe</i> until closed. A file opened from a path is read on demand, in blocks, and the last used blocks
 * are kept: a few MiB of memory for a file of any size. Views of a closed file throw {@link IllegalStateException};
 * records other than {@link Note} stay valid. Interrupting a thread that reads does not make the read fail.
 *
 * <p>Malformed data causes a {@link MalformedDataException} and no other exception: {@code open} throws it for the
 * headers and the tables of sections and segments, the other methods for the data that they read. Time and memory are
 * proportional to the size of the file, and within {@link ElfLimits} if a file may expand.
 *
 * <p>Another process may change a file while it is read. A shortened file is malformed, and overwritten bytes have
 * their value at the time of the first read. The file is not mapped: an access to a removed page would fault, and the
 * kernel would patch this mapping, too, with every uprobe.
 *
 * <p>This class is longer than usual because it is the only entry point of the package: short methods with their
 * contracts, which delegate to one class per concept.
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
    private final Decompressor decompressor;
    private final ElfHeader header;
    private final List<Segment> segments;
    private final List<Section> sections;
    private final Map<Section, SymbolTable> symbolTables = new ConcurrentHashMap<>();
    private volatile @Nullable Map<Integer, List<Section>> relocationTables;
    private volatile @Nullable LoadedRanges loadedRanges;
    /** Found through segments, if sections are missing. */
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
        this.decompressor = new Decompressor(limits);
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
        return open(path, FileOpener.JAVA);
    }

    /**
     * Like {@link #open(Path)}, by an opener that can be trusted with files in other users' folders. The debug file of
     * this one is opened by it as well.
     */
    public static ElfFile open(Path path, FileOpener opener) throws IOException {
        return open(path, FileName.of(path).toString(), ElfLimits.defaults(), opener);
    }

    /**
     * Like {@link #open(Path)}, with other limits than the defaults.
     *
     * @param name the file's name in messages, for a path like {@code /proc/self/fd/7} that isn't descriptive
     */
    public static ElfFile open(Path path, String name, ElfLimits limits) throws IOException {
        return open(path, name, limits, FileOpener.JAVA);
    }

    private static ElfFile open(Path path, String name, ElfLimits limits, FileOpener opener) throws IOException {
        Optional<StoredEntry> stored = StoredEntry.of(path);
        Path file = stored.isPresent() ? stored.get().archive() : path;
        // Checked before the open: opening a FIFO waits for its writer.
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        if (attributes.isDirectory()) {
            throw new FileSystemException(file.toString(), null, "is a directory, not an ELF file");
        }
        if (!attributes.isRegularFile()) {
            throw new FileSystemException(file.toString(), null, "is not a regular file, so it can't be an ELF file");
        }
        FileIdentity identity = FileIdentity.of(file);
        OpenedFile opened = OpenedFile.open(file, identity, opener);
        try {
            long offset = 0;
            long size = identity.size();
            if (stored.isPresent()) {
                StoredEntry.Range range = stored.get().locate(opened.reopenPath());
                offset = range.offset();
                size = range.size();
                opened.requireSame();
            }
            FileBlocks blocks = new FileBlocks(name, opened, offset, size);
            return new ElfFile(
                    ByteView.of(name, blocks, ByteOrder.LITTLE_ENDIAN), file, identity, offset, blocks, limits);
        } catch (Throwable e) {
            opened.close();
            throw e;
        }
    }

    /**
     * Reads a file in memory.
     *
     * @param source its name in error messages
     * @param bytes not copied: the caller must not change them afterwards
     */
    public static ElfFile parse(String source, byte[] bytes) {
        return parse(source, bytes, ElfLimits.defaults());
    }

    /** Like {@link #parse(String, byte[])}, with other limits than the defaults. */
    public static ElfFile parse(String source, byte[] bytes, ElfLimits limits) {
        return new ElfFile(ByteView.of(source, bytes, ByteOrder.LITTLE_ENDIAN), null, null, 0, null, limits);
    }

    /** The opener of this file. */
    FileOpener opener() {
        return file == null ? FileOpener.JAVA : file.opener();
    }

    /** The name of the file in messages; {@code archive!/entry} for an entry of an archive. */
    public String source() {
        return source;
    }

    /** The path of the file, or of the archive that stores the ELF; empty if it was parsed from bytes. */
    public Optional<Path> path() {
        return Optional.ofNullable(path);
    }

    /**
     * The identity of the file at {@link #path()} when it was opened: a later attach can check that the path still
     * leads to the same file. Empty if it was parsed from bytes.
     */
    public Optional<FileIdentity> identity() {
        return Optional.ofNullable(identity);
    }

    /** Where the ELF starts in the file at {@link #path()}, in bytes: 0 unless it is stored in an archive. */
    public long containerOffset() {
        return containerOffset;
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

    /** The first section with a name. */
    public Optional<Section> section(String name) {
        for (Section section : sections) {
            if (section.name().equals(name)) {
                return Optional.of(section);
            }
        }
        return Optional.empty();
    }

    /**
     * The section with an index that comes from the file, such as a symbol's section index.
     *
     * @throws MalformedDataException if the section does not exist
     */
    public Section section(int index) {
        if (index < 0 || index >= sections.size()) {
            throw bytes.malformed(
                    header.sectionHeaderOffset(),
                    "refers to section " + Integer.toUnsignedString(index) + ", but there are " + sections.size()
                            + " sections");
        }
        return sections.get(index);
    }

    /** All segments in the order of their table; none in a relocatable file. */
    public List<Segment> segments() {
        return segments;
    }

    /**
     * A section's bytes; empty for {@link Section#SHT_NOBITS}. A compressed section is decompressed at each call into a
     * new array, which stays valid after this file is closed.
     *
     * <p>Keep the view of a compressed section instead of asking again: all calls together may decompress 4 times
     * {@link ElfLimits#maxDecompressedBytes()}, and one beyond that throws {@link MalformedDataException}.
     */
    public ByteView data(Section section) {
        return decompressor.expand(header.elfClass(), section, storedBytes(section));
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

    /** All symbols of the dynamic symbol table, found through the dynamic segment if section headers are missing. */
    public Stream<Symbol> dynamicSymbols() {
        return dynamicTable().map(SymbolTable::stream).orElseGet(Stream::empty);
    }

    /**
     * The defined and undefined symbols of exactly this name in the main symbol table, else in the dynamic one. The
     * first call reads all names of the table and builds an index of 8 bytes per symbol.
     */
    public List<Symbol> symbols(String name) {
        List<Symbol> found = mainTable().map(table -> table.named(name)).orElseGet(List::of);
        return found.isEmpty() ? dynamicTable().map(table -> table.named(name)).orElseGet(List::of) : found;
    }

    /** The main table, {@code SHT_SYMTAB}; the dynamic one in a stripped file. */
    Optional<SymbolTable> mainTable() {
        Optional<Section> full = ofType(Section.SHT_SYMTAB);
        return full.isPresent() ? full.map(this::table) : dynamicTable();
    }

    Optional<SymbolTable> dynamicTable() {
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
        return symbolTables.computeIfAbsent(section, this::createTable);
    }

    private SymbolTable createTable(Section section) {
        Section strings = section(section.link());
        if (strings.type() != Section.SHT_STRTAB) {
            throw bytes.malformed(
                    section.offset(),
                    "symbol table " + section.name() + " has its names in section " + strings.index()
                            + ", which is not a string table");
        }
        ByteView extended = extendedIndices(section).map(this::data).orElse(null);
        return new SymbolTable(header.elfClass(), data(section), section.entrySize(), data(strings), extended, limits);
    }

    private Optional<Section> extendedIndices(Section symbols) {
        for (Section section : sections) {
            if (section.type() == Section.SHT_SYMTAB_SHNDX && section.link() == symbols.index()) {
                return Optional.of(section);
            }
        }
        return Optional.empty();
    }

    /**
     * Relocations, in the order of their tables. For a {@code SHT_REL} or {@code SHT_RELA} section its own entries; for
     * any other section the entries that apply to it, from every relocation table whose {@code info} names it. Their
     * symbol indices refer to the table that the relocation section's {@code link} names, in relocatable files the main
     * table. The bit maps of relative relocations (SHT_RELR) are not included; read them with {@link #data(Section)}.
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
     * All notes: of the note sections, or of the note segments if there is no note section. One malformed section fails
     * the call; {@link #notes(Section)} reads a single section.
     */
    List<Note> notes() {
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
    List<Note> notes(Section section) {
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
     * Each note and relocation becomes an object. Sections that share their bytes, or are compressed, could turn a
     * small file into many objects; such sections in normal files do neither.
     */
    private long checkTotal(long total, ByteView next, String tables) {
        long sum = total + next.size();
        if (sum > bytes.size()) {
            throw next.malformed(0, tables + " overlap: together they are larger than the file");
        }
        return sum;
    }

    /**
     * The offset in the ELF of the byte at a virtual address, from its {@link Segment#PT_LOAD} segments; empty if no
     * byte of the file is loaded there. Where segments overlap, the first one in the table is used. Add {@link
     * #containerOffset()} for the offset in an archive.
     *
     * <p>The result depends only on the segment table. A separate debug file has the table of its main file, so the
     * result is valid for the main file, and may lie beyond the end of the debug file.
     */
    public OptionalLong fileOffset(long virtualAddress) {
        Segment segment = loadedRanges().at(virtualAddress);
        if (segment == null) {
            return OptionalLong.empty();
        }
        long offset = segment.offset() + (virtualAddress - segment.virtualAddress());
        if (segment.offset() < 0 || offset < segment.offset()) {
            throw bytes.malformed(
                    header.programHeaderOffset() + (long) segment.index() * header.programHeaderEntrySize(),
                    "segment " + segment.index() + " at 0x" + Long.toHexString(segment.offset())
                            + " lies outside any file");
        }
        return OptionalLong.of(offset);
    }

    private LoadedRanges loadedRanges() {
        LoadedRanges ranges = loadedRanges;
        if (ranges == null) {
            ranges = new LoadedRanges(segments);
            loadedRanges = ranges;
        }
        return ranges;
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
    Optional<DebugLink> debugLink() {
        return section(".gnu_debuglink")
                .filter(section -> section.type() != Section.SHT_NOBITS)
                .map(section -> DebugLink.read(data(section), limits));
    }

    /**
     * The ELF file in {@code .gnu_debugdata}: symbols that this file lacks. It is decompressed into separate memory, so
     * it stays valid after this file is closed.
     */
    public Optional<ElfFile> miniDebugInfo() {
        return section(".gnu_debugdata")
                .filter(section -> section.type() != Section.SHT_NOBITS)
                .map(section -> {
                    ByteView expanded = decompressor.xz(section.name(), data(section));
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
