package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.internal.call.ProgramTraits;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SectionKindTest {
    @ParameterizedTest
    @CsvSource({
        "kprobe, kprobe, KPROBE, ''",
        "kprobe/do_exit, kprobe, KPROBE, do_exit",
        "kprobe.multi/tcp_*, kprobe.multi, KPROBE, tcp_*",
        "uprobe.s//bin/x:f, uprobe.s, KPROBE, /bin/x:f",
        "usdt, usdt, KPROBE, ''",
        "usdt.s/libc.so:libc:setjmp, usdt.s, KPROBE, libc.so:libc:setjmp",
        "tp/sched/sched_switch, tp, TRACEPOINT, sched/sched_switch",
        "raw_tp.w/x, raw_tp.w, RAW_TRACEPOINT_WRITABLE, x",
        "fentry.s/vfs_read, fentry.s, TRACING, vfs_read",
        "xdp, xdp, XDP, ''",
        "xdp.frags/devmap, xdp.frags/devmap, XDP, ''",
        "tc/ingress, tc/ingress, SCHED_CLS, ''",
        "tc, tc, SCHED_CLS, ''",
        "cgroup/connect4, cgroup/connect4, CGROUP_SOCK_ADDR, ''",
        "cgroup_skb/egress, cgroup_skb/egress, CGROUP_SKB, ''",
        "sk_skb/stream_parser, sk_skb/stream_parser, SK_SKB, ''",
        "lsm_cgroup/socket_bind, lsm_cgroup, LSM, socket_bind",
        "struct_ops.s/init, struct_ops.s, STRUCT_OPS, init",
        "syscall, syscall, SYSCALL, ''"
    })
    void kindAndTarget(String section, String kind, ProgramType type, String target) {
        SectionKind found = SectionKind.of(section).orElseThrow();

        assertThat(found.name()).isEqualTo(kind);
        assertThat(found.type()).isEqualTo(type);
        assertThat(SectionKinds.targetOf(found, section)).isEqualTo(target);
    }

    /** The row of a program type says which one it is, for a program whose section name is not known. */
    @ParameterizedTest
    @EnumSource
    void theOnlyAttachTypeOfAProgramTypeIsThatOfItsSections(ProgramType type) {
        List<Optional<AttachType>> all = SectionKind.all().stream()
                .filter(kind -> kind.type() == type)
                .map(SectionKind::attachType)
                .distinct()
                .toList();
        assertThat(ProgramTraits.of(type).onlyAttachType())
                .isEqualTo(all.size() == 1 ? all.getFirst() : Optional.empty());
    }

    @Test
    void namesThatNobodyKnows() {
        assertThat(SectionKind.of("kprobes")).isEmpty();
        assertThat(SectionKind.of("xdp_prog")).isEmpty();
        assertThat(SectionKind.of("xdp/eth0")).isEmpty();
        assertThat(SectionKind.of("")).isEmpty();
    }

    @Test
    void traits() {
        assertThat(SectionKind.of("usdt.s").orElseThrow().sleepable()).isTrue();
        assertThat(SectionKind.of("syscall").orElseThrow().sleepable()).isTrue();
        assertThat(SectionKind.of("xdp.frags").orElseThrow().frags()).isTrue();
        assertThat(SectionKind.of("uprobe.multi").orElseThrow().attachType()).contains(AttachType.TRACE_UPROBE_MULTI);
        assertThat(SectionKind.of("uprobe").orElseThrow().attachType()).isEmpty();
    }

    @Test
    void namesAreUnique() {
        assertThat(SectionKinds.all().stream().map(SectionKind::name)).doesNotHaveDuplicates();
    }
}
