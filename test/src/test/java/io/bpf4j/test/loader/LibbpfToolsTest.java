package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFTOOL;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static io.bpf4j.test.support.Requirement.LIBBPF_TOOLS;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.BpfTool;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LibbpfTools;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.SameInstructions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What libbpf loads, we load, and it is the same program: the objects of the package libbpf-tools, half a hundred
 * programs that people use, each loaded both ways on the kernel at hand and compared ({@link SameInstructions}).
 */
@Requires({BPF, BPFTOOL, KERNEL_BTF, LIBBPF_TOOLS, X86_64})
class LibbpfToolsTest {
    /** As of libbpf-tools 0.26 in Debian 12; later packages have more. */
    private static final int FEWEST_OBJECTS = 50;

    @TempDir
    Path folder;

    @Test
    void whatLibbpfLoadsWeLoadAndItIsTheSame() throws IOException, InterruptedException {
        Map<String, byte[]> objects = LibbpfTools.objects();
        assertThat(objects).hasSizeGreaterThanOrEqualTo(FEWEST_OBJECTS);
        List<String> ours = new ArrayList<>();
        List<String> libbpfs = new ArrayList<>();
        SameInstructions same = new SameInstructions();
        try (BpfFsMount fs = BpfFsMount.mount("")) {
            for (Map.Entry<String, byte[]> entry : objects.entrySet()) {
                String name = entry.getKey();
                Path file = Files.write(folder.resolve(name + ".bpf.o"), entry.getValue());
                Path byLibbpf = fs.directory().resolve(name + "_libbpf");
                boolean loads = BpfTool.loadAll(file, byLibbpf).exitCode() == 0;
                if (loads) {
                    libbpfs.add(name);
                }
                // Reading never fails: these are sound objects, whatever the kernel makes of them.
                ObjectSpec spec = ObjectSpec.parse(name, entry.getValue());
                Path byUs = fs.directory().resolve(name + "_ours");
                try (BpfObject object = BpfLoader.of(spec).load()) {
                    ours.add(name);
                    if (loads) {
                        object.pinPrograms(byUs);
                        same.compare(name, byUs, byLibbpf);
                    }
                } catch (BpfException e) {
                    assertThat(e.getMessage()).as(name).isNotBlank();
                    if (loads) {
                        same.problem(name + " loads by libbpf, and not by us: " + e.getMessage());
                    }
                }
                Commands.check(List.of("rm", "-rf", byLibbpf.toString(), byUs.toString()));
            }
        }
        assertThat(same.problems()).isEmpty();
        assertThat(ours).as("also what libbpf does not load").containsAll(libbpfs);
        assertThat(libbpfs).as("loaded by libbpf, of " + objects.size()).hasSizeGreaterThanOrEqualTo(20);
    }
}
