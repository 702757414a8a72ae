package io.bpf4j.loader;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.linux.KernelConfig;
import io.bpf4j.loader.internal.load.LoadedObject;
import io.bpf4j.loader.internal.plan.LoadOptions;
import io.bpf4j.loader.internal.plan.ResizedData;
import io.bpf4j.loader.internal.sys.TokenKernel;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.KernelVersion;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Loads an object into the kernel. Say what is to differ from the object as it is, then {@link #load()}, once.
 *
 * <pre>{@code
 * ObjectSpec spec = ObjectSpec.read(Path.of("gc.bpf.o"));
 * try (BpfObject object = BpfLoader.of(spec).global("target_pid", 42).load()) { … }
 * }</pre>
 *
 * <p>A long file, because each decision that an embedder may take is a method with its contract, and nothing else is here.
 * <i>Confined.</i>
 */
public final class BpfLoader {
    private final LoadOptions options = new LoadOptions();
    /** With the definitions that were edited. */
    private ObjectSpec spec;

    private Optional<Features> features = Optional.empty();
    private Host host = Host.running();
    private Optional<Path> tokenDirectory = Optional.empty();
    private boolean used;

    private BpfLoader(ObjectSpec spec) {
        this.spec = spec;
        options.attachType = BpfLoader::attachType;
    }

    public static BpfLoader of(ObjectSpec spec) {
        return new BpfLoader(spec);
    }

    /**
     * Sets a global variable before the load; the only time for one in {@code .rodata}.
     *
     * @param value a {@link Number} or {@link Boolean} for an integer or enum, {@code byte[]} or {@link String} (UTF-8)
     *     for an array, which is filled up with zeroes; {@code byte[]} of the exact size for anything else
     * @throws InvalidObjectException if there is no such variable, or the value does not fit it
     */
    public BpfLoader global(String name, Object value) {
        GlobalSpec variable = spec.global(name)
                .orElseThrow(
                        () -> new InvalidObjectException(spec.source() + " has no global variable \"" + name + "\""));
        options.globals.put(name, encoded(variable, value));
        return this;
    }

    /**
     * Changes a map before it is made: its size, its flags, its type, what it holds. Before a variable in it is set.
     *
     * @throws InvalidObjectException if there is no such map, or it is one of global data that can't have that size
     */
    public BpfLoader map(String name, UnaryOperator<MapSpec> edit) {
        MapSpec before = knownMap(name);
        MapSpec after = edit.apply(before);
        if (!after.name().equals(name)) {
            throw new IllegalArgumentException("map \"" + name + "\" can't get another name, such as \"" + after.name()
                    + "\": programs refer to it by this one");
        }
        ResizedData.require(spec, before, after);
        spec = spec.withMaps(Map.of(name, after));
        return this;
    }

    /**
     * Changes a program before it is loaded: its type, its attach type, its flags, what it is for; where it is attached by
     * name, and whether at all.
     *
     * {@snippet :
     * BpfLoader.of(spec)
     *         .program("on_connect", program -> program.withTarget("tcp_v6_connect"))
     *         .program("on_close", program -> program.withSection("fentry/tcp_close"))
     * }
     *
     * @throws InvalidObjectException if there is no such program
     */
    public BpfLoader program(String name, UnaryOperator<ProgramSpec> edit) {
        ProgramSpec after = edit.apply(knownProgram(name));
        if (!after.name().equals(name)) {
            throw new IllegalArgumentException("program \"" + name + "\" can't become \"" + after.name() + "\"");
        }
        spec = spec.withPrograms(Map.of(name, after));
        return this;
    }

    /**
     * Changes the instructions of a program, right before the verifier gets them: with the functions that it calls behind
     * it, relocated, and with descriptors of maps in them. Asked once for each load of the program. If their number changes,
     * the kernel gets no function and line information, which says by number what it is about.
     *
     * @throws InvalidObjectException if there is no such program
     */
    public BpfLoader instructions(String program, UnaryOperator<List<Instruction>> edit) {
        knownProgram(program);
        options.instructions.put(program, edit);
        return this;
    }

    /**
     * Changes a struct of functions ({@code SEC(".struct_ops.link")}) before it is made: its values, its functions, and
     * whether it is made at all.
     *
     * @param name of the variable
     * @throws InvalidObjectException if there is none of that name
     */
    public BpfLoader structOps(String name, UnaryOperator<StructOpsSpec> edit) {
        StructOpsSpec original = spec.structOps(name)
                .orElseThrow(() ->
                        new InvalidObjectException(spec.source() + " has no struct_ops variable \"" + name + "\""));
        options.structOps.put(name, edit.apply(options.structOps.getOrDefault(name, original)));
        return this;
    }

    /**
     * Uses an open map in place of a new one. It stays its owner's, and must stay open until the load is done.
     *
     * @throws InvalidObjectException if there is no such map
     */
    public BpfLoader reuseMap(String name, BpfMap map) {
        knownMap(name);
        options.reused.put(name, map);
        return this;
    }

    private MapSpec knownMap(String name) {
        return spec.map(name)
                .orElseThrow(() -> new InvalidObjectException(spec.source() + " has no map \"" + name + "\""));
    }

    /**
     * Leaves a program out.
     *
     * @throws InvalidObjectException if there is no such program
     */
    public BpfLoader skipProgram(String name) {
        knownProgram(name);
        options.skipped.add(name);
        return this;
    }

    /**
     * Loads a program for a function of another program, rather than of the kernel: one that takes its place ({@code
     * SEC("freplace/FUNCTION")}, Linux 5.6), or traces it ({@code SEC("fentry/FUNCTION")} and {@code "fexit"}, Linux 5.5).
     *
     * @param name of a program of this object
     * @param target the program that has the function; loaded with BTF. It stays its object's
     * @throws InvalidObjectException if there is no such program
     */
    public BpfLoader attachTo(String name, ProgramHandle target) {
        knownProgram(name);
        options.targets.put(name, target);
        return this;
    }

    /**
     * Loads a program that the object marks as optional ({@code SEC("?…")}).
     *
     * @throws InvalidObjectException if there is no such program
     */
    public BpfLoader withProgram(String name) {
        knownProgram(name);
        options.wanted.add(name);
        return this;
    }

    private ProgramSpec knownProgram(String name) {
        return spec.program(name)
                .orElseThrow(() -> new InvalidObjectException(spec.source() + " has no program \"" + name + "\""));
    }

    /**
     * Where maps that ask to be pinned by name ({@code LIBBPF_PIN_BY_NAME}, {@link MapSpec#withPinByName}) are pinned, or
     * found; {@code /sys/fs/bpf} unless told. It is in a mounted BPF file system, and made there if only it is missing. A
     * map that is found is used if it is what the object wants, its contents as they are, and else the load fails with
     * both definitions. One that was pinned stays pinned when the object is closed.
     */
    public BpfLoader pinDirectory(Path directory) {
        options.pinDirectory = Optional.of(directory);
        return this;
    }

    /**
     * What the names of the maps of global data begin with, as {@code bpftool map} shows them: {@code gc} for {@code gc.bss}.
     * Unless told it is the name of the object's file up to its first dot.
     */
    public BpfLoader objectName(String name) {
        options.objectName = Optional.of(name);
        return this;
    }

    /**
     * The kernel version to load programs for, which kernels before 5.0 compare with their own for kprobes. Unless told it is
     * what {@code SEC("version")} says, or that of the running kernel.
     */
    public BpfLoader kernelVersion(KernelVersion version) {
        options.kernelVersion = Optional.of(version);
        return this;
    }

    /** Types to relocate against, in place of the running kernel's. */
    public BpfLoader targetBtf(Btf btf) {
        options.targetBtf = Optional.of(btf);
        return this;
    }

    /**
     * Gives {@code __kconfig} externs the values of these options, before what the running kernel's configuration says;
     * for a kernel that shows none, or to try another way through a program.
     *
     * @param lines as in the kernel's own file: {@code CONFIG_HZ=250}; {@code y}, {@code m}, {@code n}, numbers, or
     *     text in double quotes. Of an option that is there twice the first counts
     * @throws IllegalArgumentException if a line is no option
     */
    public BpfLoader kconfig(String lines) {
        options.kconfig = Optional.of(KernelConfig.given(lines));
        return this;
    }

    /** What to take the kernel for; {@link Features#without} forces an older way. The running kernel's unless told. */
    public BpfLoader features(Features newFeatures) {
        features = Optional.of(newFeatures);
        return this;
    }

    /**
     * Asks for the verifier's log also where a program is accepted; see {@link Program#verifierLog()} and {@link
     * Program#verifierStatistics()}. It makes the load slower, level 2 much: logs of many megabytes are usual there.
     *
     * @param level 1 instructions, 2 every path, 4 figures (Linux 5.2), or 4 and one of the others; 0, the default, none
     * @throws IllegalArgumentException if it is something else
     */
    public BpfLoader verifierLog(int level) {
        if (level < 0 || level > 7) {
            throw new IllegalArgumentException("the verifier has no log level " + level
                    + "; 1 is for instructions, 2 for every path, 4 for figures");
        }
        options.logLevel = level;
        return this;
    }

    /**
     * Loads with rights that were delegated to the user namespace of this process through a BPF file system (BPF token,
     * Linux 6.9): so a container without rights of its own may load what the host lets it. It is mounted by the host, for
     * the container's user namespace, with the options {@code delegate_cmds, delegate_maps, delegate_progs,
     * delegate_attachs}. Attaching is not part of it: some kinds need rights of their own.
     *
     * @param bpffs root directory of that file system
     */
    public BpfLoader token(Path bpffs) {
        tokenDirectory = Optional.of(bpffs);
        return this;
    }

    /** The machine to load on: {@link Host#running()} unless told. */
    public BpfLoader host(Host newHost) {
        host = newHost;
        return this;
    }

    /**
     * Loads the object: all of it, or nothing.
     *
     * @return the caller's to close
     * @throws BpfException one of its kinds, if the object can't be loaded; nothing is left in the kernel
     * @throws IllegalStateException if this loader was used before
     */
    public BpfObject load() {
        if (used) {
            throw new IllegalStateException("a loader loads once; make another for another copy of " + spec.source());
        }
        used = true;
        Optional<TokenKernel> token = tokenDirectory.map(directory -> TokenKernel.open(host.kernel(), directory));
        try {
            Host through = token.map(host::withKernel).orElse(host);
            Features chosen = features.orElseGet(() -> Features.of(through));
            return new BpfObject(through, spec, chosen, LoadedObject.load(through, chosen, spec, options));
        } catch (RuntimeException e) {
            token.ifPresent(TokenKernel::close);
            throw e;
        }
    }

    /** What another module wants a program loaded with, unless the embedder has said. */
    private static Optional<AttachType> attachType(ProgramSpec program, Features features) {
        boolean edited = !program.attachType().equals(program.kind().flatMap(kind -> kind.attachType()));
        Optional<SectionAttacher> other = edited ? Optional.empty() : SectionAttachers.of(program);
        return other.isPresent() ? other.get().attachType(program, features) : program.attachType();
    }

    private byte[] encoded(GlobalSpec variable, Object value) {
        return switch (value) {
            case byte[] bytes -> sized(variable, bytes);
            case String text -> sized(variable, text.getBytes(StandardCharsets.UTF_8));
            case Boolean flag -> number(variable, flag ? 1 : 0);
            case Float real when variable.size() == 4 -> number(variable, Float.floatToRawIntBits(real));
            case Double real when variable.size() == 8 -> number(variable, Double.doubleToRawLongBits(real));
            case Long number -> number(variable, number);
            case Integer number -> number(variable, number);
            case Short number -> number(variable, number);
            case Byte number -> number(variable, number);
            default ->
                throw new InvalidObjectException("variable \"" + variable.name() + "\" can't be set from a "
                        + value.getClass().getName() + "; give a number, a boolean, a string or its bytes");
        };
    }

    private byte[] sized(GlobalSpec variable, byte[] bytes) {
        boolean array = spec.btf()
                .map(types -> types.type(types.resolve(variable.typeId())) instanceof BtfType.Array)
                .orElse(false);
        if (bytes.length > variable.size() || (!array && bytes.length != variable.size())) {
            throw new InvalidObjectException("variable \"" + variable.name() + "\" has " + variable.size()
                    + " bytes, and was given " + bytes.length);
        }
        byte[] all = new byte[variable.size()];
        System.arraycopy(bytes, 0, all, 0, bytes.length);
        return all;
    }

    private byte[] number(GlobalSpec variable, long value) {
        int bits = variable.size() * 8;
        boolean fits = bits >= 64 || (value >= -(1L << (bits - 1)) && value < 1L << bits);
        ByteBuffer bytes = ByteBuffer.allocate(variable.size()).order(spec.order());
        if (!fits) {
            throw new InvalidObjectException(
                    "variable \"" + variable.name() + "\" has " + variable.size() + " bytes, too few for " + value);
        }
        switch (variable.size()) {
            case 1 -> bytes.put((byte) value);
            case 2 -> bytes.putShort((short) value);
            case 4 -> bytes.putInt((int) value);
            case 8 -> bytes.putLong(value);
            default ->
                throw new InvalidObjectException("variable \"" + variable.name() + "\" has " + variable.size()
                        + " bytes and can't be set from a number");
        }
        return bytes.array();
    }
}
