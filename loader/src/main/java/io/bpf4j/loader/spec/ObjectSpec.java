package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.core.CoreException;
import io.bpf4j.core.CoreRelocator;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfLimits;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnknownNameException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * The contents of a BPF object file. <i>Immutable</i>: read it once, load it any number of times, from any thread.
 *
 * @param source name of the file in messages
 * @param order byte order of the object, which must be the machine's to load it
 * @param license from {@code SEC("license")}; empty if the object states none
 * @param version from {@code SEC("version")}, 0 if the object states none
 * @param programs in the order of their sections and places
 * @param functions all functions, the programs' entries included
 * @param maps the maps of {@code .maps} first, then one map per section of global data
 * @param structOps struct_ops variables, each of which becomes a map
 * @param externs values and addresses that the loader must resolve
 * @param btf the object's types; empty if it was compiled without {@code -g}
 * @param btfExt functions, lines and CO-RE relocations by section; empty without BTF
 */
public record ObjectSpec(
        String source,
        ByteOrder order,
        String license,
        int version,
        List<ProgramSpec> programs,
        List<FunctionSpec> functions,
        List<MapSpec> maps,
        List<StructOpsSpec> structOps,
        List<ExternSpec> externs,
        Optional<Btf> btf,
        Optional<BtfExt> btfExt) {
    /** Larger files are refused; BPF objects are much smaller. */
    private static final int MAX_BYTES = 64 << 20;

    /** Symbol names are short, and the loader reads no compressed sections. */
    private static final ElfLimits LIMITS = new ElfLimits(
            4096, ElfLimits.defaults().maxSections(), ElfLimits.defaults().maxSymbols(), 0);

    public ObjectSpec {
        programs = List.copyOf(programs);
        functions = List.copyOf(functions);
        maps = List.copyOf(maps);
        structOps = List.copyOf(structOps);
        externs = List.copyOf(externs);
    }

    /**
     * Reads an object file into memory; the file is not needed afterwards.
     *
     * @throws IOException if the file does not exist or can't be read
     * @throws MalformedDataException if it breaks the rules of ELF or BTF
     * @throws InvalidObjectException if it is not a BPF object, or is inconsistent
     */
    public static ObjectSpec read(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            throw new IOException(path + " is a directory, not an object file");
        }
        byte[] bytes;
        // Does not rely on the file size, which is meaningless for a device or a pipe.
        try (InputStream in = Files.newInputStream(path)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (FileSystemException e) {
            throw e;
        } catch (IOException e) {
            throw new IOException(path + ": can't be read: " + e.getMessage(), e);
        }
        if (bytes.length > MAX_BYTES) {
            throw new InvalidObjectException(
                    path + " has more than " + MAX_BYTES + " bytes: too large for a BPF object");
        }
        return parse(path.toString(), bytes);
    }

    /**
     * Reads an object from bytes in memory, which are not kept.
     *
     * @param source name of the object in messages
     */
    public static ObjectSpec parse(String source, byte[] bytes) {
        try (ElfFile elf = ElfFile.parse(source, bytes.clone(), LIMITS)) {
            return new ObjectReader(elf).read();
        }
    }

    /**
     * A program.
     *
     * @throws UnknownNameException if no program has that name
     */
    public ProgramSpec program(String name) {
        return findProgram(name).orElseThrow(() -> unknown("program", name, programs, ProgramSpec::name));
    }

    /** The program of that name, if it exists. */
    public Optional<ProgramSpec> findProgram(String name) {
        return find(name, programs, ProgramSpec::name);
    }

    /**
     * A map.
     *
     * @throws UnknownNameException if no map has that name
     */
    public MapSpec map(String name) {
        return findMap(name).orElseThrow(() -> unknown("map", name, maps, MapSpec::name));
    }

    /** The map of that name, if it exists. */
    public Optional<MapSpec> findMap(String name) {
        return find(name, maps, MapSpec::name);
    }

    /**
     * A struct_ops variable.
     *
     * @throws UnknownNameException if no struct_ops variable has that name
     */
    public StructOpsSpec structOps(String name) {
        return find(name, structOps, StructOpsSpec::name)
                .orElseThrow(() -> unknown("struct_ops variable", name, structOps, StructOpsSpec::name));
    }

    /** The extern of that name, if it exists. */
    public Optional<ExternSpec> findExtern(String name) {
        return find(name, externs, ExternSpec::name);
    }

    /** The global variables of all sections. */
    public List<GlobalSpec> globals() {
        return maps.stream()
                .map(MapSpec::data)
                .filter(Objects::nonNull)
                .flatMap(data -> data.variables().stream())
                .toList();
    }

    /**
     * A global variable; the first, if static variables share the name.
     *
     * @throws UnknownNameException if no global variable has that name
     */
    public GlobalSpec global(String name) {
        return findGlobal(name).orElseThrow(() -> unknown("global variable", name, globals(), GlobalSpec::name));
    }

    /** The global variable of that name, if it exists. */
    public Optional<GlobalSpec> findGlobal(String name) {
        return find(name, globals(), GlobalSpec::name);
    }

    private static <T> Optional<T> find(String name, List<T> all, Function<T, String> nameOf) {
        return all.stream().filter(each -> nameOf.apply(each).equals(name)).findFirst();
    }

    private <T> UnknownNameException unknown(String kind, String name, List<T> all, Function<T, String> nameOf) {
        return new UnknownNameException(
                kind, name, source, all.stream().map(nameOf).toList());
    }

    /**
     * A CO-RE relocation of this object in words, such as {@code byte offset of struct task_struct.mm}; if it is
     * malformed, what is wrong with it.
     */
    public String describe(BtfExt.CoreRelocation relocation) {
        try {
            return CoreRelocator.describe(btf.orElseThrow(), relocation);
        } catch (CoreException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** The same object with other definitions of some maps, by name. */
    public ObjectSpec withMaps(Map<String, MapSpec> edited) {
        return new ObjectSpec(
                source,
                order,
                license,
                version,
                programs,
                functions,
                maps.stream().map(m -> edited.getOrDefault(m.name(), m)).toList(),
                structOps,
                externs,
                btf,
                btfExt);
    }

    /** The same object with other definitions of some programs, by name. */
    public ObjectSpec withPrograms(Map<String, ProgramSpec> edited) {
        return new ObjectSpec(
                source,
                order,
                license,
                version,
                programs.stream().map(p -> edited.getOrDefault(p.name(), p)).toList(),
                functions,
                maps,
                structOps,
                externs,
                btf,
                btfExt);
    }

    @Override
    public String toString() {
        return source + ": " + programs.size() + " programs, " + maps.size() + " maps";
    }
}
