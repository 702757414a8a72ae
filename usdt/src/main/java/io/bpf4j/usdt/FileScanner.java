package io.bpf4j.usdt;

import io.bpf4j.elf.ElfClass;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfHeader;
import io.bpf4j.elf.ElfMachine;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.usdt.internal.note.NoteReader;
import io.bpf4j.usdt.internal.note.NoteScan;
import io.bpf4j.usdt.internal.note.NoteSite;
import io.bpf4j.usdt.internal.note.SymbolAddresses;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.NopForm;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.ByteOrder;
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

    /** Reads everything that attaching needs, so that the file can be closed before. */
    static UsdtScan scan(ElfFile elf, Path path, String name) {
        ElfHeader header = elf.header();
        Machine machine = Machine.of(header.machine(), header.elfClass() == ElfClass.ELF64);
        UsdtBinary binary =
                new UsdtBinary(path, name, machine, header.type() == ElfHeader.ET_EXEC, identity(elf), refusal(header));
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
        List<String> problems = new ArrayList<>(notes.problems());
        Map<String, Long> symbols = symbols(elf, names, problems);
        if (elf.section(".symtab").isEmpty()) {
            names.stream()
                    .filter(symbol -> !symbols.containsKey(symbol))
                    .sorted()
                    .findFirst()
                    .ifPresent(symbol -> problems.add("the file is stripped: arguments that name a symbol that is gone,"
                            + " such as '" + symbol + "', can't be read"));
        }
        // Per argument string, not per site: a hostile file has a million sites of ten thousand arguments.
        Map<String, Map<String, Long>> mentioned = new HashMap<>();
        parsed.forEach((text, args) -> mentioned.put(text, mentioned(args, symbols)));

        Map<String, List<UsdtSite>> sites = new LinkedHashMap<>();
        Map<String, NoteSite> firsts = new HashMap<>();
        for (NoteSite site : notes.sites()) {
            String key = key(site.provider(), site.name());
            firsts.putIfAbsent(key, site);
            sites.computeIfAbsent(key, k -> new ArrayList<>()).add(site(elf, machine, site, parsed, mentioned));
        }
        Map<String, List<String>> ofProbes = new HashMap<>();
        for (NoteScan.OfProbe problem : notes.ofProbes()) {
            ofProbes.computeIfAbsent(key(problem.provider(), problem.name()), k -> new ArrayList<>())
                    .add(problem.problem());
        }
        List<UsdtProbe> probes = new ArrayList<>();
        sites.forEach((key, list) -> {
            NoteSite first = firsts.get(key);
            if (first != null) {
                probes.add(new UsdtProbe(
                        binary, first.provider(), first.name(), list, ofProbes.getOrDefault(key, List.of())));
            }
        });
        return new UsdtScan(path, name, probes, problems);
    }

    private static String key(String provider, String name) {
        return provider + "\0" + name;
    }

    /** Why no process of this machine runs such a file; null if one may. */
    private static @Nullable String refusal(ElfHeader header) {
        Machine host = Machine.ofHost();
        if (header.type() == ElfHeader.ET_REL) {
            return "is an object file (ET_REL): what is linked from it can be attached to";
        }
        if (header.type() == ElfHeader.ET_CORE) {
            return "is a core dump (ET_CORE), which nobody runs";
        }
        if (host == Machine.OTHER) {
            return null;
        }
        if (!host.runs(header.machine())) {
            return "is compiled for " + ElfMachine.name(header.machine()) + ", and this machine is "
                    + host.machineName();
        }
        return header.order() == ByteOrder.nativeOrder() ? null : "is compiled for a machine of the other byte order";
    }

    /** Scans are of files; a file is never parsed from bytes here. */
    private static FileIdentity identity(ElfFile elf) {
        return elf.identity().orElseThrow(() -> new IllegalArgumentException(elf.source() + " is not a file"));
    }

    /** A broken symbol table costs the arguments that name symbols, and nothing else. */
    private static Map<String, Long> symbols(ElfFile elf, Set<String> names, List<String> problems) {
        if (names.isEmpty()) {
            return Map.of();
        }
        try {
            return SymbolAddresses.find(elf, names);
        } catch (MalformedDataException e) {
            problems.add("symbols can't be read, nor the arguments that name them: " + e.getMessage());
            return Map.of();
        }
    }

    private static Map<String, Long> mentioned(List<UsdtArg> args, Map<String, Long> symbols) {
        if (symbols.isEmpty()) {
            return Map.of();
        }
        Set<String> names = new HashSet<>();
        args.forEach(arg -> addSymbol(arg, names));
        names.retainAll(symbols.keySet());
        Map<String, Long> mentioned = new HashMap<>();
        for (String name : names) {
            mentioned.put(name, symbols.getOrDefault(name, 0L));
        }
        return Map.copyOf(mentioned);
    }

    private static UsdtSite site(
            ElfFile elf,
            Machine machine,
            NoteSite note,
            Map<String, List<UsdtArg>> parsed,
            Map<String, Map<String, Long>> mentioned) {
        return new UsdtSite(
                note.address(),
                note.fileOffset(),
                note.semaphoreAddress(),
                note.semaphoreOffset(),
                note.arguments(),
                parsed.getOrDefault(note.arguments(), List.of()),
                mentioned.getOrDefault(note.arguments(), Map.of()),
                NopForm.at(elf.bytes(), note.fileOffset() - elf.containerOffset(), machine));
    }

    private static void addSymbol(UsdtArg arg, Set<String> names) {
        if (arg.operand() instanceof UsdtArg.Memory m && m.symbol() != null) {
            names.add(m.symbol());
        }
    }
}
