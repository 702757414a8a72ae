package io.bpf4j.process;

import io.bpf4j.sys.internal.proc.Lines;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A search for the files that a process has mapped as code, in steps of bounded work: a process decides how many
 * mappings it has, and 60,000 take a tenth of a second. Finds the file at one address in the same pass.
 * <i>Confined.</i>
 *
 * <p>The kernel looks up each mapping when the reader gets to its address, so the list of a running process is not a
 * snapshot. If the process executes another program, the list ends.
 *
 * <p>Tested by {@code TurnsTest} and {@code ProcessTreeTest}.
 */
public final class CodeSearch implements AutoCloseable {
    /** The kernel gives at most about a page at once, which has about 50 mappings. */
    private static final int CHUNK = 1 << 13;

    private static final int CHUNKS_PER_STEP = 4;

    private final ProcessFiles processes;
    private final int pid;
    private final OptionalLong address;
    private final Map<MappedFile.Key, MappedFile> files = new LinkedHashMap<>();
    private @Nullable Lines maps;
    private @Nullable MappedFile atAddress;
    private long nameBytes;

    /**
     * A search that has not begun.
     *
     * @param address the address of {@link #atAddress}
     */
    CodeSearch(ProcessFiles processes, int pid, OptionalLong address) {
        this.processes = processes;
        this.pid = pid;
        this.address = address;
    }

    /**
     * Continues the search.
     *
     * @return whether there is more to search
     * @throws TooMuchException if the process has too many mappings or files
     * @throws IOException if the process does not exist, or its mappings can't be read; the message says so
     */
    public boolean step() throws IOException {
        try {
            if (maps == null) {
                maps = processes.openMaps(pid);
            }
            byte[] chunk = new byte[CHUNK];
            boolean more = true;
            for (int i = 0; more && i < CHUNKS_PER_STEP; i++) {
                more = maps.step(chunk, this::read);
            }
            if (maps.isTooLong()) {
                throw processes.tooManyMappings(pid);
            }
            return more;
        } catch (IOException e) {
            throw processes.explained(pid, e);
        }
    }

    private boolean read(byte[] line, int length) throws TooMuchException {
        Optional<MappedRange> parsed = MapsLine.parse(line, length);
        if (parsed.isPresent() && parsed.get().isFile()) {
            MappedRange mapping = parsed.get();
            if (address.isPresent() && mapping.contains(address.getAsLong())) {
                atAddress = new MappedFile(pid, mapping);
            }
            if (mapping.executable()) {
                add(new MappedFile(pid, mapping));
            }
        }
        return true;
    }

    private void add(MappedFile file) throws TooMuchException {
        if (files.putIfAbsent(file.key(), file) == null) {
            nameBytes += file.mapping().text().length();
        }
        if (files.size() > ProcessLimits.MAX_FILES || nameBytes > ProcessLimits.MAX_ALL_NAMES_BYTES) {
            throw new TooMuchException("process " + pid + " is left out: it has mapped more than "
                    + ProcessLimits.MAX_FILES + " files as code, or files with more than "
                    + ProcessLimits.MAX_ALL_NAMES_BYTES + " bytes of names");
        }
    }

    /** The files that were found, each once, in the order of their addresses. */
    public List<MappedFile> files() {
        return List.copyOf(files.values());
    }

    /** The file that is mapped at the address, executable there or not. */
    public Optional<MappedFile> atAddress() {
        return Optional.ofNullable(atAddress);
    }

    @Override
    public void close() {
        if (maps != null) {
            try {
                maps.close();
            } catch (IOException e) {
                // Nothing was written.
            }
        }
    }
}
