package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFTOOL;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What bpftool shows of programs and maps that were loaded here: as much as of those that libbpf loads. */
@Requires({BPF, BPFTOOL, KERNEL_BTF})
@ExtendWith(LeakCheck.class)
@Timeout(300)
class ShownByToolsTest {
    private static final String METADATA = "\"metadata\":{\"purpose\":\"linkage and visibility\"}";

    @Test
    void metadataOfProgramsThatDontReadIt() throws IOException, InterruptedException {
        try (BpfObject object = Bpf.load("linkage.bpf.o")) {
            for (String program : List.of("linkage", "fill")) {
                assertThat(shown(object.program(program))).as(program).contains(METADATA);
            }
            Program copy = object.program("linkage").forAttachType(AttachType.TCX_INGRESS);
            assertThat(shown(copy)).as("a copy").contains(METADATA);
        }
    }

    @Test
    void metadataIsForKernelsThatBindMaps() throws IOException, InterruptedException {
        try (BpfObject object = Bpf.load(
                "linkage.bpf.o",
                loader -> loader.features(Features.ofRunningKernel().without(Feature.PROGRAM_BIND_MAP)))) {
            assertThat(shown(object.program("linkage"))).doesNotContain("metadata");
            assertThat(shown(object.program("fill"))).as("reads .rodata").contains(METADATA);
        }
    }

    @Test
    void optionsOfTheKernelByTheirNames() throws IOException, InterruptedException {
        try (BpfObject object = Bpf.load("kconfig.bpf.o", loader -> loader.kconfig("CONFIG_HZ=4711"))) {
            assertThat(object.map(".kconfig").info().valueTypeId()).isPositive();
            assertThat(bpftool("map", "dump", "id", object.map(".kconfig").id()))
                    .contains("\"CONFIG_HZ\":4711")
                    .contains("LINUX_KERNEL_VERSION")
                    .contains("\"CONFIG_BPF4J_NO_SUCH_OPTION\":0");
        }
    }

    private static String shown(Program program) throws IOException, InterruptedException {
        return bpftool("prog", "show", "id", program.info().id());
    }

    private static String bpftool(String what, String verb, String by, int id)
            throws IOException, InterruptedException {
        return Commands.check(List.of("bpftool", "--json", what, verb, by, Integer.toString(id)));
    }
}
