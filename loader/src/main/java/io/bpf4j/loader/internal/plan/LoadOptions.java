package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.linux.KernelConfig;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.KernelVersion;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/**
 * What an embedder decides about a load, besides editing the definitions in the object. {@code BpfLoader} has a method for
 * each and writes it down here; a plan is made of it and keeps nothing of it that may change. <i>Confined.</i>
 */
public final class LoadOptions {
    /** Values of variables by name, encoded for the object. */
    public final Map<String, byte[]> globals = new HashMap<>();

    /** Edited structs of functions, by name. */
    public final Map<String, StructOpsSpec> structOps = new HashMap<>();

    /** Maps to use in place of new ones, by name; they stay their owner's. */
    public final Map<String, BpfMap> reused = new HashMap<>();

    /** What is done to a program's instructions last, by its name. */
    public final Map<String, UnaryOperator<List<Instruction>>> instructions = new HashMap<>();

    /** Programs not to load. */
    public final Set<String> skipped = new HashSet<>();

    /** Programs to load although their section starts with {@code ?}. */
    public final Set<String> wanted = new HashSet<>();

    /**
     * Programs whose functions are replaced or traced, by the name of the program that does so; they stay their objects'.
     */
    public final Map<String, ProgramHandle> targets = new HashMap<>();

    /** What the names of maps of global data begin with; empty to go by the file's. */
    public Optional<String> objectName = Optional.empty();

    /** To tell old kernels; empty for what the object or the running kernel says. */
    public Optional<KernelVersion> kernelVersion = Optional.empty();

    /** Where maps that ask to be pinned by name go; empty for the usual place. */
    public Optional<Path> pinDirectory = Optional.empty();

    /** Types to relocate against instead of the running kernel's. */
    public Optional<Btf> targetBtf = Optional.empty();

    /** Options of the kernel's configuration that come before those of the running kernel. */
    public Optional<KernelConfig> kconfig = Optional.empty();

    /** Level of the verifier's log for every program, not only refused ones; 0 for none. */
    public int logLevel;

    /** What a program is loaded for. */
    public BiFunction<ProgramSpec, Features, Optional<AttachType>> attachType = (program, _) -> program.attachType();
}
