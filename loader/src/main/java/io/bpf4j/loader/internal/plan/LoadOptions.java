package io.bpf4j.loader.internal.plan;

import io.bpf4j.core.CoreTarget;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.internal.linux.KernelConfig;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.KernelVersion;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/**
 * The options of a load: what the object is loaded with, and where. The object itself, with all edits, is an {@code
 * ObjectSpec}. {@code BpfLoader} has a setter for each option; a plan copies the options and keeps no reference to
 * mutable ones. <i>Confined.</i>
 */
public final class LoadOptions {
    /** Maps to use in place of new ones, by name; their owner closes them. */
    public final Map<String, BpfMap> reused = new HashMap<>();

    /** The last edits to a program's instructions, by its name. */
    public final Map<String, UnaryOperator<List<Instruction>>> instructions = new HashMap<>();

    /** Whether to plan also for the programs that are not loaded. */
    public boolean allPrograms;

    /**
     * Programs whose functions are replaced or traced, by the name of the program that does so; their objects close
     * them.
     */
    public final Map<String, ProgramHandle> targets = new HashMap<>();

    /** The prefix of the names of global data maps; empty to use the file's name. */
    public Optional<String> objectName = Optional.empty();

    /** The version to report to old kernels; empty for the version of the object or the running kernel. */
    public Optional<KernelVersion> kernelVersion = Optional.empty();

    /** The directory of maps that are pinned by name; empty for the default. */
    public Optional<Path> pinDirectory = Optional.empty();

    /** Types to relocate against instead of the running kernel's. */
    public Optional<CoreTarget> targetBtf = Optional.empty();

    /** Kernel configuration options that override those of the running kernel. */
    public Optional<KernelConfig> kconfig = Optional.empty();

    /** Verifier log level for every program, not only rejected ones; 0 for none. */
    public int logLevel;

    /** The attach type that a program is loaded for. */
    public BiFunction<ProgramSpec, Features, Optional<AttachType>> attachType = (program, _) -> program.attachType();
}
