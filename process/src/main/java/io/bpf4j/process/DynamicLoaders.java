package io.bpf4j.process;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Symbol;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Finds the functions in which the dynamic loaders of processes notify debuggers of mapped libraries. <i>Confined.</i>
 *
 * <p>A loader calls the empty function {@code _dl_debug_state} whenever its list of libraries has changed, so that a
 * debugger can put a breakpoint there (glibc, elf/dl-debug.c and the comment in link.h; musl, ldso/dynlink.c). It does
 * so after it has mapped a library and before it runs the library's constructors, at start-up too.
 *
 * <p>The auxiliary vector (getauxval(3)) of a process tells where its loader is: AT_BASE is the address of the loader,
 * or 0 if the program has no loader or is the loader itself, started by name; then AT_ENTRY is in the loader.
 *
 * <p>Tested by {@code CliFirstEventsTest}.
 */
public final class DynamicLoaders {
    private static final String FUNCTION = "_dl_debug_state";

    private static final long AT_BASE = 7;
    private static final long AT_ENTRY = 9;

    /** More than the vector of any kernel, which has about 25 pairs. */
    private static final int MAX_BYTES = 4096;

    private final Host host;
    private final ProcessFiles files;
    private final Map<FileIdentity, OptionalLong> known = new HashMap<>();

    public DynamicLoaders(Host host) {
        this.host = host;
        this.files = new ProcessFiles(host);
    }

    /**
     * The function in a file.
     *
     * @param identity the identity of the file when its symbols were read
     * @param offset of the first instruction, bytes from the start of the file
     */
    public record Site(Path file, FileIdentity identity, long offset) {}

    /**
     * The function in the dynamic loader of a process; empty if the file is not a loader, because the program is
     * static.
     *
     * @param start of the process
     * @param file that is mapped at {@link Start#inLoader}
     * @throws IOException if it can't be found, because the loader can't be read or does not have the function, or the
     *     process has ended
     */
    public Optional<Site> of(Start start, MappedFile file) throws IOException {
        try (ProcessFiles.Opened opened = files.open(file)) {
            FileIdentity identity = opened.file().identity();
            OptionalLong offset = known.get(identity);
            if (offset == null) {
                offset = offset(opened, file.name());
                known.put(identity, offset);
            }
            if (offset.isEmpty() && start.hasLoader()) {
                throw new IOException("the dynamic loader " + file.name() + " has no function " + FUNCTION);
            }
            return offset.isPresent()
                    ? Optional.of(new Site(opened.path(), identity, offset.getAsLong()))
                    : Optional.empty();
        } catch (MalformedDataException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static OptionalLong offset(ProcessFiles.Opened opened, String name) throws IOException {
        try (ElfFile elf = ElfFile.open(opened.file().path(), name, ProcessLimits.MAPPED_FILE)) {
            return elf.symbols(FUNCTION).stream()
                    .filter(symbol -> symbol.isDefined() && symbol.isFunction())
                    .map(Symbol::value)
                    .findFirst()
                    .map(elf::fileOffset)
                    .orElse(OptionalLong.empty());
        }
    }

    /** AT_BASE and AT_ENTRY; 0 if the process has no auxiliary vector, like a kernel thread or a zombie. */
    public record Start(long base, long entry) {
        boolean hasLoader() {
            return base != 0;
        }

        /** An address in the loader of the process, if it has a loader. */
        public long inLoader() {
            return hasLoader() ? base : entry;
        }
    }

    /** How a process was started, from its auxiliary vector. */
    public Start start(int pid) throws IOException {
        Path file = host.process(pid).resolve("auxv");
        byte[] bytes;
        try (var in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MAX_BYTES);
        } catch (AccessDeniedException e) {
            // Unlike the files of its mappings, it has a mode that lets only its user read it.
            throw new IOException(
                    "no permission to read " + file + "; of another user's process it needs CAP_DAC_READ_SEARCH", e);
        }
        ByteBuffer vector = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        if (vector.remaining() < 16) {
            return new Start(0, 0);
        }
        // Keys are small. In the vector of a 32-bit process, the first eight bytes are a key and its value.
        int word = vector.getLong(0) >>> 32 == 0 ? 8 : 4;
        long base = 0;
        long entry = 0;
        while (vector.remaining() >= 2 * word) {
            long key = word(vector, word);
            long value = word(vector, word);
            if (key == AT_BASE) {
                base = value;
            } else if (key == AT_ENTRY) {
                entry = value;
            }
        }
        return new Start(base, entry);
    }

    private static long word(ByteBuffer vector, int size) {
        return size == 8 ? vector.getLong() : Integer.toUnsignedLong(vector.getInt());
    }
}
