package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Functions of modules: one that is traced, two that are called. */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
class ModulesOnKernelTest {
    @Test
    @Requires({Requirement.FENTRY, Requirement.EXT4_MODULE})
    void aFunctionOfAModuleIsTraced() throws Exception {
        try (BpfObject object = Bpf.load(
                        "modules.bpf.o",
                        loader -> loader.program("on_open", p -> p.withAutoload(true))
                                .program("on_open_of_module", p -> p.withAutoload(true)));
                Link plain = object.program("on_open").attach();
                Link named = object.program("on_open_of_module").attach()) {
            // A run is left out while the program runs for another process on the same CPU.
            Await.until("files that both programs see opened", () -> {
                assertThat(Files.readString(Path.of("/etc/passwd"))).isNotEmpty();
                return Bpf.u64(object, "opened") > 0 && Bpf.u64(object, "opened_of_module") > 0;
            });
            assertThat(List.of(plain, named)).noneMatch(Link::isClosed);
        }
    }

    @Test
    @Requires(Requirement.NF_CONNTRACK_MODULE)
    void functionsOfAModuleAreCalled() {
        try (BpfObject object =
                Bpf.load("modules.bpf.o", loader -> loader.program("look_up", p -> p.withAutoload(true)))) {
            assertThat(object.program("look_up")
                            .test(TestRun.onData(new byte[64]))
                            .returned())
                    .as("ENOENT")
                    .isEqualTo(2);
        }
    }

    @Test
    void aModuleThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> Bpf.load(
                        "modules.bpf.o", loader -> loader.program("on_open_of_no_module", p -> p.withAutoload(true))))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("this kernel has no \"ext4_file_open\"")
                .hasMessageContaining("SEC(\"fentry/bpf4j_no_such_module:ext4_file_open\")")
                .hasMessageContaining("module");
    }
}
