package io.bpf4j.elf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * An ELF file: headers, sections, segments, symbols, relocations and notes of either class and byte order.
 *
 * <p><i>Thread-safe</i> until closed. A file opened from a path is mapped, and {@link #close()} really unmaps it: do so
 * before attaching uprobes to it, because the kernel patches every mapping, also the loader's own. Views and segments
 * got from a closed file throw {@link IllegalStateException}; records other than {@link Note} outlive it.
 *
 * <p>Whatever is malformed gives {@link MalformedDataException} and nothing else, from {@code open} for the headers and
 * the tables of sections and segments, and from the other methods for what they read.
 */
@SuppressWarnings({"DoNotCallSuggester", "UnusedVariable"})
public final class ElfFile implements AutoCloseable {
    private ElfFile() {}

    /**
     * Maps a file and reads its headers. A path such as {@code app.apk!/lib/x86_64/libx.so} opens an entry of a zip
     * archive, which must be stored uncompressed; offsets then count from the ELF's start, see {@link #containerOffset()}.
     *
     * @throws IOException if the file can't be opened: missing, a directory, no permission; the message has the path
     * @throws MalformedDataException if it isn't a well-formed ELF file
     */
    public static ElfFile open(Path path) throws IOException {
        return open(path, ElfLimits.defaults());
    }

    public static ElfFile open(Path path, ElfLimits limits) throws IOException {
        throw new UnsupportedOperationException();
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

    public static ElfFile parse(String source, byte[] bytes, ElfLimits limits) {
        throw new UnsupportedOperationException();
    }

    /** The name of the file in messages; {@code archive!/entry} for one in an archive. */
    public String source() {
        throw new UnsupportedOperationException();
    }

    /** The file that is mapped, the archive where the ELF is stored in one; empty if it was parsed from bytes. */
    public Optional<Path> path() {
        throw new UnsupportedOperationException();
    }

    /** Where the ELF starts in the file at {@link #path()}, in bytes: 0 unless it is stored in an archive. */
    public long containerOffset() {
        throw new UnsupportedOperationException();
    }

    public ElfHeader header() {
        throw new UnsupportedOperationException();
    }

    /** The whole file. */
    public ByteView bytes() {
        throw new UnsupportedOperationException();
    }

    /** All sections by index, the empty section 0 included; empty if there is no section table. */
    public List<Section> sections() {
        throw new UnsupportedOperationException();
    }

    /** The first section of a name. */
    public Optional<Section> section(String name) {
        throw new UnsupportedOperationException();
    }

    /** The section of an index that comes from the file: {@link MalformedDataException} if there is none. */
    public Section section(int index) {
        throw new UnsupportedOperationException();
    }

    public List<Segment> segments() {
        throw new UnsupportedOperationException();
    }

    /** A section's bytes, decompressed if they are compressed; empty for {@link Section#SHT_NOBITS}. */
    public ByteView data(Section section) {
        throw new UnsupportedOperationException();
    }

    /** A segment's bytes in the file. */
    public ByteView data(Segment segment) {
        throw new UnsupportedOperationException();
    }

    /**
     * All symbols of the main symbol table, in order, read as the stream advances: {@code .symtab}, else the dynamic
     * symbols. Entry 0, always empty, is included, so that positions equal indices.
     */
    public Stream<Symbol> symbols() {
        throw new UnsupportedOperationException();
    }

    /** All symbols of the dynamic symbol table, found through the dynamic segment where section headers are missing. */
    public Stream<Symbol> dynamicSymbols() {
        throw new UnsupportedOperationException();
    }

    /** All symbols of one symbol table, in order. */
    public Stream<Symbol> symbols(Section table) {
        throw new UnsupportedOperationException();
    }

    /** The symbols of a name in the main symbol table, else in the dynamic one; indexed on first use. */
    public List<Symbol> symbols(String name) {
        throw new UnsupportedOperationException();
    }

    /** One symbol of the main symbol table: {@link MalformedDataException} if there is no such index. */
    public Symbol symbol(long index) {
        throw new UnsupportedOperationException();
    }

    /** One symbol of a symbol table: {@link MalformedDataException} if there is no such index. */
    public Symbol symbol(Section table, long index) {
        throw new UnsupportedOperationException();
    }

    /**
     * Relocations. Of a {@code SHT_REL} or {@code SHT_RELA} section its own entries; of any other section those that
     * apply to it, from every relocation table whose {@code info} names it.
     */
    public List<Relocation> relocations(Section section) {
        throw new UnsupportedOperationException();
    }

    /** All notes: of the note sections, or of the note segments if there is no note section. */
    public List<Note> notes() {
        throw new UnsupportedOperationException();
    }

    /** The notes of one section, whatever its type. */
    public List<Note> notes(Section section) {
        throw new UnsupportedOperationException();
    }

    /**
     * Where the byte at a virtual address is in the ELF, through its {@link Segment#PT_LOAD} segments; empty if no byte
     * of the file is loaded there. Add {@link #containerOffset()} for the offset in an archive.
     */
    public OptionalLong fileOffset(long virtualAddress) {
        throw new UnsupportedOperationException();
    }

    /** The GNU build ID as lower-case hex digits. */
    public Optional<String> buildId() {
        throw new UnsupportedOperationException();
    }

    /** The name and checksum of the file with debug information, from {@code .gnu_debuglink}. */
    public Optional<DebugLink> debugLink() {
        throw new UnsupportedOperationException();
    }

    /** The ELF file in {@code .gnu_debugdata}: symbols that were left out of this one; in memory, close at will. */
    public Optional<ElfFile> miniDebugInfo() {
        throw new UnsupportedOperationException();
    }

    /** Unmaps the file. Idempotent. */
    @Override
    public void close() {}
}
