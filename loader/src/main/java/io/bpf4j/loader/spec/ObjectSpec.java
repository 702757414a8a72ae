package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.core.CoreException;
import io.bpf4j.core.CoreRelocator;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileOpener;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.loader.map.CType;
import io.bpf4j.loader.map.Codec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The contents of a BPF object, from a file or made in Java ({@link #of}). <i>Immutable</i>: read or make it once, load
 * it any number of times, from any thread.
 */
public sealed interface ObjectSpec permits ObjectSpecData {
    /** Name of the file in messages. */
    String source();

    /** Byte order of the object, which must be the machine's to load it. */
    ByteOrder order();

    /** The license from {@code SEC("license")}; empty if the object states none. */
    String license();

    /** The kernel version from {@code SEC("version")}, 0 if the object states none. */
    int version();

    /** The programs, in the order of their sections and places. */
    List<ProgramSpec> programs();

    /** All functions, the programs' entries included. */
    List<FunctionSpec> functions();

    /** The maps of {@code .maps} first, then one map per section of global data. */
    List<MapSpec> maps();

    /** Struct_ops variables, each of which becomes a map. */
    List<StructOpsSpec> structOps();

    /** Values and addresses that the loader must resolve. */
    List<ExternSpec> externs();

    /** The object's types; empty if it was compiled without {@code -g}. */
    Optional<Btf> btf();

    /** Functions, lines and CO-RE relocations by section; empty without BTF. */
    Optional<BtfExt> btfExt();

    /**
     * Reads an object file into memory; the file is not needed afterwards.
     *
     * @throws IOException if the file does not exist or can't be read
     * @throws MalformedDataException if its ELF or BTF is malformed
     * @throws InvalidObjectException if it is not a BPF object, or is inconsistent
     */
    static ObjectSpec read(Path path) throws IOException {
        return read(path, FileOpener.JAVA);
    }

    /**
     * Like {@link #read(Path)}, by an opener that can be trusted with files in other users' folders:
     * {@code OpenFile.opener(Host.running())}. It makes system calls, and opens regular files only.
     */
    static ObjectSpec read(Path path, FileOpener opener) throws IOException {
        if (Files.isDirectory(path)) {
            throw new IOException(path + " is a directory, not an object file");
        }
        byte[] bytes;
        // Does not rely on the file size, which is meaningless for a device or a pipe, and may grow meanwhile.
        try (FileOpener.Opened opened = opener.open(path);
                InputStream in = Files.newInputStream(opened.path())) {
            bytes = in.readNBytes(ObjectSpecData.MAX_BYTES + 1);
        } catch (FileSystemException e) {
            throw e;
        } catch (IOException e) {
            throw new IOException(path + ": can't be read: " + e.getMessage(), e);
        }
        if (bytes.length > ObjectSpecData.MAX_BYTES) {
            throw new InvalidObjectException(
                    path + " has more than " + ObjectSpecData.MAX_BYTES + " bytes: too large for a BPF object");
        }
        return parse(path.toString(), bytes);
    }

    /**
     * Reads an object from bytes in memory, which are not kept.
     *
     * @param source name of the object in messages
     */
    static ObjectSpec parse(String source, byte[] bytes) {
        try (ElfFile elf = ElfFile.parse(source, bytes.clone(), ObjectSpecData.LIMITS)) {
            return new ObjectReader(elf).read();
        }
    }

    /**
     * An object without content, for programs that are written in Java. It needs neither a compiler nor a file:
     *
     * <pre>{@code
     * ObjectSpec.of("counter")
     *         .withMap(MapSpec.of("counts", MapType.HASH, 4, 8, 1024))
     *         .withProgram(ProgramSpec.of("socket", FunctionSpec.of("count", code)));   // an Assembler
     * }</pre>
     *
     * <p>It has the machine's byte order, no license ({@link #withLicense}) and no types ({@link #withBtf}).
     *
     * @param source name of the object in messages
     */
    static ObjectSpec of(String source) {
        return new ObjectSpecData(
                source,
                ByteOrder.nativeOrder(),
                "",
                0,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                Map.of(),
                List.of(),
                Optional.empty(),
                Optional.empty());
    }

    /**
     * A program.
     *
     * @throws UnknownNameException if no program has that name
     */
    default ProgramSpec program(String name) {
        return findProgram(name).orElseThrow(() -> unknown("program", name, programs(), ProgramSpec::name));
    }

    /** The program of that name, if it exists. */
    default Optional<ProgramSpec> findProgram(String name) {
        return find(name, programs(), ProgramSpec::name);
    }

    /**
     * A map.
     *
     * @throws UnknownNameException if no map has that name
     */
    default MapSpec map(String name) {
        return findMap(name).orElseThrow(() -> unknown("map", name, maps(), MapSpec::name));
    }

    /** The map of that name, if it exists. */
    default Optional<MapSpec> findMap(String name) {
        return find(name, maps(), MapSpec::name);
    }

    /**
     * A struct_ops variable.
     *
     * @throws UnknownNameException if no struct_ops variable has that name
     */
    default StructOpsSpec structOps(String name) {
        return find(name, structOps(), StructOpsSpec::name)
                .orElseThrow(() -> unknown("struct_ops variable", name, structOps(), StructOpsSpec::name));
    }

    /**
     * A function; the first, if static functions share the name.
     *
     * @throws UnknownNameException if no function has that name
     */
    default FunctionSpec function(String name) {
        return find(name, functions(), FunctionSpec::name)
                .orElseThrow(() -> unknown("function", name, functions(), FunctionSpec::name));
    }

    /** The extern of that name, if it exists. */
    default Optional<ExternSpec> findExtern(String name) {
        return find(name, externs(), ExternSpec::name);
    }

    /** The global variables of all sections. */
    default List<GlobalSpec> globals() {
        return maps().stream()
                .flatMap(map -> map.data().stream())
                .flatMap(data -> data.variables().stream())
                .toList();
    }

    /**
     * A global variable, or a member of a global struct by its path, such as {@code config.kind}. If static variables
     * share the name, the first one. Members need the object's BTF and are not bit-fields.
     *
     * @throws UnknownNameException if no global variable or member has that name
     */
    default GlobalSpec global(String name) {
        return findGlobal(name).orElseThrow(() -> {
            List<GlobalSpec> members = GlobalMembers.beside(this, name);
            return unknown("global variable", name, members.isEmpty() ? globals() : members, GlobalSpec::name);
        });
    }

    /** The global variable of that name, or the member with that path, if it exists. */
    default Optional<GlobalSpec> findGlobal(String name) {
        return find(name, globals(), GlobalSpec::name)
                .or(() -> find(name, GlobalMembers.beside(this, name), GlobalSpec::name));
    }

    private static <T> Optional<T> find(String name, List<T> all, Function<T, String> nameOf) {
        return all.stream().filter(each -> nameOf.apply(each).equals(name)).findFirst();
    }

    private <T> UnknownNameException unknown(String kind, String name, List<T> all, Function<T, String> nameOf) {
        return new UnknownNameException(
                kind, name, source(), all.stream().map(nameOf).toList());
    }

    /**
     * A CO-RE relocation of this object in words, such as {@code byte offset of struct task_struct.mm}; if it is
     * malformed, the reason.
     */
    default String describe(BtfExt.CoreRelocation relocation) {
        try {
            return CoreRelocator.describe(btf().orElseThrow(), relocation);
        } catch (CoreException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /**
     * The C type with an id, if it has that size, to check a codec with: an edit may have changed the size of a map or
     * a section.
     *
     * @param size in bytes
     */
    default Optional<CType> declaredType(int id, long size) {
        if (id == 0 || btf().isEmpty()) {
            return Optional.empty();
        }
        Btf types = btf().get();
        try {
            return types.kind(types.resolve(id)) != BtfKind.DATASEC && types.size(id) == size
                    ? Optional.of(new CType(types, id))
                    : Optional.empty();
        } catch (MalformedDataException e) {
            return Optional.empty(); // without a size, such as void
        }
    }

    /** The names of the global variables that {@link #withGlobal(String, long)} or one of its overloads has set. */
    Set<String> changedGlobals();

    /**
     * The value to which {@link #withGlobal(String, long)} or one of its overloads has set a variable: all its bytes,
     * in the object's byte order.
     *
     * @param global one of {@link #changedGlobals()}
     * @throws InvalidObjectException if the value does not fit the variable
     */
    byte[] initialValue(String global);

    /**
     * The same object with another value of an integer or enum. The load and the dry run refuse a value that does not
     * fit the variable, as for the overloads of this method. The name may be the path of a member of a struct: {@code
     * config.kind}. The value of a whole struct replaces values that were set for its members before.
     *
     * @throws UnknownNameException if the variable does not exist
     */
    default ObjectSpec withGlobal(String name, long value) {
        return withGlobal(name, InitialValue.of(value));
    }

    /**
     * The same object with a boolean or integer that is 0 or 1.
     *
     * @throws UnknownNameException if the variable does not exist
     */
    default ObjectSpec withGlobal(String name, boolean value) {
        return withGlobal(name, InitialValue.of(value ? 1 : 0));
    }

    /**
     * The same object with other bytes of a variable: all of them, or the first bytes of an array, whose others become
     * 0.
     *
     * @throws UnknownNameException if the variable does not exist
     */
    default ObjectSpec withGlobal(String name, byte[] value) {
        return withGlobal(name, InitialValue.of(value));
    }

    /**
     * The same object with text in an array of characters: UTF-8 followed by zeroes.
     *
     * @throws UnknownNameException if the variable does not exist
     */
    default ObjectSpec withGlobal(String name, String text) {
        return withGlobal(name, InitialValue.of(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * The same object with another value of a variable of any type. The codec is compared with the variable's type, as
     * described at {@link Codec#ofRecord}.
     *
     * @throws UnknownNameException if the variable does not exist
     */
    default <T> ObjectSpec withGlobal(String name, Codec<T> codec, T value) {
        return withGlobal(name, InitialValue.of(codec, value));
    }

    private ObjectSpec withGlobal(String name, InitialValue value) {
        global(name);
        Map<String, InitialValue> values = new HashMap<>(((ObjectSpecData) this).values());
        values.keySet().removeIf(other -> other.startsWith(name + '.'));
        values.put(name, value);
        return with("values", values);
    }

    /** The same object with other definitions of some struct_ops variables, by name. */
    default ObjectSpec withStructOps(Map<String, StructOpsSpec> edited) {
        return with(
                "structOps",
                structOps().stream().map(s -> edited.getOrDefault(s.name(), s)).toList());
    }

    /** The same object with other definitions of some maps, by name. */
    default ObjectSpec withMaps(Map<String, MapSpec> edited) {
        return with(
                "maps",
                maps().stream().map(m -> edited.getOrDefault(m.name(), m)).toList());
    }

    /** The same object with other definitions of some programs, by name. */
    default ObjectSpec withPrograms(Map<String, ProgramSpec> edited) {
        return with(
                "programs",
                programs().stream().map(p -> edited.getOrDefault(p.name(), p)).toList());
    }

    /** The same object with another body of a function. */
    default ObjectSpec withFunction(FunctionSpec before, FunctionSpec after) {
        return with(
                        "functions",
                        functions().stream()
                                .map(f -> f.equals(before) ? after : f)
                                .toList())
                .withPrograms(programs().stream()
                        .filter(program -> program.function().equals(before))
                        .collect(Collectors.toMap(
                                ProgramSpec::name,
                                program -> RecordCopy.with(program, ProgramSpecData.class, "function", after))));
    }

    /** The same object with another license: with {@code GPL}, its programs may call all helpers. */
    default ObjectSpec withLicense(String newLicense) {
        return with("license", newLicense);
    }

    /**
     * The same object with types, for one that is written in Java. Its maps and functions refer to them by their ids:
     * {@link MapSpec#withTypes}, {@link FunctionSpec#withType}. Usually made by a {@code BtfBuilder}.
     *
     * @throws IllegalArgumentException if the object has types already, or if these have another byte order or are on
     *     top of others (split BTF)
     */
    default ObjectSpec withBtf(Btf types) {
        if (btf().isPresent()) {
            throw new IllegalArgumentException(source() + " already has BTF");
        }
        if (types.base().isPresent() || types.order() != order()) {
            throw new IllegalArgumentException(source() + " can't have the types of " + types.source() + ", which are "
                    + (types.base().isPresent() ? "split BTF" : types.order() + ", and not " + order()));
        }
        return with("btf", Optional.of(types));
    }

    /**
     * The same object with one more map.
     *
     * @throws IllegalArgumentException if the object has a map of that name
     */
    default ObjectSpec withMap(MapSpec added) {
        return with("maps", plus("map", maps(), added, MapSpec::name));
    }

    /**
     * The same object with one more program, and its function. The function may be in the object already, for programs
     * that differ in their names, targets and flags only: {@link ProgramSpec#withName}.
     *
     * @throws IllegalArgumentException if the object has a program of that name, or another function of that name
     */
    default ObjectSpec withProgram(ProgramSpec added) {
        ObjectSpec with = functions().contains(added.function()) ? this : withFunction(added.function());
        return with.with("programs", plus("program", programs(), added, ProgramSpec::name));
    }

    /**
     * The same object with one more function, which programs call by its name. A program gets the functions that it
     * reaches.
     *
     * @throws IllegalArgumentException if the object has a function of that name
     */
    default ObjectSpec withFunction(FunctionSpec added) {
        return with("functions", plus("function", functions(), added, FunctionSpec::name));
    }

    private <T> List<T> plus(String kind, List<T> all, T added, Function<T, String> nameOf) {
        if (find(nameOf.apply(added), all, nameOf).isPresent()) {
            throw new IllegalArgumentException(
                    source() + " already has a " + kind + " \"" + nameOf.apply(added) + "\"");
        }
        return Stream.concat(all.stream(), Stream.of(added)).toList();
    }

    private ObjectSpec with(String component, Object value) {
        return RecordCopy.with(this, ObjectSpecData.class, component, value);
    }
}
