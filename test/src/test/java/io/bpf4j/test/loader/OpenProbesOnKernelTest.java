package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFTOOL;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.KPROBES;
import static io.bpf4j.test.support.Requirement.KPROBE_MULTI;
import static io.bpf4j.test.support.Requirement.PERF_LINK_INFO;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.TRACEFS;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI_INFO;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Links;
import io.bpf4j.loader.link.Kprobe;
import io.bpf4j.loader.link.KprobeMulti;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.OpenProbe;
import io.bpf4j.loader.link.TargetFile;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The probes among the descriptors of this process, and the sites of links. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H, ASSEMBLER, UPROBE_MULTI})
@ExtendWith(LeakCheck.class)
@Timeout(300)
class OpenProbesOnKernelTest {
    private static final int SELF = Math.toIntExact(ProcessHandle.current().pid());

    private static BpfObject links(TargetProgram target) {
        return Bpf.load("links.bpf.o", l -> Bpf.only(l, target.pid()));
    }

    private static OpenProbe only(BpfObject object, String program) throws IOException {
        int id = object.program(program).id();
        List<OpenProbe> probes = Links.openProbes(SELF).stream()
                .filter(probe -> probe.programId() == id)
                .toList();
        assertThat(probes).hasSize(1);
        assertThat(Links.openProbe(SELF, probes.getFirst().descriptor())).isEqualTo(probes.getFirst());
        return probes.getFirst();
    }

    @Test
    @Requires({PERF_LINK_INFO, BPFTOOL})
    void aUprobe() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_uprobe").attach(Uprobe.entry(target.path(), "poke"))) {
            OpenProbe probe = only(object, "on_uprobe");
            assertThat(probe.detail()).isEqualTo(link.info().detail());
            LinkDetail.Uprobe uprobe = (LinkDetail.Uprobe) probe.detail();
            String shown = Commands.check(List.of("bpftool", "--json", "perf", "show"));
            assertThat(Json.list(shown)).anySatisfy(entry -> {
                Map<?, ?> fields = (Map<?, ?>) entry;
                assertThat(fields.get("pid")).isEqualTo((long) SELF);
                assertThat(fields.get("fd")).isEqualTo((long) probe.descriptor());
                assertThat(fields.get("prog_id")).isEqualTo((long) probe.programId());
                assertThat(fields.get("fd_type")).isEqualTo("uprobe");
                assertThat(fields.get("filename")).isEqualTo(uprobe.file());
                assertThat(fields.get("offset")).isEqualTo(uprobe.offset());
            });
        }
    }

    @Test
    @Requires(TRACEFS)
    void tracepoints() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link _ = object.program("on_tracepoint").attach();
                Link _ = object.program("on_raw_tracepoint").attach()) {
            assertThat(only(object, "on_tracepoint").detail())
                    .isEqualTo(new LinkDetail.Tracepoint("sched_process_fork", 0));
            assertThat(only(object, "on_raw_tracepoint").detail())
                    .isEqualTo(new LinkDetail.RawTracepoint("sys_enter", 0));
        }
    }

    private static BpfObject kernel(String program) {
        return Bpf.load("kernel.bpf.o", l -> l.program(program, p -> p.withAutoload(true)));
    }

    @Test
    @Requires(KPROBES)
    void aKprobe() throws IOException {
        try (BpfObject object = kernel("on_kprobe");
                Link _ = object.program("on_kprobe").attach(Kprobe.entry("bpf_fentry_test1"))) {
            LinkDetail.Kprobe kprobe =
                    (LinkDetail.Kprobe) only(object, "on_kprobe").detail();
            assertThat(kprobe).isEqualTo(new LinkDetail.Kprobe("bpf_fentry_test1", 0, kprobe.address(), 0, false, 0));
            // Some kernels report no address for a kprobe that was attached by name. If the function begins with
            // ENDBR64,
            // an instruction of 4 bytes, the kernel puts the kprobe after it.
            long function = KernelFunctionsOnKernelTest.address("bpf_fentry_test1");
            assertThat(kprobe.address()).isIn(0L, function, function + 4);
        }
    }

    @Test
    @Requires({KPROBE_MULTI, PERF_LINK_INFO})
    void theSitesOfALinkOfManyKprobes() {
        try (BpfObject object = kernel("on_kprobes");
                Link link = object.program("on_kprobes")
                        .attach(KprobeMulti.entry("bpf_fentry_test1", "bpf_fentry_test2"))) {
            assertThat(link.sites()).hasSize(2).allMatch(site -> site.refCounterOffset() == 0 && site.cookie() == 0);
        }
    }

    @Test
    void otherDescriptorsAreRefused() {
        assertThatThrownBy(() -> Links.openProbe(SELF, 1))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("is not a tracepoint, kprobe or uprobe");
        assertThatThrownBy(() -> Links.openProbe(SELF, 987_654))
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBADF))
                .hasMessageContaining("descriptor 987654");
        assertThatThrownBy(() -> Links.openProbe(Integer.MAX_VALUE, 1))
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
        assertThatThrownBy(() -> Links.openProbes(Integer.MAX_VALUE)).isInstanceOf(IOException.class);
    }

    @Test
    @Requires(UPROBE_MULTI_INFO)
    void theSitesOfALinkOfManyUprobes() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target)) {
            List<UsdtSite> sites = UsdtScan.ofFile(target.path()).probes().stream()
                    .map(UsdtProbe::sites)
                    .flatMap(List::stream)
                    .toList();
            long[] offsets = sites.stream().mapToLong(UsdtSite::fileOffset).toArray();
            long[] semaphores = sites.stream()
                    .mapToLong(site -> site.hasSemaphore() ? site.semaphoreOffset() : 0)
                    .toArray();
            long[] cookies = new long[offsets.length];
            for (int i = 0; i < cookies.length; i++) {
                cookies[i] = -1L - i;
            }
            assertThat(sites).as("some sites have a semaphore").anyMatch(UsdtSite::hasSemaphore);
            try (Link link = object.program("on_multi")
                    .attach(UprobeMulti.at(TargetFile.of(target.path()), offsets)
                            .withSemaphores(semaphores)
                            .withCookies(cookies))) {
                List<Link.Site> reported = link.sites();
                assertThat(reported).hasSize(offsets.length);
                for (int i = 0; i < offsets.length; i++) {
                    assertThat(reported.get(i)).isEqualTo(new Link.Site(offsets[i], semaphores[i], cookies[i]));
                }
                try (Link same = Links.byId(link.info().id())) {
                    assertThat(same.sites()).isEqualTo(reported);
                }
            }
            try (Link single = object.program("on_uprobe").attach(Uprobe.entry(target.path(), "poke"))) {
                assertThatThrownBy(single::sites)
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("not a link of many");
            }
        }
    }
}
