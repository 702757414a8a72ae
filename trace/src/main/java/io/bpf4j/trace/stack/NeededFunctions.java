package io.bpf4j.trace.stack;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.SymbolTables;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.process.ProcessLimits;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The functions of a large file that were needed so far. The file stays open, because its process may have ended when
 * the next ones are needed. <i>Confined.</i>
 *
 * <p>Tested by {@code SymbolizerTest}.
 */
final class NeededFunctions implements AutoCloseable {
    /** Addresses of one file. The stacks of an answer have some thousand different ones. */
    private static final int MAX_ADDRESSES = 1 << 15;

    /** Bytes that an address takes in the map, without its name. */
    private static final long BYTES_PER_ADDRESS = 100;

    private final ProcessFiles.Opened opened;
    private final String name;
    private final DebugFiles debugFiles;
    private final Map<Long, Optional<FunctionSearch.Found>> known = new HashMap<>();
    private long bytes;
    private Optional<String> problem = Optional.empty();

    /** Set if no further function can be found. */
    private boolean ended;

    /**
     * The number of the answer whose budget was too small for the symbols; they are not tried again for that answer.
     */
    private int refusedAnswer = -1;

    NeededFunctions(ProcessFiles.Opened opened, String name, DebugFiles debugFiles) {
        this.opened = opened;
        this.name = name;
        this.debugFiles = debugFiles;
    }

    /** Why functions have no names; empty if all needed functions were searched for. */
    Optional<String> problem() {
        return problem;
    }

    long bytes() {
        return bytes;
    }

    /** The function at an address; empty if none contains it, or if it was not searched for. */
    Optional<FunctionSearch.Found> at(long address) {
        return known.getOrDefault(address, Optional.empty());
    }

    /** Searches for the functions of those addresses that are not known yet. */
    void find(Collection<Long> addresses, SymbolBudget budget) {
        if (ended || refusedAnswer == budget.answer()) {
            return;
        }
        long[] missing = addresses.stream()
                .filter(address -> !known.containsKey(address))
                .limit(MAX_ADDRESSES)
                .mapToLong(Long::longValue)
                .toArray();
        if (missing.length == 0) {
            return;
        }
        if (known.size() + missing.length > MAX_ADDRESSES) {
            problem = Optional.of("its stacks have more than " + MAX_ADDRESSES
                    + " different addresses; the functions of further addresses have no names");
            return;
        }
        FunctionSearch search = new FunctionSearch(missing, budget);
        try (ElfFile elf = ElfFile.open(opened.file().path(), name, ProcessLimits.MAPPED_FILE)) {
            if (!elf.identity().equals(Optional.of(opened.file().identity()))) {
                problem = Optional.of(CHANGED);
                ended = true;
                return;
            }
            SymbolTables.functions(elf, debugFiles, search);
        } catch (IOException | MalformedDataException e) {
            problem = Optional.of(String.valueOf(e.getMessage()));
        }
        if (!search.isComplete()) {
            refusedAnswer = budget.answer();
            problem = Optional.of("its functions have no names, because the files of these stacks have more than "
                    + SymbolBudget.MAX_SYMBOLS + " symbols");
            return;
        }
        search.problem().ifPresent(reason -> problem = Optional.of(reason));
        for (long address : missing) {
            FunctionSearch.Found found = search.results().get(address);
            known.put(address, Optional.ofNullable(found));
            bytes +=
                    BYTES_PER_ADDRESS + (found == null ? 0 : 2L * found.symbol().length());
        }
    }

    /** The problem of a file that is written while it is read. */
    static final String CHANGED = "was written while its symbols were read; its functions have no names";

    @Override
    public void close() {
        ended = true; // another file may get the number of its descriptor
        opened.close();
    }
}
