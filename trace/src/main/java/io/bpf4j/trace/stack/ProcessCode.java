package io.bpf4j.trace.stack;

import io.bpf4j.process.MappedFile;
import io.bpf4j.process.MappedRange;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.process.TooMuchException;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The code of one process: its executable mappings, and the list that its just-in-time compiler writes. Both are kept
 * after the process has unmapped the code or ended, because stacks are named after they were taken. <i>Confined.</i>
 *
 * <p>Tested by {@code SymbolizerTest}.
 */
final class ProcessCode {
    /**
     * The maximum number of mappings that are kept, including former ones. A process has a thousand executable ones at
     * most.
     */
    private static final int MAX_KEPT = 1 << 16;

    /** No process has code in the first page. Addresses with the highest bit set, negative here, are the kernel's. */
    private static final long LOWEST_CODE = 0x1000;

    private final ProcessFiles files;
    private final int pid;
    private final TreeMap<Long, MappedRange> mappings = new TreeMap<>();
    private final Rereads mapRereads = new Rereads();
    private final Rereads listRereads = new Rereads();
    private final PerfMapFile list;
    private boolean read;
    private boolean tooMuch;
    private boolean gone;
    private boolean assumed;
    private boolean jvm;
    private String problem = "";

    ProcessCode(Host host, int pid) {
        this.files = new ProcessFiles(host);
        this.list = new PerfMapFile(host, pid);
        this.pid = pid;
    }

    int pid() {
        return pid;
    }

    /** Why names are missing; empty if nothing went wrong. */
    List<String> problems() {
        return List.of(problem, list.problem()).stream()
                .filter(text -> !text.isEmpty())
                .toList();
    }

    /** The executable mapping that contains an address. */
    Optional<MappedRange> mapping(long address) {
        if (address < LOWEST_CODE) {
            return Optional.empty();
        }
        Optional<MappedRange> known = find(address);
        if (known.isPresent() || tooMuch || (read && !mapRereads.isDue())) {
            return known;
        }
        boolean first = !read;
        refresh();
        known = find(address);
        if (!first) {
            mapRereads.record(known.isPresent());
        }
        return known;
    }

    /** Whether an address is outside of all code; false if the mappings are not all known. */
    boolean isOutsideOfCode(long address) {
        return mapping(address).isEmpty() && !mappings.isEmpty() && !assumed;
    }

    /** Whether the process ended before its mappings were read; some may have been assumed since. */
    boolean isGone() {
        if (!read) {
            refresh();
        }
        return gone || assumed;
    }

    /**
     * Whether the process has mapped HotSpot's library now, or had when its mappings were last read, if it has ended. It
     * reads the mappings, and keeps them for the addresses that are looked up next: a process may have so many that
     * reading them takes a second.
     */
    boolean isJvm() {
        refresh();
        return jvm;
    }

    /** Whether no mapping is known, not even an assumed one. */
    boolean isUnknown() {
        return mappings.isEmpty();
    }

    /** Assumes mappings for a process that has ended and whose other mappings are unknown. */
    void assume(List<MappedRange> ranges) {
        for (MappedRange range : ranges) {
            Map.Entry<Long, MappedRange> before = mappings.lowerEntry(range.end());
            if (before == null || before.getValue().end() <= range.start()) {
                mappings.put(range.start(), range);
                assumed = true;
            }
        }
    }

    private Optional<MappedRange> find(long address) {
        Map.Entry<Long, MappedRange> floor = mappings.floorEntry(address);
        return floor == null || address >= floor.getValue().end() ? Optional.empty() : Optional.of(floor.getValue());
    }

    /** Reads mappings and list now: the process may end before its first address is looked up. */
    void remember() {
        refresh();
        list.refresh();
    }

    /** Approximate memory of the list in bytes. */
    long listBytes() {
        return list.bytes();
    }

    /** Drops the list. */
    void dropList() {
        list.drop();
    }

    /**
     * Adds the present mappings; each replaces the earlier ones that it overlaps. A process with too many of them is
     * read once: it takes a second or more.
     */
    private void refresh() {
        if (tooMuch) {
            return;
        }
        read = true;
        List<MappedRange> now;
        try {
            now = files.mappings(pid, MappedRange::executable);
        } catch (IOException e) {
            // The mappings of a process that has ended remain if they were read before.
            boolean ended = e.getCause() instanceof NoSuchFileException;
            gone = ended && mappings.isEmpty();
            tooMuch = e instanceof TooMuchException;
            problem = ended || (!mappings.isEmpty() && !tooMuch) ? "" : String.valueOf(e.getMessage());
            return;
        }
        gone = false;
        jvm = now.stream().anyMatch(PerfMap::isLibrary);
        if (assumed) {
            assumed = false; // another process has the number now
            mappings.clear();
        }
        if (mappings.size() + now.size() > MAX_KEPT) {
            mappings.clear();
        }
        for (MappedRange mapping : now) {
            Map.Entry<Long, MappedRange> before = mappings.lowerEntry(mapping.end());
            while (before != null && before.getValue().end() > mapping.start()) {
                mappings.remove(before.getKey());
                before = mappings.lowerEntry(mapping.end());
            }
            mappings.put(mapping.start(), mapping);
        }
        problem = "";
    }

    /** Opens the file of a mapping; the caller closes it. */
    ProcessFiles.Opened open(MappedRange mapping) throws IOException {
        return files.open(new MappedFile(pid, mapping));
    }

    /** The known mappings of files with code. */
    List<MappedRange> filesWithCode() {
        if (!read) {
            refresh();
        }
        return mappings.values().stream().filter(MappedRange::isFile).toList();
    }

    /** The frame of an address in just-in-time compiled code; empty if the list has no such function. */
    Optional<Frame> compiled(long address, long lookup, Names names) {
        int found = list.functions().find(lookup);
        if (found < 0 && listRereads.isDue()) {
            found = list.refresh() ? list.functions().find(lookup) : -1;
            listRereads.record(found >= 0);
        }
        AddressTable functions = list.functions();
        if (found < 0) {
            // The code may have been discarded since.
            functions = list.earlier();
            found = functions.find(lookup);
        }
        if (found < 0) {
            return Optional.empty();
        }
        String symbol = functions.name(found);
        long offset = address - functions.start(found);
        return Optional.of(
                new Frame(address, names.of(symbol), Names.cut(symbol), offset, "[jit]", Frame.Source.PERF_MAP));
    }
}
