package io.bpf4j.usdt.internal.note;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfClass;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.usdt.internal.note.Segments.FileOffset;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.NopForm;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the section {@code .note.stapsdt}.
 *
 * <p>{@code DTRACE_PROBE1(hotspot, gc__end, x)} puts a {@code nop} into the code, and into this section a note; here of
 * a 64-bit little-endian file:
 *
 * <pre>
 *   08 00 00 00                        length of the owner's name
 *   3a 00 00 00                        length of the description
 *   03 00 00 00                        type NT_STAPSDT
 *   73 74 61 70 73 64 74 00            "stapsdt"
 *   31 5f 00 00 00 00 00 00            address of the nop when the file was linked
 *   20 9d 10 00 00 00 00 00            address of the section .stapsdt.base at that time
 *   00 00 00 00 00 00 00 00            address of the semaphore, 0 for none
 *   "hotspot" 00 "gc__end" 00 "-4@%eax 8@-24(%rbp)" 00
 *   padding to a multiple of 4
 * </pre>
 *
 * <p><b>Prelink</b> moved files to other addresses after linking, without adjusting notes. But it also moved the
 * section {@code .stapsdt.base}: if its address differs from the base in the note, all addresses have moved by the
 * difference, including those of semaphores. Address 0 on either side means unknown; then no address is adjusted.
 *
 * <p><b>Addresses to file offsets.</b> The kernel takes file offsets. A probe must be in a loaded executable segment. A
 * semaphore must be in a writable segment that is not executable, and in a part of it that the file contains: the
 * kernel finds the semaphore through a writable mapping of the file. See {@link Segments}.
 *
 * <p><b>Hostile files.</b> An invalid note is reported and skipped. If its lengths are invalid, the rest of the section
 * is skipped. Time and memory are linear in the size of the sections, within {@link NoteLimits}.
 *
 * <p>Layout: sys/sdt.h of SystemTap and
 * <a href="https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation">its wiki</a>.
 */
public final class StapsdtReader {
    /** The section that notes are in. */
    public static final String SECTION = ".note.stapsdt";

    private static final String BASE_SECTION = ".stapsdt.base";
    private static final byte[] OWNER = {'s', 't', 'a', 'p', 's', 'd', 't', 0};

    /** The length of the owner's name without its NUL, as some tools write it; the gABI requires the NUL. */
    private static final int SHORTEST_OWNER = OWNER.length - 1;

    /** The type of the notes that describe a probe. */
    private static final int NT_STAPSDT = 3;

    private static final int HEADER_BYTES = 12;

    /** With short names and two arguments. */
    private static final int TYPICAL_NOTE_BYTES = 96;

    private static final FileOffset NO_SEMAPHORE = new FileOffset(0, null, null);

    private final String file;
    private final ElfClass elfClass;
    private final Segments segments;
    private final @Nullable Section base;
    private final SiteColumns.Builder sites = new SiteColumns.Builder();
    /** The names of probes and the argument strings that sites have, with their numbers from 0. */
    private final Map<ProbeName, Integer> probes = new LinkedHashMap<>();

    private final Map<String, Integer> argumentStrings = new LinkedHashMap<>();
    private final List<Diagnostic> problems = new ArrayList<>();
    private final Map<ProbeName, List<Diagnostic>> ofProbes = new HashMap<>();
    private final Map<ProbeName, Long> beyondLimit = new HashMap<>();
    private final Map<String, String> strings = new HashMap<>();
    /** The numbers of {@link #probes}, by {@code provider 0 name}. */
    private final KnownTexts knownProbes = new KnownTexts();
    /** The numbers of {@link #argumentStrings}. */
    private final KnownTexts knownArguments = new KnownTexts();
    /** The file ranges of the sections that were read, by their start. */
    private final NavigableMap<Long, Long> rangesRead = new TreeMap<>();

    private long problemCount;
    private long noteBytes;
    private long text;

    private record ProbeName(String provider, String name) {
        String shown() {
            String both = provider + ":" + name;
            return both.length() <= NoteLimits.MAX_QUOTED ? both : both.substring(0, NoteLimits.MAX_QUOTED) + "…";
        }
    }

    private StapsdtReader(ElfFile elf) {
        this.file = elf.source();
        this.elfClass = elf.header().elfClass();
        this.segments = new Segments(elf);
        // A section with address 0 isn't loaded: its address does not tell whether the file was moved.
        this.base = elf.section(BASE_SECTION).filter(s -> s.address() != 0).orElse(null);
    }

    /**
     * All notes of a file; empty if the file has no such section.
     *
     * <p>An unreadable section is reported like an unreadable note, because the file may have other sections with
     * notes.
     *
     * @param machine the file's machine, which determines the grammar of arguments
     */
    public static NoteScan read(ElfFile elf, Machine machine) {
        StapsdtReader reader = new StapsdtReader(elf);
        if (reader.segments.exceedLimit()) {
            reader.problem("more than " + NoteLimits.MAX_SEGMENTS + " loaded segments; the rest is ignored");
        }
        for (Section section : elf.sections()) {
            if (section.name().equals(SECTION) && section.type() != Section.SHT_NOBITS) {
                reader.readSection(elf, section);
            }
        }
        long unnamed = reader.problemCount - reader.problems.size();
        if (unnamed > 0) {
            reader.problems.add(reader.leftOut("and " + unnamed + " more notes that can't be used"));
        }
        return reader.scan(elf, machine);
    }

    private NoteScan scan(ElfFile elf, Machine machine) {
        beyondLimit.forEach((probe, count) ->
                ofProbe(probe, about(probe, Kind.LEFT_OUT, "", "has " + count + " more sites that can't be used")));
        SiteArguments[] arguments = SiteArguments.read(elf, machine, argumentStrings.keySet(), problems);
        List<SiteColumns> byProbe = sites.byProbe(
                probes.size(), arguments, offset -> NopForm.at(elf.bytes(), offset - elf.containerOffset(), machine));
        List<NoteScan.Probe> found = new ArrayList<>();
        probes.forEach((name, number) -> found.add(new NoteScan.Probe(
                name.provider(), name.name(), byProbe.get(number), ofProbes.getOrDefault(name, List.of()))));
        return new NoteScan(found, problems);
    }

    private void ofProbe(ProbeName probe, Diagnostic problem) {
        ofProbes.computeIfAbsent(probe, _ -> new ArrayList<>()).add(problem);
    }

    private void readSection(ElfFile elf, Section section) {
        try {
            if (!markRead(section.offset(), section.offset() + section.size())) {
                problem("section " + section.index() + " shares bytes with an earlier section, and is left out");
                return;
            }
            ByteView data = elf.data(section);
            long maxBytes = Math.min(NoteLimits.MAX_NOTE_BYTES, elf.bytes().size());
            if (data.size() > maxBytes - noteBytes) {
                problem(SECTION + ": more than " + maxBytes + " bytes of notes in all; section " + section.index()
                        + " is left out");
            } else {
                noteBytes += data.size();
                readSection(data);
            }
        } catch (MalformedDataException e) {
            problem("section " + section.index() + " can't be read: " + e.getMessage());
        }
    }

    /** Marks a range as read; returns false if an earlier section contains one of its bytes: each byte is read once. */
    private boolean markRead(long start, long end) {
        Map.Entry<Long, Long> before = rangesRead.floorEntry(start);
        Long next = rangesRead.ceilingKey(start);
        if ((before != null && before.getValue() > start) || (next != null && next < end)) {
            return false;
        }
        rangesRead.put(start, end);
        return true;
    }

    private void readSection(ByteView inFile) {
        byte[] bytes = inFile.toByteArray();
        ByteView section = inFile.over(bytes);
        sites.expect((int) Math.min(section.size() / TYPICAL_NOTE_BYTES, NoteLimits.MAX_SITES));
        long at = 0;
        while (at < section.size()) {
            if (sites.size() == NoteLimits.MAX_SITES) {
                problem(section, at, "more than " + NoteLimits.MAX_SITES + " sites; the rest is left out");
                return;
            }
            if (section.size() - at < HEADER_BYTES) {
                problem(section, at, "a truncated note header; the rest of the section is left out");
                return;
            }
            long ownerSize = section.u32(at);
            long descriptionSize = section.u32(at + 4);
            long type = section.u32(at + 8);
            long owner = at + HEADER_BYTES;
            long description = owner + align(ownerSize);
            // The lengths have 32 bits and the sums 64, so the sums don't overflow. The last note may lack its padding.
            if (description + descriptionSize > section.size()) {
                problem(
                        section,
                        at,
                        "a note with " + ownerSize + " bytes of owner and " + descriptionSize
                                + " bytes of description exceeds the rest of the section, which is left out");
                return;
            }
            if (type == NT_STAPSDT && isOwner(section, owner, ownerSize)) {
                readNote(section, bytes, at, (int) description, (int) descriptionSize);
            }
            at = description + align(descriptionSize);
        }
    }

    /**
     * Reads a note. Most notes have names and an argument string that were read before, and a valid address: they are
     * not decoded.
     *
     * @param bytes those of the section
     */
    private void readNote(ByteView section, byte[] bytes, long at, int description, int size) {
        int names = description + 3 * elfClass.addressSize();
        int namesEnd = CString.end(bytes, CString.end(bytes, names, description + size) + 1, description + size);
        int argumentsEnd = CString.end(bytes, namesEnd + 1, description + size);
        if (argumentsEnd >= description + size) {
            readNote(section, at, section.slice(description, size)); // reports the problem
            return;
        }
        int probe = knownProbes.find(bytes, names, namesEnd);
        int arguments = knownArguments.find(bytes, namesEnd + 1, argumentsEnd);
        if (probe >= 0 && arguments >= 0 && addKnown(section, description, probe, arguments)) {
            return;
        }
        int before = sites.size();
        readNote(section, at, section.slice(description, size));
        if (sites.size() > before) {
            if (probe < 0) {
                knownProbes.put(bytes, names, namesEnd, sites.lastProbe());
            }
            if (arguments < 0) {
                knownArguments.put(bytes, namesEnd + 1, argumentsEnd, sites.lastArguments());
            }
        }
    }

    /** Adds a site of a known probe. Returns false if its addresses have a problem, which must be reported. */
    private boolean addKnown(ByteView section, int description, int probe, int arguments) {
        int word = elfClass.addressSize();
        long shift = shift(elfClass.readWord(section, description + word));
        long address = wrap(elfClass.readWord(section, description) + shift);
        long fileOffset = segments.probeOffset(address);
        if (fileOffset < 0) {
            return false;
        }
        long linkedSemaphore = elfClass.readWord(section, description + 2L * word);
        long semaphore = linkedSemaphore == 0 ? 0 : wrap(linkedSemaphore + shift);
        long semaphoreOffset = 0;
        if (semaphore != 0) {
            FileOffset inFile = segments.semaphore(semaphore);
            if (inFile.problem() != null || inFile.warning() != null) {
                return false;
            }
            semaphoreOffset = inFile.offset();
        }
        sites.add(probe, arguments, address, fileOffset, semaphore, semaphoreOffset);
        return true;
    }

    /** The distance by which prelink has moved the file. */
    private long shift(long linkedBase) {
        return linkedBase == 0 || base == null ? 0 : base.address() - linkedBase;
    }

    /** A provider or name. Names with different bytes stay different. */
    private static String name(ByteView description, long at) {
        return description.cString(at, NoteLimits.MAX_NAME_BYTES);
    }

    private void readNote(ByteView section, long at, ByteView description) {
        try {
            int word = elfClass.addressSize();
            long address = elfClass.readWord(description, 0);
            long linkedBase = elfClass.readWord(description, word);
            long semaphore = elfClass.readWord(description, 2L * word);
            long providerAt = 3L * word;
            String provider = name(description, providerAt);
            long nameAt = next(description, providerAt);
            String name = name(description, nameAt);
            long argumentsAt = next(description, nameAt);
            String arguments = description.cString(argumentsAt, NoteLimits.MAX_ARGUMENT_BYTES);
            if (provider.isEmpty() || name.isEmpty()) {
                problem(section, at, "a note without " + (provider.isEmpty() ? "provider" : "name"));
                return;
            }
            long shift = shift(linkedBase);
            add(
                    section,
                    at,
                    provider,
                    name,
                    arguments,
                    wrap(address + shift),
                    semaphore == 0 ? 0 : wrap(semaphore + shift));
        } catch (MalformedDataException e) {
            problem(section, at, "a note that can't be read: " + e.getMessage());
        }
    }

    private void add(
            ByteView section, long at, String provider, String name, String arguments, long address, long semaphore) {
        ProbeName id = new ProbeName(provider, name);
        FileOffset probe = segments.probe(address);
        if (probe.problem() != null) {
            problem(section, at, id, Kind.LEFT_OUT, "is at 0x" + Long.toHexString(address) + ", " + probe.problem());
            return;
        }
        FileOffset inFile = semaphore == 0 ? NO_SEMAPHORE : segments.semaphore(semaphore);
        String prefix = "has its semaphore at 0x" + Long.toHexString(semaphore) + ", ";
        if (inFile.problem() != null) {
            problem(section, at, id, Kind.LEFT_OUT, prefix + inFile.problem());
            return;
        }
        if (!fits(provider) || !fits(name) || !fits(arguments)) {
            problem(
                    section,
                    at,
                    id,
                    Kind.LEFT_OUT,
                    "is left out: more than " + NoteLimits.MAX_TEXT
                            + " characters of different names and argument strings");
            return;
        }
        if (inFile.warning() != null) {
            problem(section, at, id, Kind.MAY_NOT_FIRE, prefix + inFile.warning());
        }
        sites.add(
                number(probes, new ProbeName(shared(provider), shared(name))),
                number(argumentStrings, shared(arguments)),
                address,
                probe.offset(),
                semaphore,
                inFile.offset());
    }

    private static <T> int number(Map<T, Integer> numbers, T key) {
        Integer known = numbers.putIfAbsent(key, numbers.size());
        return known == null ? numbers.size() - 1 : known;
    }

    private boolean fits(String string) {
        return text + string.length() <= NoteLimits.MAX_TEXT || strings.containsKey(string);
    }

    /** Sites of one probe repeat its names, and inlined code repeats its arguments; each text is kept once. */
    private String shared(String string) {
        String known = strings.putIfAbsent(string, string);
        if (known == null) {
            text += string.length();
            return string;
        }
        return known;
    }

    /** The offset after the string at an offset, counted in the file's bytes. */
    private static long next(ByteView view, long stringAt) {
        long at = stringAt;
        while (view.u8(at) != 0) {
            at++;
        }
        return at + 1;
    }

    private static boolean isOwner(ByteView section, long at, long size) {
        if (size != OWNER.length && size != SHORTEST_OWNER) {
            return false;
        }
        for (int i = 0; i < size; i++) {
            if (section.s8(at + i) != OWNER[i]) {
                return false;
            }
        }
        return true;
    }

    /** Addresses of 32-bit files wrap at 32 bits. */
    private long wrap(long address) {
        return elfClass == ElfClass.ELF32 ? address & 0xffff_ffffL : address;
    }

    private static long align(long size) {
        return (size + 3) & ~3L;
    }

    /** A problem of one probe, which is also reported when the probe is attached. */
    private void problem(ByteView section, long at, ProbeName probe, Kind kind, String message) {
        Diagnostic problem = about(probe, kind, location(section, at), message);
        if (problemCount < NoteLimits.MAX_PROBLEMS) {
            ofProbe(probe, problem);
        } else if (beyondLimit.containsKey(probe)) {
            beyondLimit.merge(probe, 1L, Long::sum);
        } else {
            int length =
                    file.length() + probe.provider().length() + probe.name().length();
            if (text + length <= NoteLimits.MAX_TEXT) {
                text += length;
                beyondLimit.put(probe, 1L);
            }
        }
        problem(problem);
    }

    private Diagnostic about(ProbeName probe, Kind kind, String location, String message) {
        return new Diagnostic(kind, probe.shown(), file + ": " + location + probe.shown() + " " + message);
    }

    private static String location(ByteView section, long at) {
        return SECTION + " at 0x" + Long.toHexString(section.base() + at) + ": ";
    }

    private void problem(ByteView section, long at, String message) {
        if (problemCount < NoteLimits.MAX_PROBLEMS) {
            problem(location(section, at) + message);
        } else {
            problemCount++;
        }
    }

    private void problem(String message) {
        problem(leftOut(message));
    }

    private Diagnostic leftOut(String message) {
        return new Diagnostic(Kind.LEFT_OUT, file, file + ": " + message);
    }

    private void problem(Diagnostic problem) {
        if (problemCount++ < NoteLimits.MAX_PROBLEMS) {
            problems.add(problem);
        }
    }
}
