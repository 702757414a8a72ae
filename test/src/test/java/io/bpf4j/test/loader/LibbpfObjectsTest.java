package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFFS;
import static io.bpf4j.test.support.Requirement.BPFTOOL;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static io.bpf4j.test.support.Requirement.LIBBPF;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LibbpfLoader;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.SameInstructions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Our own objects, the corpus among them, loaded by libbpf and by us on the kernel at hand: what one loads the other
 * loads, and it is the same ({@link SameInstructions}). An object that doesn't load on this kernel doesn't by either.
 */
@Requires({BPF, BPFFS, BPFTOOL, KERNEL_BTF, LIBBPF, X86_64})
class LibbpfObjectsTest {
    /** Objects that libbpf 1.5 may refuse where we load them, with the reason. */
    private static final Map<String, String> ONLY_BY_US = Map.of(
            "legacy.bpf.o", "libbpf gave up the maps of section \"maps\" in 1.0",
            "corpus/program_calls.bpf.o", "libbpf takes functions from .text only",
            "corpus/probes.bpf.o", "libbpf knows uprobe sessions since 1.6",
            "sections.bpf.o", "libbpf knows uprobe sessions since 1.6",
            "struct_ops.bpf.o", "libbpf 1.5 fits to the kernel also the struct that it is not to make",
            "struct_ops_module.bpf.o", "the same",
            "jump_table.bpf.o", "libbpf 1.5 knows no jump tables");

    /** Objects that say nothing here, with the reason. */
    private static final Map<String, String> NOT_COMPARED = Map.of(
            "pinned.bpf.o", "it would leave a map pinned in /sys/fs/bpf",
            "verdicts.bpf.o", "its programs are there to be refused, one of them after a million instructions");

    @TempDir
    Path folder;

    private final SameInstructions same = new SameInstructions();
    private final Set<String> onlyByUs = new HashSet<>();

    @Test
    @Timeout(1800) // against a hang: half a minute on an idle machine, and a thousand commands
    void whatLibbpfLoadsWeLoadAndItIsTheSame() throws IOException, InterruptedException {
        List<String> names = Stream.concat(TestObjects.names().stream(), TestObjects.corpus().stream())
                .filter(name -> !NOT_COMPARED.containsKey(name))
                .toList();
        try (BpfFsMount fs = BpfFsMount.mount()) {
            for (String name : names) {
                ObjectSpec spec = Bpf.spec(name);
                Path file = folder.resolve(Path.of(name).getFileName());
                Files.write(file, TestObjects.bytes(name));
                List<String> optional = spec.programs().stream()
                        .filter(program -> !program.autoload())
                        .map(ProgramSpec::name)
                        .toList();
                // All at once if they load so: a kernel that lacks one of them is no reason not to compare the others.
                if (optional.isEmpty() || !loadsBothWays(spec, file, optional, fs)) {
                    compare(spec, file, List.of(), fs);
                    for (String program : optional) {
                        compare(spec, file, List.of(program), fs);
                    }
                }
            }
        }
        assertThat(same.problems()).isEmpty();
        assertThat(ONLY_BY_US.keySet()).containsAll(onlyByUs);
        assertThat(same.compared()).as("programs compared").isGreaterThan(150);
    }

    private boolean loadsBothWays(ObjectSpec spec, Path file, List<String> optional, BpfFsMount fs)
            throws IOException, InterruptedException {
        Path byLibbpf = fs.directory().resolve("libbpf");
        Path byUs = fs.directory().resolve("ours");
        try {
            return LibbpfLoader.loadAll(file, byLibbpf, optional).exitCode() == 0
                    && byUs(spec, byUs, optional).isEmpty()
                    && compared(spec, byUs, byLibbpf);
        } finally {
            remove(byLibbpf, byUs);
        }
    }

    private boolean compared(ObjectSpec spec, Path byUs, Path byLibbpf) throws IOException, InterruptedException {
        same.compare(spec.source(), byUs, byLibbpf);
        return true;
    }

    private void compare(ObjectSpec spec, Path file, List<String> optional, BpfFsMount fs)
            throws IOException, InterruptedException {
        Path byLibbpf = fs.directory().resolve("libbpf");
        Path byUs = fs.directory().resolve("ours");
        try {
            Commands.Result libbpfs = LibbpfLoader.loadAll(file, byLibbpf, optional);
            Optional<String> refused = byUs(spec, byUs, optional);
            boolean loads = libbpfs.exitCode() == 0;
            if (loads && refused.isEmpty()) {
                same.compare(spec.source() + optional, byUs, byLibbpf);
            } else if (loads) {
                same.problem(spec.source() + optional + " loads by libbpf, and not by us: " + refused.orElseThrow());
            } else if (refused.isEmpty()) {
                onlyByUs.add(spec.source());
            }
        } finally {
            remove(byLibbpf, byUs);
        }
    }

    /** Why it doesn't load; empty if it does. */
    private static Optional<String> byUs(ObjectSpec spec, Path pins, List<String> optional) {
        BpfLoader loader = BpfLoader.of(spec);
        if (spec.findGlobal("pidns_inode").isPresent()) {
            loader.global("pidns_inode", 0); // libbpf does not set the pid namespace of a container
        }
        optional.forEach(name -> loader.program(name, p -> p.withAutoload(true)));
        try (BpfObject object = loader.load()) {
            object.pinPrograms(pins);
            return Optional.empty();
        } catch (BpfException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private static void remove(Path... directories) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("rm", "-rf"));
        Stream.of(directories).map(Path::toString).forEach(command::add);
        Commands.check(command);
    }
}
