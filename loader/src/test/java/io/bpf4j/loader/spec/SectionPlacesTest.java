package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.ProcessFilter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The names of sections that say where their program goes, and those that should and don't. */
class SectionPlacesTest {
    private static final ProcessFilter ANY = new ProcessFilter.Any();

    private static ProgramSpec program(String section) {
        FunctionSpec function = new FunctionSpec("p", 1, section, 0, false, List.of(), List.of());
        return ProgramSpec.of(section, function);
    }

    private static AttachTarget target(String section) {
        return program(section).attachTarget();
    }

    @Test
    void uprobesNameAFileAndAFunction() {
        assertThat(target("uprobe//usr/bin/x:main"))
                .isEqualTo(new AttachTarget.UprobeFunction(Path.of("/usr/bin/x"), "main", 0, ANY, false, 0));
        assertThat(target("uprobe.s//usr/bin/x:main+0x10"))
                .isEqualTo(new AttachTarget.UprobeFunction(Path.of("/usr/bin/x"), "main", 16, ANY, false, 0));
        assertThat(target("uprobe/./x:operator+"))
                .isEqualTo(new AttachTarget.UprobeFunction(Path.of("./x"), "operator+", 0, ANY, false, 0));
        assertThat(target("uretprobe//lib/libc.so.6:memcpy@@GLIBC_2.14"))
                .isEqualTo(new AttachTarget.UprobeFunction(
                        Path.of("/lib/libc.so.6"), "memcpy@@GLIBC_2.14", 0, ANY, true, 0));
        assertThat(target("uprobe.multi/./x:poke*"))
                .isEqualTo(new AttachTarget.UprobeMultiFunctions(Path.of("./x"), "poke*", ANY, false));
        assertThat(target("uretprobe.multi.s/./x:poke*"))
                .isEqualTo(new AttachTarget.UprobeMultiFunctions(Path.of("./x"), "poke*", ANY, true));
        assertThat(target("uprobe.session/./x:poke"))
                .isEqualTo(new AttachTarget.UprobeMultiFunctions(Path.of("./x"), "poke", ANY, false));
    }

    @Test
    void theKernelsProbesAndTracepoints() {
        assertThat(target("kprobe/do_exit+0x4")).isEqualTo(new AttachTarget.Kprobe("do_exit", 4, false));
        assertThat(target("kretprobe/do_exit")).isEqualTo(new AttachTarget.Kprobe("do_exit", 0, true));
        assertThat(target("tp/sched/sched_switch")).isEqualTo(new AttachTarget.Tracepoint("sched", "sched_switch"));
        assertThat(target("raw_tp/sys_enter")).isEqualTo(new AttachTarget.RawTracepoint("sys_enter"));
        assertThat(target("fentry/vfs_read")).isEqualTo(new AttachTarget.Tracing());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "uprobe",
                "uprobe//usr/bin/x",
                "uprobe//usr/bin/x:",
                "uprobe.multi/x",
                "kprobe",
                "kprobe/f+x",
                "tp/sched",
                "tp//x",
                "raw_tp",
                "ksyscall",
                "kprobe.multi",
                "uretprobe//bin/x:f+4"
            })
    void aNameThatSaysTooLittleIsRefusedWithItsForm(String section) {
        assertThatThrownBy(() -> target(section))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("SEC(\"" + section + "\")");
        assertThat(program(section).isAttachedBySection()).isEqualTo(section.indexOf('/') >= 0);
    }

    @Test
    void iteratorsManyKprobesAndSystemCalls() {
        assertThat(target("iter/task")).isEqualTo(new AttachTarget.Iter());
        assertThat(target("freplace/inner")).isEqualTo(new AttachTarget.Tracing());
        assertThat(target("ksyscall/openat")).isEqualTo(new AttachTarget.Ksyscall("openat", false, 0));
        assertThat(target("kretsyscall/openat")).isEqualTo(new AttachTarget.Ksyscall("openat", true, 0));
        for (String kind : List.of("kprobe.multi", "kprobe.session")) {
            assertThat(target(kind + "/tcp_*")).isEqualTo(AttachTarget.KprobeMulti.entry("tcp_*"));
        }
        assertThat(target("kretprobe.multi/tcp_*"))
                .isEqualTo(new AttachTarget.KprobeMulti(List.of("tcp_*"), List.of(), true));
    }

    @Test
    void someKindsAreNeverAttachedByName() {
        for (String section : List.of("xdp", "tc", "cgroup/connect4", "socket", "syscall", "sk_msg")) {
            assertThat(program(section).isAttachedBySection()).isFalse();
            assertThatThrownBy(() -> target(section))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("program.attach(target)");
        }
    }
}
