package io.bpf4j.loader;

import io.bpf4j.btf.Btf;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.load.LoadedObject;
import io.bpf4j.loader.internal.plan.LoadOptions;
import io.bpf4j.loader.internal.plan.ResizedData;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.TokenKernel;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.internal.linux.KernelConfig;
import io.bpf4j.sys.internal.linux.PidNamespace;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.KernelVersion;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Loads an object into the kernel: configure, then call {@link #load()} once.
 *
 * <pre>{@code
 * ObjectSpec spec = ObjectSpec.read(Path.of("gc.bpf.o"));
 * try (BpfObject object = BpfLoader.of(spec).global("target_pid", 42).load()) { … }
 * }</pre>
 *
 * <p>This file is long because each option is a method with its contract. <i>Confined.</i>
 */
public final class BpfLoader {
    /** Variables of {@code <bpf4j/pidns.h>}. */
    private static final String PIDNS_DEVICE = "pidns_device";

    private static final String PIDNS_INODE = "pidns_inode";

    private final LoadOptions options = new LoadOptions();
    /** The object with all edits so far. */
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
     * Sets an integer or enum before the load. A variable in {@code .rodata} can only be set here. {@link #load()}
     * refuses a value that does not fit the variable, as for the overloads of this method. The name may be the path of
     * a member of a struct: {@code config.kind}.
     *
     * @throws UnknownNameException if the variable does not exist
     */
    public BpfLoader global(String name, long value) {
        spec = spec.withGlobal(name, value);
        return this;
    }

    /**
     * Sets a boolean or integer before the load, to 0 or 1.
     *
     * @throws UnknownNameException if the variable does not exist
     */
    public BpfLoader global(String name, boolean value) {
        spec = spec.withGlobal(name, value);
        return this;
    }

    /**
     * Sets the bytes of a variable before the load: all of them, or the first bytes of an array, whose others become 0.
     *
     * @throws UnknownNameException if the variable does not exist
     */
    public BpfLoader global(String name, byte[] value) {
        spec = spec.withGlobal(name, value);
        return this;
    }

    /**
     * Sets an array of characters before the load, to text in UTF-8 followed by zeroes.
     *
     * @throws UnknownNameException if the variable does not exist
     */
    public BpfLoader global(String name, String text) {
        spec = spec.withGlobal(name, text);
        return this;
    }

    /**
     * Sets a variable of any type before the load. {@link #load()} compares the codec with the variable's type, as
     * described at {@link Codec#ofRecord}.
     *
     * @throws UnknownNameException if the variable does not exist
     */
    public <T> BpfLoader global(String name, Codec<T> codec, T value) {
        spec = spec.withGlobal(name, codec, value);
        return this;
    }

    /**
     * Changes a map before it is created: its size, flags, type, contents.
     *
     * @throws UnknownNameException if the map does not exist
     * @throws InvalidObjectException if it is a map of global data that can't have that size
     */
    public BpfLoader map(String name, UnaryOperator<MapSpec> edit) {
        MapSpec before = spec.map(name);
        MapSpec after = edit.apply(before);
        if (!after.name().equals(name)) {
            throw new IllegalArgumentException("map \"" + name + "\" can't be renamed to \"" + after.name()
                    + "\": programs refer to it by its name");
        }
        ResizedData.require(spec, before, after);
        spec = spec.withMaps(Map.of(name, after));
        return this;
    }

    /**
     * Changes a program before it is loaded: its type, attach type, flags and target; whether it is loaded, which an
     * optional one ({@code SEC("?…")}) is not by default; and where {@code attachAll()} attaches it, if at all.
     *
     * {@snippet :
     * BpfLoader.of(spec)
     *         .program("on_connect", program -> program.withTarget("tcp_v6_connect"))
     *         .program("on_close", program -> program.withSection("fentry/tcp_close"))
     *         .program("on_reset", program -> program.withAutoload(false))
     * }
     *
     * @throws UnknownNameException if the program does not exist
     */
    public BpfLoader program(String name, UnaryOperator<ProgramSpec> edit) {
        ProgramSpec after = edit.apply(spec.program(name));
        if (!after.name().equals(name)) {
            throw new IllegalArgumentException("program \"" + name + "\" can't be renamed to \"" + after.name() + "\"");
        }
        spec = spec.withPrograms(Map.of(name, after));
        return this;
    }

    /**
     * Replaces the body of a function before the programs that call it are loaded. So code that is generated at run
     * time, such as a filter, becomes a part of a program that was compiled from C: the object has a stub in its place.
     * The compiler must not know what the stub returns, so declare it {@code __weak __hidden}.
     *
     * {@snippet :
     * BpfLoader.of(spec).function("is_wanted", stub -> stub.withInstructions(generated))
     * }
     *
     * @throws UnknownNameException if the function does not exist
     */
    public BpfLoader function(String name, UnaryOperator<FunctionSpec> edit) {
        FunctionSpec before = spec.function(name);
        spec = spec.withFunction(before, edit.apply(before));
        return this;
    }

    /**
     * Changes the instructions of a program right before the verifier gets them: relocated, with file descriptors of
     * maps, followed by the subprograms that the program calls. The loader calls {@code edit} once for each load of the
     * program. If the number of instructions changes, the kernel gets no function and line information, because these
     * refer to instructions by number.
     *
     * @throws UnknownNameException if the program does not exist
     */
    public BpfLoader instructions(String program, UnaryOperator<List<Instruction>> edit) {
        spec.program(program);
        options.instructions.put(program, edit);
        return this;
    }

    /**
     * Changes a struct_ops variable ({@code SEC(".struct_ops.link")}) before its map is created: its values, its
     * programs, and whether the map is created at all.
     *
     * @param name of the variable
     * @throws UnknownNameException if no struct_ops variable has that name
     */
    public BpfLoader structOps(String name, UnaryOperator<StructOpsSpec> edit) {
        spec = spec.withStructOps(Map.of(name, edit.apply(spec.structOps(name))));
        return this;
    }

    /**
     * Uses an open map in place of a new one. The map still belongs to its owner, and must stay open until the load is
     * done.
     *
     * @throws UnknownNameException if the map does not exist
     */
    public BpfLoader reuseMap(String name, BpfMap map) {
        spec.map(name);
        options.reused.put(name, map);
        return this;
    }

    /**
     * Loads a program for a function of another BPF program instead of the kernel. The program replaces the function
     * ({@code SEC("freplace/FUNCTION")}, Linux 5.6) or traces it ({@code SEC("fentry/FUNCTION")} and {@code "fexit"},
     * Linux 5.5).
     *
     * @param name of a program of this object
     * @param target the program that has the function; loaded with BTF. It still belongs to its object
     * @throws UnknownNameException if the program does not exist
     */
    public BpfLoader attachTo(String name, ProgramHandle target) {
        spec.program(name);
        options.targets.put(name, target);
        return this;
    }

    /**
     * Sets the directory for maps that are pinned by name ({@code LIBBPF_PIN_BY_NAME}, {@link MapSpec#withPinByName}).
     * The default is {@code /sys/fs/bpf}. It must be in a mounted BPF file system; the last directory of the path is
     * created if it does not exist. A map already pinned there is reused with its contents if its definition matches;
     * otherwise the load fails and reports both definitions. Pinned maps stay pinned when the object is closed.
     */
    public BpfLoader pinDirectory(Path directory) {
        options.pinDirectory = Optional.of(directory);
        return this;
    }

    /**
     * Sets the prefix of the names of global data maps, as {@code bpftool map} shows them: {@code gc} for {@code
     * gc.bss}. The default is the name of the object's file up to its first dot.
     */
    public BpfLoader objectName(String name) {
        options.objectName = Optional.of(name);
        return this;
    }

    /**
     * Sets the kernel version to load programs for. Kernels before 5.0 compare it with their own for kprobes. The
     * default is the value of {@code SEC("version")}, or the version of the running kernel.
     */
    public BpfLoader kernelVersion(KernelVersion version) {
        options.kernelVersion = Optional.of(version);
        return this;
    }

    /**
     * Sets the types to relocate against, in place of the running kernel's and those of its modules.
     *
     * @param modules each on top of {@code kernel}; they are searched if the kernel itself lacks a type
     */
    public BpfLoader targetBtf(Btf kernel, Btf... modules) {
        List<Btf> copy = List.of(modules);
        options.targetBtf = Optional.of(CoreTarget.of(kernel, () -> copy));
        return this;
    }

    /**
     * Sets the values of these options for {@code __kconfig} externs. They override the running kernel's configuration.
     * Use this for a kernel that does not expose its configuration, or to test another path through a program.
     *
     * @param lines as in the kernel's own file: {@code CONFIG_HZ=250}; {@code y}, {@code m}, {@code n}, numbers, or
     *     text in double quotes. If an option occurs twice, the first value is used
     * @throws IllegalArgumentException if a line is not an option
     */
    public BpfLoader kconfig(String lines) {
        options.kconfig = Optional.of(KernelConfig.parse(lines));
        return this;
    }

    /**
     * Sets the kernel features to rely on; {@link Features#without} forces an older method. The default is the running
     * kernel's.
     */
    public BpfLoader features(Features newFeatures) {
        features = Optional.of(newFeatures);
        return this;
    }

    /**
     * Asks for the verifier log also if a program is accepted; see {@link Program#verifierLog()} and {@link
     * Program#verifierStatistics()}. The log makes the load slower, and much slower at level 2: logs of many megabytes
     * are usual there.
     *
     * @param level 1 for instructions, 2 for every path, 4 for statistics (Linux 5.2), or 4 combined with one of the
     *     others; 0, the default, for no log
     * @throws IllegalArgumentException if the level is something else
     */
    public BpfLoader verifierLog(int level) {
        if (level < 0 || level > 7) {
            throw new IllegalArgumentException("the verifier has no log level " + level
                    + "; 1 is for instructions, 2 for every path, 4 for statistics");
        }
        options.logLevel = level;
        return this;
    }

    /**
     * Loads with rights that were delegated to the user namespace of this process through a BPF file system (BPF token,
     * Linux 6.9). A container without capabilities can then load what the host allows. The host mounts the file system
     * for the container's user namespace, with the options {@code delegate_cmds, delegate_maps, delegate_progs,
     * delegate_attachs}. The token does not cover attaching: some program types need further rights for it.
     *
     * @param bpffs root directory of that file system
     */
    public BpfLoader token(Path bpffs) {
        tokenDirectory = Optional.of(bpffs);
        return this;
    }

    /** Sets the machine to load on. The default is {@link Host#running()}. */
    public BpfLoader host(Host newHost) {
        host = newHost;
        return this;
    }

    /**
     * The object with all edits so far, for {@link DryRun}: what {@link #load()} loads, but for the number of this
     * process's pid namespace.
     */
    public ObjectSpec spec() {
        return spec;
    }

    /**
     * Loads the object: all of it, or nothing.
     *
     * <p>If programs include {@code <bpf4j/pidns.h>}, their variables {@code pidns_device} and {@code pidns_inode} are
     * set to this process's pid namespace, unless the caller has set one of them: then {@code current_ids()} gives the
     * numbers by which this process knows processes, also in a container.
     *
     * @return the object, which the caller must close
     * @throws BpfException a subclass, if the object can't be loaded; nothing is left in the kernel
     * @throws IllegalStateException if this loader was used before
     */
    public BpfObject load() {
        if (used) {
            throw new IllegalStateException(
                    "this loader has been used; create another one to load another copy of " + spec.source());
        }
        used = true;
        Optional<TokenKernel> token = tokenDirectory.map(directory -> TokenKernel.open(Kernel.of(host), directory));
        try {
            Host loadingHost = token.map(this::withToken).orElse(host);
            Features usedFeatures = features.orElseGet(() -> Features.of(loadingHost));
            ObjectSpec loaded = withPidNamespace();
            return new BpfObject(
                    loadingHost, loaded, usedFeatures, LoadedObject.load(loadingHost, usedFeatures, loaded, options));
        } catch (RuntimeException | Error e) {
            UndoStack.of(() -> token.ifPresent(TokenKernel::close)).closeAfter(e);
            throw e;
        }
    }

    /**
     * The object, with the pid namespace of this process written into it if it includes {@code <bpf4j/pidns.h>}, so
     * that its programs see the same pids. In the initial pid namespace the pids are the same anyway.
     */
    private ObjectSpec withPidNamespace() {
        boolean unknown = Stream.of(PIDNS_DEVICE, PIDNS_INODE)
                .allMatch(name -> spec.findGlobal(name).filter(this::isOfHeader).isPresent()
                        && !spec.changedGlobals().contains(name));
        PidNamespace own = unknown ? PidNamespace.own(host) : new PidNamespace(0, 0);
        return own.isInitial()
                ? spec
                : spec.withGlobal(PIDNS_DEVICE, own.device()).withGlobal(PIDNS_INODE, own.inode());
    }

    /** Another object may have variables of these names: those of the header are constants of 64 bits. */
    private boolean isOfHeader(GlobalSpec variable) {
        return variable.size() == Long.BYTES
                && spec.map(variable.map()).data().filter(DataSection::readOnly).isPresent();
    }

    /** The same machine, whose kernel loads with the rights of a token; its types are the same and not read again. */
    private Host withToken(TokenKernel token) {
        return host.with(KernelBtf.class, KernelBtf.of(host)).with(Kernel.class, token);
    }

    /** The attach type that another module requests, unless the caller has set one. */
    private static Optional<AttachType> attachType(ProgramSpec program, Features features) {
        boolean edited = !program.attachType().equals(program.kind().flatMap(kind -> kind.attachType()));
        Optional<SectionAttacher> other = edited ? Optional.empty() : SectionAttachers.of(program);
        return other.isPresent() ? other.get().attachType(program, features) : program.attachType();
    }
}
