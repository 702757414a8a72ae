package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.Links;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.OpenProbe;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.LinkCommand.TaskFdQuery.Probe;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The answers of a fake kernel for each type of probe, also for kprobes, and descriptors that vanish. */
class OpenProbesTest {
    private static final int PID = 42;

    @TempDir
    Path root;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private Host host;

    @BeforeEach
    void descriptors() throws IOException {
        host = ScriptedHost.of(kernel, root);
        Path fd = Files.createDirectories(host.proc().resolve(PID + "/fd"));
        Files.createSymbolicLink(fd.resolve("3"), Path.of("anon_inode:[perf_event]"));
        Files.createSymbolicLink(fd.resolve("4"), Path.of("anon_inode:bpf_link"));
        Files.createSymbolicLink(fd.resolve("9"), Path.of("/dev/null"));
    }

    private LinkDetail answered(Probe answer) {
        kernel.answer(LinkCommand.TaskFdQuery.class, _ -> answer);
        OpenProbe probe = Links.openProbe(host, PID, 3);
        assertThat(probe.descriptor()).isEqualTo(3);
        assertThat(probe.programId()).isEqualTo(77);
        return probe.detail();
    }

    @Test
    void eachTypeOfProbeHasItsDetail() {
        assertThat(answered(new Probe(77, 0, "sys_enter", 0, 0)))
                .isEqualTo(new LinkDetail.RawTracepoint("sys_enter", 0));
        assertThat(answered(new Probe(77, 1, "sched_switch", 0, 0)))
                .isEqualTo(new LinkDetail.Tracepoint("sched_switch", 0));
        assertThat(answered(new Probe(77, 2, "vfs_read", 4, 0)))
                .isEqualTo(new LinkDetail.Kprobe("vfs_read", 4, 0, 0, false, 0));
        assertThat(answered(new Probe(77, 3, "", 0, -16))).isEqualTo(new LinkDetail.Kprobe("", 0, -16, 0, true, 0));
        assertThat(answered(new Probe(77, 4, "/bin/x", 0x1f40, 0)))
                .isEqualTo(new LinkDetail.Uprobe("/bin/x", 0x1f40, 0, false, 0));
        assertThat(answered(new Probe(77, 5, "/bin/x", 0x1f40, 0)))
                .isEqualTo(new LinkDetail.Uprobe("/bin/x", 0x1f40, 0, true, 0));
        assertThat(answered(new Probe(77, 99, "", 0, 0))).isInstanceOf(LinkDetail.Unknown.class);
    }

    @Test
    void onlyEventsAndLinksAreAskedFor() throws IOException {
        kernel.answer(LinkCommand.TaskFdQuery.class, query -> new Probe(7, 4, "/bin/x", query.descriptor(), 0));
        assertThat(Links.openProbes(host, PID))
                .extracting(OpenProbe::descriptor)
                .containsExactlyInAnyOrder(3, 4);
    }

    /** It has no descriptors left; those of the process are found by another thread. */
    @Test
    void aFirstThreadThatHasEndedHidesNothing() throws IOException {
        for (String task : List.of("42", "42/task/42", "42/task/43", "42/task/44")) {
            String state = task.endsWith("44") ? "S (sleeping)" : "Z (zombie)";
            ScriptedHost.write(root, "proc/" + task + "/status", "State:\t" + state + "\n");
        }
        Path fd = Files.createDirectories(host.proc().resolve("44/fd"));
        Files.createSymbolicLink(fd.resolve("7"), Path.of("anon_inode:[perf_event]"));
        kernel.answer(LinkCommand.TaskFdQuery.class, query -> new Probe(query.pid(), 4, "/bin/x", 0, 0));
        assertThat(Links.openProbes(host, PID))
                .containsExactly(new OpenProbe(7, 44, new LinkDetail.Uprobe("/bin/x", 0, 0, false, 0)));
        assertThat(Links.openProbe(host, PID, 7).programId()).isEqualTo(44);
    }

    @ParameterizedTest
    @EnumSource(names = {"EBADF", "ENOENT", "ENOTSUPP", "EOPNOTSUPP"})
    void otherAndClosedDescriptorsAreSkipped(Errno errno) throws IOException {
        kernel.answer(LinkCommand.TaskFdQuery.class, query -> new Probe(7, 4, "/bin/x", query.descriptor(), 0));
        kernel.fail(command -> command instanceof LinkCommand.TaskFdQuery query && query.descriptor() == 3, errno);
        assertThat(Links.openProbes(host, PID))
                .extracting(OpenProbe::descriptor)
                .containsExactly(4);
    }

    @Test
    void aMissingRightIsNotAnEmptyList() {
        kernel.fail(LinkCommand.TaskFdQuery.class, Errno.EPERM);
        assertThatThrownBy(() -> Links.openProbes(host, PID))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("BPF_TASK_FD_QUERY")
                .hasMessageContaining("process " + PID);
        assertThatThrownBy(() -> Links.openProbes(host, 4711)).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void otherDescriptorsAreRefused() {
        for (Errno errno : List.of(Errno.ENOTSUPP, Errno.EOPNOTSUPP)) {
            kernel.fail(LinkCommand.TaskFdQuery.class, errno);
            assertThatThrownBy(() -> Links.openProbe(host, PID, 4))
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining("descriptor 4 of process 42");
        }
    }
}
