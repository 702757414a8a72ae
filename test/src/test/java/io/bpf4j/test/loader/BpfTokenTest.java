package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TokenMain;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Loading with rights that were delegated to a user namespace, as a container without rights of its own does it. */
@Requires({Requirement.BPF, Requirement.BPFFS, Requirement.BPF_TOKEN})
@ExtendWith(LeakCheck.class)
@Timeout(600) // against a hang: a JVM in each of two tests
class BpfTokenTest {
    /** What a JVM in such a namespace prints. */
    private static String inNamespace(String options) throws IOException, InterruptedException {
        Path delegate = CPrograms.compile("token", "-O2");
        List<String> command = new ArrayList<>(List.of(delegate.toString(), options));
        command.addAll(Java.command(
                "-XX:TieredStopAtLevel=1",
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                TokenMain.class.getName()));
        Commands.Result result = Commands.run(command);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result.out();
    }

    @Test
    @Requires({Requirement.GCC, Requirement.USER_NAMESPACES})
    void whatIsDelegatedCanBeLoaded() throws Exception {
        String out = inNamespace("delegate_cmds=any,delegate_maps=any,delegate_progs=any,delegate_attachs=any");
        assertThat(out.lines().toList())
                .satisfiesExactly(
                        without -> assertThat(without).contains("EPERM"),
                        with -> assertThat(with).isEqualTo("with: ran 3 times, 3 programs"));
    }

    @Test
    @Requires({Requirement.GCC, Requirement.USER_NAMESPACES})
    void whatIsNotDelegatedCantBe() throws Exception {
        String out = inNamespace("delegate_cmds=prog_load:map_create:btf_load,delegate_maps=any,delegate_progs=xdp");
        assertThat(out.lines().toList())
                .satisfiesExactly(
                        without -> assertThat(without).contains("EPERM"),
                        with -> assertThat(with)
                                .as("socket filters are not delegated")
                                .startsWith("with: ")
                                .contains("EPERM"));
    }

    @Test
    void outsideOfAUserNamespaceItIsExplained() {
        try (BpfFsMount mount = BpfFsMount.mount("delegate_cmds=any")) {
            assertThatThrownBy(() -> BpfLoader.of(Bpf.spec("test_runs.bpf.o"))
                            .token(mount.directory())
                            .load())
                    .hasMessageContaining("BPF_TOKEN_CREATE")
                    .hasMessageContaining("in the initial user namespace");
        }
        assertThatThrownBy(() -> BpfLoader.of(Bpf.spec("test_runs.bpf.o"))
                        .token(Path.of("/proc"))
                        .load())
                .hasMessageContaining("needs the root directory of a BPF file system");
    }
}
