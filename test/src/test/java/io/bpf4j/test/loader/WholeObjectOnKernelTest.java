package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.ARENA;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFFS;
import static io.bpf4j.test.support.Requirement.STRUCT_OPS_LINK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.ArenaMap;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** An object with something of everything: all of it is in the kernel, or nothing. */
@Requires({BPF, ARENA, STRUCT_OPS_LINK})
@ExtendWith(LeakCheck.class)
@Timeout(300)
class WholeObjectOnKernelTest {
    private static final TestRun PACKET = TestRun.onData(new byte[64]);

    private static BpfLoader loader() {
        return BpfLoader.of(Bpf.spec("whole.bpf.o"));
    }

    @Test
    void allOfItWorks() {
        try (BpfObject object = loader().map("kept", map -> map.withPinByName(false))
                .structOps("control", control -> control.withText("name", CongestionControl.newName()))
                .global("step", 5)
                .load()) {
            assertThat(object.program("count").test(PACKET).returned())
                    .as("what the tail call returns")
                    .isEqualTo(7);
            assertThat(Bpf.u64(object, "total")).isEqualTo(5);
            assertThat(Bpf.element(object.map("kept"), 1).getLong()).isEqualTo(5);
            assertThat(Bpf.element(object.map("row"), 1).getLong()).isEqualTo(1);
            object.program("in_arena").test(TestRun.once());
            List<Long> values = ArenaMap.of(object.map("memory"))
                    .memory()
                    .elements(ValueLayout.JAVA_LONG)
                    .map(element -> element.get(ValueLayout.JAVA_LONG, 0))
                    .filter(value -> value != 0)
                    .toList();
            assertThat(values).containsExactly(42L + 5);
            try (Link link = object.attachStructOps("control")) {
                assertThat(link.toString()).contains("control");
            }
        }
    }

    @Test
    @Requires(BPFFS)
    void nothingIsLeftIfTheLastProgramIsRefused() throws IOException {
        try (BpfFsMount mount = BpfFsMount.mount()) {
            Path pin = mount.path("kept");
            BpfLoader broken = loader().pinDirectory(mount.directory()).instructions("avoid", code -> {
                assertThat(pin).as("pinned by now").exists();
                return List.of(new Instruction(0x85, 0, 0, 0, 9999), new Instruction(0x95, 0, 0, 0, 0));
            });
            assertThatThrownBy(broken::load)
                    .isInstanceOf(VerifierException.class)
                    .hasMessageContaining("load program \"avoid\"")
                    .hasMessageContaining("no helper with number 9999");
            assertThat(pin).doesNotExist();
            try (BpfObject object = loader().pinDirectory(mount.directory()).load()) {
                assertThat(object.maps()).isNotEmpty();
                assertThat(pin).exists();
            }
            Files.delete(pin);
        }
    }
}
