package io.bpf4j.usdt;

import io.bpf4j.elf.ElfClass;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfHeader;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.usdt.internal.note.NoteReader;
import io.bpf4j.usdt.internal.note.NoteScan;
import io.bpf4j.usdt.internal.note.NoteSite;
import io.bpf4j.usdt.internal.note.SymbolAddresses;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes probes of the notes of a file: groups sites by name, understands arguments, finds the symbols they name. */
final class FileScanner {
    private FileScanner() {}

    /**
     * Reads everything that attaching needs, so that the file can be closed before: a mapping of it in this process
     * would make the kernel patch that, too, with every site.
     */
    static UsdtScan scan(ElfFile elf, Path path, String name) {
        ElfHeader header = elf.header();
        Machine machine = Machine.of(header.machine(), header.elfClass() == ElfClass.ELF64);
        UsdtBinary binary = new UsdtBinary(
                elf.path().orElse(path), name, machine, header.type() == ElfHeader.ET_EXEC, identity(elf));
        NoteScan notes = NoteReader.read(elf);

        Map<String, List<UsdtArg>> parsed = new HashMap<>();
        Set<String> names = new HashSet<>();
        for (NoteSite site : notes.sites()) {
            parsed.computeIfAbsent(site.arguments(), text -> {
                List<UsdtArg> args = UsdtArgs.parse(machine, text);
                args.forEach(arg -> addSymbol(arg, names));
                return args;
            });
        }
        Map<String, Long> symbols = names.isEmpty() ? Map.of() : SymbolAddresses.find(elf, names);

        Map<String, List<UsdtSite>> sites = new LinkedHashMap<>();
        Map<String, NoteSite> firsts = new HashMap<>();
        for (NoteSite site : notes.sites()) {
            String key = site.provider() + "\0" + site.name();
            firsts.putIfAbsent(key, site);
            sites.computeIfAbsent(key, k -> new ArrayList<>()).add(site(elf, machine, site, parsed, symbols));
        }
        List<UsdtProbe> probes = new ArrayList<>();
        sites.forEach((key, list) -> {
            NoteSite first = firsts.get(key);
            if (first != null) {
                probes.add(new UsdtProbe(binary, first.provider(), first.name(), list));
            }
        });
        return new UsdtScan(path, probes, notes.problems());
    }

    /** Scans are of files; a file is never parsed from bytes here. */
    private static FileIdentity identity(ElfFile elf) {
        return elf.identity().orElseThrow(() -> new IllegalArgumentException(elf.source() + " is not a file"));
    }

    private static UsdtSite site(
            ElfFile elf, Machine machine, NoteSite note, Map<String, List<UsdtArg>> parsed, Map<String, Long> symbols) {
        List<UsdtArg> args = parsed.getOrDefault(note.arguments(), List.of());
        Map<String, Long> mentioned = Map.of();
        if (!symbols.isEmpty()) {
            Set<String> names = new HashSet<>();
            args.forEach(arg -> addSymbol(arg, names));
            mentioned = new HashMap<>();
            for (String name : names) {
                Long address = symbols.get(name);
                if (address != null) {
                    mentioned.put(name, address);
                }
            }
        }
        return new UsdtSite(
                note.address(),
                note.fileOffset(),
                note.semaphoreAddress(),
                note.semaphoreOffset(),
                note.arguments(),
                args,
                mentioned,
                NopForm.at(elf.bytes(), note.fileOffset() - elf.containerOffset(), machine));
    }

    private static void addSymbol(UsdtArg arg, Set<String> names) {
        @Nullable
        String symbol = switch (arg) {
            case UsdtArg.Dereference d -> d.symbol();
            case UsdtArg.Sib s -> s.symbol();
            case UsdtArg.Constant c -> null;
            case UsdtArg.Register r -> null;
            case UsdtArg.Unsupported u -> null;
        };
        if (symbol != null) {
            names.add(symbol);
        }
    }
}
