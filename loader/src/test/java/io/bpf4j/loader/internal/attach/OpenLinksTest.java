package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What failures leave; that links live on is shown on the real kernel. */
class OpenLinksTest {
    private static final int PID = 42;
    private static final int LINKS = 3;

    @TempDir
    Path root;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private Host host;

    @BeforeEach
    void descriptors() throws IOException {
        host = ScriptedHost.of(kernel, root);
        Path fd = Files.createDirectories(host.proc().resolve(PID + "/fd"));
        List<String> names = List.of("anon_inode:bpf_link", "anon_inode:bpf-link", "anon_inode:[perf_event]");
        for (int number = 0; number < LINKS; number++) {
            Files.createSymbolicLink(fd.resolve(String.valueOf(number)), Path.of(names.get(number)));
        }
        Files.createSymbolicLink(fd.resolve("9"), Path.of("/dev/null"));
    }

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void linksAreTakenAndGivenBack() throws IOException {
        try (LinkGroup links = OpenLinks.ofProcess(host, PID)) {
            assertThat(links.size()).isEqualTo(LINKS);
        }
    }

    @Test
    void whicheverMayNotBeTakenNoneIs() {
        for (int n = 1; n <= LINKS; n++) {
            kernel.failNth(n, FileCommand.TakeDescriptor.class, Errno.EPERM);
            assertThatThrownBy(() -> OpenLinks.ofProcess(host, PID)).isInstanceOf(SyscallException.class);
            assertThat(kernel.open()).isEmpty();
        }
    }

    @Test
    void whereClosingFailsTheRestIsGivenBack() throws IOException {
        LinkGroup links = OpenLinks.ofProcess(host, PID);
        kernel.clearCommands();
        kernel.failNth(1, FileCommand.Close.class, Errno.EIO);
        assertThatThrownBy(links::close).isInstanceOf(SyscallException.class);
        assertThat(kernel.open()).as("Linux closes also if close(2) fails").isEmpty();
    }
}
