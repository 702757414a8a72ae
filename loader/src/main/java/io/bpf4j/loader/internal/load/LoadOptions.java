package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.linux.KernelConfig;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * What the embedder decided about a load. <i>Immutable.</i>
 *
 * @param globals values of variables by name, encoded for the object
 * @param structOps edited structs of functions, by name
 * @param reused maps to use in place of new ones, by name; they stay their owner's
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
        Map<String, byte[]> globals,
        Map<String, StructOpsSpec> structOps,
        Map<String, BpfMap> reused,
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
        skipped = Set.copyOf(skipped);
        wanted = Set.copyOf(wanted);
        targets = Map.copyOf(targets);
    }
}
