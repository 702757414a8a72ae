package io.bpf4j.loader.internal.tracefs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ids of tracepoints, with and without a mounted tracefs. */
class TraceFsTest {
    @TempDir
    Path root;

    @Test
    void tracepointsHaveIds() throws IOException {
        write("sys/kernel/debug/tracing/events/sched/sched_switch/id", "372\n");
        TraceFs tracefs = traceFs(new ScriptedKernel());
        assertThat(tracefs.tracepointId("sched", "sched_switch")).isEqualTo(372);
        assertThatThrownBy(() -> tracefs.tracepointId("sched", "sched_swich"))
                .isInstanceOf(AttachException.class)
                .hasMessage("tracepoint sched:sched_swich: this kernel has the category, but no such tracepoint");
        assertThatThrownBy(() -> tracefs.tracepointId("scheduler", "x")).hasMessageContaining("no such category");
        assertThatThrownBy(() -> tracefs.tracepointId("..", "x"))
                .hasMessageContaining("not a valid name of a tracepoint");
        assertThatThrownBy(() -> tracefs.tracepointId("sched", "../../x"))
                .hasMessageContaining("not a valid name of a tracepoint");
    }

    @Test
    void withoutTracefsItIsMountedNowhereOrExplained() {
        ScriptedKernel kernel = new ScriptedKernel();
        TraceFs tracefs = traceFs(kernel);
        assertThatThrownBy(() -> tracefs.tracepointId("sched", "sched_switch")).isInstanceOf(AttachException.class);
        assertThat(kernel.commands(FileCommand.DetachedMount.class)).hasSize(1);
        assertThat(kernel.open()).isEmpty();
        kernel.fail(FileCommand.DetachedMount.class, Errno.ENOSYS);
        assertThatThrownBy(() -> tracefs.tracepointId("sched", "sched_switch"))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("mount -t tracefs");
    }

    private TraceFs traceFs(ScriptedKernel kernel) {
        return new TraceFs(kernel, root.resolve("proc/self"), root.resolve("sys"));
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
