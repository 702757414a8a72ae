package io.bpf4j.loader.spec;

import io.bpf4j.btf.BtfExt;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfHeader;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.error.InvalidObjectException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reads an {@link ObjectSpec} from a relocatable BPF ELF file.
 *
 * <p>The layout that a compiler gives an object:
 *
 * <pre>
 *   section        holds
 *   .text          subprograms: functions that programs call
 *   usdt, xdp, …   programs, in a section named by SEC("…"); each function starts at its symbol
 *   .maps          nothing but space; BTF describes its variables, which define the maps
 *   .data .rodata .bss, and .data.x and so on: global variables
 *   .struct_ops    structs of functions that the kernel is to call
 *   .jumptables    the targets of the cases of a switch
 *   license        a string
 *   .BTF           types, among them a DATASEC for each section with variables
 *   .BTF.ext       which function and source line an instruction belongs to, and CO-RE relocations
 *   .relX          for code in section X: which instruction refers to which symbol
 * </pre>
 *
 * <i>Confined</i>; used once.
 *
 * <p>Tested by {@code ObjectSpecTest} and {@code ObjectFormsTest}.
 */
final class ObjectReader {
    static final String TEXT = ".text";

    private final ElfFile elf;
    private final ObjectFile file;

    ObjectReader(ElfFile elf) {
        this.elf = elf;
        ElfHeader header = elf.header();
        if (!header.isBpf() && header.machine() != ElfHeader.EM_NONE) {
            throw new InvalidObjectException(elf.source() + ": compiled for " + header.machineName()
                    + ", not for BPF; compile it with clang -target bpf");
        }
        if (header.type() != ElfHeader.ET_REL) {
            throw new InvalidObjectException(
                    elf.source() + ": not a relocatable object (ELF type " + header.type() + "); compile it with -c");
        }
        for (Section section : elf.sections()) {
            if (section.has(Section.SHF_COMPRESSED) && !section.name().startsWith(".debug")) {
                throw new InvalidObjectException(elf.source() + ": section \"" + section.name()
                        + "\" is compressed; only sections with debug information may be compressed");
            }
        }
        this.file = new ObjectFile(elf);
    }

    ObjectSpec read() {
        Optional<BtfExt> btfExt = file.btf.flatMap(
                types -> elf.section(".BTF.ext").map(section -> BtfExt.parse(elf.data(section), types)));

        ExternReader externs = new ExternReader(file);
        externs.read();
        DataReader data = new DataReader(file);
        List<MapSpec> maps = new ArrayList<>(data.withArenaData(new MapReader(file).read()));
        maps.addAll(data.read());
        externs.kconfig().map(data::map).ifPresent(maps::add);

        Map<Integer, Map<Long, List<FunctionSpecData>>> code = code();
        ReferenceReader references = new ReferenceReader(file, maps, externs.all(), code);
        List<FunctionSpec> functions = elf.sections().stream()
                .flatMap(section -> references.read(section).stream())
                .toList();
        List<StructOpsSpec> structOps = new StructOpsReader(file, code).read();
        requireUniqueNames(maps, structOps);
        return new ObjectSpecData(
                elf.source(),
                elf.header().order(),
                license(),
                version(),
                functions.stream()
                        .filter(function -> !function.isSubprogram())
                        .map(function -> ProgramSpec.of(function.sectionName(), function))
                        .toList(),
                functions,
                maps,
                structOps,
                Map.of(),
                externs.all(),
                file.btf,
                btfExt);
    }

    /**
     * The functions of each code section, in the order of their places in bytes; still without references. Several are
     * at one place if a function has an alias.
     */
    private Map<Integer, Map<Long, List<FunctionSpecData>>> code() {
        Map<Integer, List<Symbol>> bySection = new HashMap<>();
        for (Symbol symbol : file.symbols) {
            if (symbol.isFunction() && symbol.isInSection()) {
                bySection
                        .computeIfAbsent(symbol.sectionIndex(), _ -> new ArrayList<>())
                        .add(symbol);
            }
        }
        Map<Integer, Map<Long, List<FunctionSpecData>>> code = new HashMap<>();
        Set<String> names = new HashSet<>();
        bySection.forEach((index, found) -> {
            Section section = elf.section(index);
            if (!section.isExecutable() || section.type() != Section.SHT_PROGBITS) {
                throw file.invalid("function " + quoted(found.getFirst()) + " is in section \"" + section.name()
                        + "\", which contains no code");
            }
            if (!section.name().equals(TEXT)) {
                found.forEach(symbol -> requireGlobal(symbol, section));
            }
            code.put(index, split(section, found));
            for (Symbol symbol : found) {
                if (!section.name().equals(TEXT) && !names.add(symbol.name())) {
                    throw file.invalid("two programs are named " + quoted(symbol));
                }
            }
        });
        return code;
    }

    /**
     * A function with a {@code SEC} is a program, and must not be static: the compiler may drop a static function, or
     * change its parameters.
     */
    private void requireGlobal(Symbol symbol, Section section) {
        if (symbol.binding() == Symbol.STB_LOCAL) {
            if (section.name().startsWith(TEXT + ".")) {
                throw file.invalid("function " + quoted(symbol) + " is in section \"" + section.name()
                        + "\", not in .text: compile the object without -ffunction-sections");
            }
            throw file.invalid("function " + quoted(symbol) + " in SEC(\"" + section.name()
                    + "\") is static: drop \"static\" if it is a program, or SEC if programs call it");
        }
    }

    private Map<Long, List<FunctionSpecData>> split(Section section, List<Symbol> found) {
        ByteView code = file.bytes(section);
        if (code.size() % Instruction.SIZE != 0) {
            throw code.malformed(
                    0, "code of section \"" + section.name() + "\" is " + code.size() + " bytes, not a multiple of 8");
        }
        List<Instruction> slots = Instructions.decode(code);
        found.sort(Comparator.comparingLong(Symbol::value));
        Map<Long, List<FunctionSpecData>> functions = new LinkedHashMap<>();
        long end = 0;
        for (Symbol symbol : found) {
            long start = symbol.value();
            if (start < 0 || start % Instruction.SIZE != 0 || symbol.size() % Instruction.SIZE != 0) {
                throw code.malformed(
                        0, "function " + quoted(symbol) + " does not start or end at the boundary of an instruction");
            }
            if (symbol.size() <= 0 || symbol.size() > code.size() || start > code.size() - symbol.size()) {
                throw code.malformed(
                        0,
                        "function " + quoted(symbol) + " of " + symbol.size() + " bytes at " + start
                                + " is not within the " + code.size() + " bytes of section \"" + section.name() + "\"");
            }
            int first = (int) (start / Instruction.SIZE);
            List<FunctionSpecData> here = functions.computeIfAbsent(start, _ -> new ArrayList<>());
            List<Instruction> body;
            if (!here.isEmpty() && symbol.size() == (long) here.getFirst().size() * Instruction.SIZE) {
                // The alias of a function. All share one list: a small file may have thousands of aliases.
                body = here.getFirst().instructions();
            } else if (start < end) {
                throw code.malformed(start, "function " + quoted(symbol) + " overlaps the one before it");
            } else {
                end = start + symbol.size();
                body = slots.subList(first, (int) (end / Instruction.SIZE));
            }
            here.add(new FunctionSpecData(
                    symbol.name(),
                    section.index(),
                    section.name(),
                    first,
                    symbol.isHidden(),
                    false,
                    body,
                    List.of(),
                    0));
        }
        return functions;
    }

    private String license() {
        Optional<Section> section = elf.section("license");
        if (section.isEmpty()) {
            return "";
        }
        ByteView data = elf.data(section.get());
        return CString.of(data.slice(0, Math.min(data.size(), 128)).toByteArray());
    }

    private int version() {
        Optional<Section> section = elf.section("version");
        if (section.isEmpty()) {
            return 0;
        }
        ByteView data = elf.data(section.get());
        if (data.size() != 4) {
            throw data.malformed(0, "section \"version\" has " + data.size() + " bytes, but a version has 4");
        }
        return data.s32(0);
    }

    private void requireUniqueNames(List<MapSpec> maps, List<StructOpsSpec> structOps) {
        Set<String> names = new HashSet<>();
        Stream.concat(maps.stream().map(MapSpec::name), structOps.stream().map(StructOpsSpec::name))
                .filter(name -> !names.add(name))
                .findFirst()
                .ifPresent(name -> {
                    throw file.invalid("two maps are named \"" + name + "\"");
                });
    }

    private static String quoted(Symbol symbol) {
        return "\"" + symbol.name() + "\"";
    }
}
