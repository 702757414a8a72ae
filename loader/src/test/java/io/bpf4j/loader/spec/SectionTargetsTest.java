package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.Kprobe;
import io.bpf4j.loader.link.KprobeMulti;
import io.bpf4j.loader.link.Ksyscall;
import io.bpf4j.loader.link.RawTracepoint;
import io.bpf4j.loader.link.Tracepoint;
import io.bpf4j.loader.link.Tracing;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The names of sections that say where their program goes, and those that should and don't. */
class SectionTargetsTest {
    private static ProgramSpec program(String section) {
        FunctionSpec function = Specs.function("p", 1, section, 0, false, List.of());
        return ProgramSpec.of(section, function);
    }

    private static AttachTarget target(String section) {
        return program(section).attachTarget();
    }

    @Test
    void uprobesNameAFileAndAFunction() {
        assertThat(target("uprobe//usr/bin/x:main")).isEqualTo(Uprobe.entry(Path.of("/usr/bin/x"), "main"));
        assertThat(target("uprobe.s//usr/bin/x:main+0x10"))
                .isEqualTo(Uprobe.entry(Path.of("/usr/bin/x"), "main").withOffset(16));
        assertThat(target("uprobe/./x:operator+")).isEqualTo(Uprobe.entry(Path.of("./x"), "operator+"));
        assertThat(target("uretprobe//lib/libc.so.6:memcpy@@GLIBC_2.14"))
                .isEqualTo(Uprobe.exit(Path.of("/lib/libc.so.6"), "memcpy@@GLIBC_2.14"));
        assertThat(target("uprobe.multi/./x:poke*")).isEqualTo(UprobeMulti.entry(Path.of("./x"), "poke*"));
        assertThat(target("uretprobe.multi.s/./x:poke*")).isEqualTo(UprobeMulti.exit(Path.of("./x"), "poke*"));
        assertThat(target("uprobe.session/./x:poke")).isEqualTo(UprobeMulti.entry(Path.of("./x"), "poke"));
    }

    @Test
    void theKernelsProbesAndTracepoints() {
        assertThat(target("kprobe/do_exit+0x4"))
                .isEqualTo(Kprobe.entry("do_exit").withOffset(4));
        assertThat(target("kretprobe/do_exit")).isEqualTo(Kprobe.exit("do_exit"));
        assertThat(target("tp/sched/sched_switch")).isEqualTo(Tracepoint.of("sched", "sched_switch"));
        assertThat(target("raw_tp/sys_enter")).isEqualTo(RawTracepoint.of("sys_enter"));
        assertThat(target("fentry/vfs_read")).isEqualTo(Tracing.asLoaded());
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
        assertThat(target("iter/task")).isEqualTo(Iter.all());
        assertThat(target("freplace/inner")).isEqualTo(Tracing.asLoaded());
        assertThat(target("ksyscall/openat")).isEqualTo(Ksyscall.entry("openat"));
        assertThat(target("kretsyscall/openat")).isEqualTo(Ksyscall.exit("openat"));
        for (String kind : List.of("kprobe.multi", "kprobe.session")) {
            assertThat(target(kind + "/tcp_*")).isEqualTo(KprobeMulti.entry("tcp_*"));
        }
        assertThat(target("kretprobe.multi/tcp_*")).isEqualTo(KprobeMulti.exit("tcp_*"));
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
