package io.bpf4j.loader.internal.load;

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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * What the embedder decided about a load. <i>Immutable.</i>
 *
 * @param objectName what the names of maps of global data begin with; empty to go by the file's
 * @param kernelVersion to tell old kernels; empty for what the object or the running kernel says
 * @param globals values of variables by name, encoded for the object
 * @param structOps edited structs of functions, by name
 * @param reused maps to use in place of new ones, by name; they stay their owner's
 * @param instructions what is done to a program's instructions last, by its name
 * @param skipped programs not to load
 * @param wanted programs to load although their section starts with {@code ?}
 * @param targets programs whose functions are replaced or traced, by the name of the program that does so; they stay
 *     their objects'
 * @param pinDirectory where maps that ask to be pinned by name go
 * @param targetBtf types to relocate against instead of the running kernel's
 * @param kconfig options of the kernel's configuration that come before those of the running kernel
 * @param logLevel of the verifier for every program, not only refused ones; 0 for none
 * @param attachType what another module wants a program loaded with; empty to go by the section's name
 */
public record LoadOptions(
        Features features,
        Optional<String> objectName,
        Optional<KernelVersion> kernelVersion,
        Map<String, byte[]> globals,
        Map<String, StructOpsSpec> structOps,
        Map<String, BpfMap> reused,
        Map<String, UnaryOperator<List<Instruction>>> instructions,
        Set<String> skipped,
        Set<String> wanted,
        Map<String, ProgramHandle> targets,
        Optional<Path> pinDirectory,
        Optional<Btf> targetBtf,
        Optional<KernelConfig> kconfig,
        int logLevel,
        Function<ProgramSpec, Optional<AttachTypeChoice>> attachType) {
    /** A choice of attach type, which may be none at all. */
    public record AttachTypeChoice(Optional<AttachType> type) {}

    public LoadOptions {
        globals = Map.copyOf(globals);
        structOps = Map.copyOf(structOps);
        reused = Map.copyOf(reused);
        instructions = Map.copyOf(instructions);
        skipped = Set.copyOf(skipped);
        wanted = Set.copyOf(wanted);
        targets = Map.copyOf(targets);
    }
}
