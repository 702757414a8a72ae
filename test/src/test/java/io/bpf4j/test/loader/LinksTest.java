package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.TRACEFS;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Symbol;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.ProbeSite;
import io.bpf4j.loader.link.ProcessFilter;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each kind of link fires as often as what it is attached to happens, and no more once it is closed. */
@Requires({BPF, BPF_COOKIE, UPROBE_MULTI, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
@SuppressWarnings("try") // links are closed before the end of their block: nothing may fire after that
class LinksTest {

    private static ProbeSite function(Path program, String name, long cookie) throws IOException {
        try (ElfFile elf = ElfFile.open(program)) {
            Symbol symbol =
                    elf.symbols().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
            return new ProbeSite(elf.fileOffset(symbol.value()).orElseThrow(), 0, cookie);
        }
    }

    private static BpfObject links(TargetProgram target) {
        return Bpf.load("links.bpf.o", l -> Bpf.only(l, target.pid()));
    }

    @Test
    void uprobe() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target)) {
            ProbeSite poke = function(target.path(), "poke", 0);
            try (Link link = object.program("on_uprobe")
                    .attach(new AttachTarget.Uprobe(target.path(), poke, new ProcessFilter.Any(), false))) {
                for (int i = 0; i < 5; i++) {
                    target.command("poke " + (100 + i));
                }
                assertThat(Bpf.u64(object, "uprobe_hits")).isEqualTo(5);
                assertThat(Bpf.u64(object, "uprobe_arg")).isEqualTo(104);
                link.close();
                target.command("poke 1");
                assertThat(Bpf.u64(object, "uprobe_hits")).isEqualTo(5);
            }
        }
    }

    @Test
    void uprobeHasItsCookie() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_uprobe_cookie")
                        .attach(new AttachTarget.Uprobe(
                                target.path(),
                                function(target.path(), "poke", 0xfeed_0000_beefL),
                                new ProcessFilter.Pid(target.pid()),
                                false))) {
            target.command("poke 1");
            assertThat(Bpf.u64(object, "uprobe_cookie")).isEqualTo(0xfeed_0000_beefL);
            link.close();
            link.close(); // twice is once
        }
    }

    @Test
    void uretprobe() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_uretprobe")
                        .attach(new AttachTarget.Uprobe(
                                target.path(), function(target.path(), "poke", 0), new ProcessFilter.Any(), true))) {
            target.command("poke 20");
            target.command("poke_other 7");
            assertThat(Bpf.u64(object, "uretprobe_hits")).isEqualTo(1);
            assertThat(Bpf.u64(object, "uretprobe_value")).isEqualTo(41);
            link.close();
            target.command("poke 21");
            assertThat(Bpf.u64(object, "uretprobe_hits")).isEqualTo(1);
        }
    }

    /** As on a kernel before 5.15: the perf event gets its program by ioctl. */
    @Test
    void uprobeWithoutPerfLinks() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Bpf.load(
                        "links.bpf.o",
                        l -> Bpf.only(l, target.pid())
                                .features(Features.ofRunningKernel().without(Feature.PERF_LINK)))) {
            Link link = object.program("on_uprobe")
                    .attach(new AttachTarget.Uprobe(
                            target.path(), function(target.path(), "poke", 0), new ProcessFilter.Any(), false));
            target.command("poke 1");
            assertThat(Bpf.u64(object, "uprobe_hits")).isEqualTo(1);
            link.close();
            target.command("poke 1");
            assertThat(Bpf.u64(object, "uprobe_hits")).isEqualTo(1);
        }
    }

    /** The copy for single uprobes runs on the same maps as the program for many. */
    @Test
    void aCopyOfAMultiProgramAttachesOneByOne() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target)) {
            AttachTarget single = new AttachTarget.Uprobe(
                    target.path(), function(target.path(), "poke", 5), new ProcessFilter.Any(), false);
            assertThatThrownBy(() -> object.program("on_multi").attach(single))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("on_multi");
            try (Link link =
                    object.program("on_multi").forAttachType(Optional.empty()).attach(single)) {
                assertThat(link.isClosed()).isFalse();
                target.command("poke 1");
                assertThat(Bpf.u64(object, "multi_cookies")).isEqualTo(5);
            }
        }
    }

    @Test
    void uprobeMultiTellsItsSitesApart() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_multi")
                        .attach(new AttachTarget.UprobeMulti(
                                target.path(),
                                List.of(
                                        function(target.path(), "poke", 1),
                                        function(target.path(), "poke_other", 1000)),
                                new ProcessFilter.Any(),
                                false))) {
            for (int i = 0; i < 3; i++) {
                target.command("poke 1");
                target.command("poke_other 1");
            }
            target.command("poke_thread 1");
            assertThat(Bpf.u64(object, "multi_hits")).isEqualTo(7);
            assertThat(Bpf.u64(object, "multi_cookies")).isEqualTo(3 * 1001 + 1);
            link.close();
            target.command("poke 1");
            assertThat(Bpf.u64(object, "multi_hits")).isEqualTo(7);
        }
    }

    @Test
    void ofManySitesTheOneThatTheKernelRefusesIsNamed() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target)) {
            List<ProbeSite> sites = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                sites.add(function(target.path(), "poke", i));
            }
            sites.set(13, ProbeSite.at(Files.size(target.path()) + 4096));
            assertThatThrownBy(() -> object.program("on_multi")
                            .attach(new AttachTarget.UprobeMulti(target.path(), sites, new ProcessFilter.Any(), false)))
                    .isInstanceOfSatisfying(
                            AttachException.class, e -> assertThat(e.site()).hasValue(13))
                    .hasMessageContaining("site 14 of 20")
                    .hasMessageContaining("EINVAL");
            target.command("poke 1");
            assertThat(Bpf.u64(object, "multi_hits")).isZero();
        }
    }

    /** The process filter means all threads of the process, and no other process. */
    @Test
    void uprobeMultiOfOneProcess() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                TargetProgram other = TargetProgram.start("-O2");
                BpfObject object = Bpf.load("links.bpf.o");
                Link link = object.program("on_multi")
                        .attach(new AttachTarget.UprobeMulti(
                                target.path(),
                                List.of(function(target.path(), "poke", 1)),
                                new ProcessFilter.Pid(target.pid()),
                                false))) {
            assertThat(link).isNotNull();
            other.command("poke 1");
            target.command("poke 1");
            target.command("poke_thread 1");
            assertThat(Bpf.u64(object, "multi_hits")).isEqualTo(2);
        }
    }

    @Test
    void uretprobeMulti() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_multi_return")
                        .attach(new AttachTarget.UprobeMulti(
                                target.path(),
                                List.of(function(target.path(), "poke", 0)),
                                new ProcessFilter.Any(),
                                true))) {
            assertThat(link).isNotNull();
            target.command("poke 300");
            assertThat(Bpf.u64(object, "multi_return_hits")).isEqualTo(1);
            assertThat(Bpf.u64(object, "multi_return_value")).isEqualTo(601);
        }
    }

    @Test
    @Requires(TRACEFS)
    void tracepointBySection() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_tracepoint").attach()) {
            target.command("fork 4");
            assertThat(Bpf.u64(object, "tracepoint_hits")).isEqualTo(4);
            link.close();
            target.command("fork");
            assertThat(Bpf.u64(object, "tracepoint_hits")).isEqualTo(4);
        }
    }

    @Test
    void rawTracepointBySection() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_raw_tracepoint").attach()) {
            target.command("syscall 100");
            // 100 times getppid, and the reads and writes of the command itself.
            assertThat(Bpf.u64(object, "raw_tracepoint_hits")).isBetween(100L, 120L);
            link.close();
            long hits = Bpf.u64(object, "raw_tracepoint_hits");
            target.command("syscall 100");
            assertThat(Bpf.u64(object, "raw_tracepoint_hits")).isEqualTo(hits);
        }
    }

    @Test
    void targetsThatDoNotExistAreNamed() throws IOException {
        try (BpfObject object = Bpf.load("links.bpf.o")) {
            assertThatThrownBy(() -> object.program("on_raw_tracepoint")
                            .attach(new AttachTarget.RawTracepoint("no_such_tracepoint")))
                    .isInstanceOf(BpfException.class)
                    .hasMessageContaining("no_such_tracepoint");
            assertThatThrownBy(() -> object.program("on_uprobe")
                            .attach(new AttachTarget.Uprobe(
                                    Path.of("/no/such/file"), new ProbeSite(64, 0, 0), new ProcessFilter.Any(), false)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("/no/such/file");
            assertThatThrownBy(() -> object.program("on_multi")
                            .attach(new AttachTarget.UprobeMulti(
                                    Path.of("/no/such/file"),
                                    List.of(new ProbeSite(64, 0, 0)),
                                    new ProcessFilter.Any(),
                                    false)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("/no/such/file");
        }
    }

    @Test
    @Requires(TRACEFS)
    void aTracepointThatDoesNotExistIsNamed() {
        try (BpfObject object = Bpf.load("links.bpf.o")) {
            assertThatThrownBy(() -> object.program("on_tracepoint")
                            .attach(new AttachTarget.Tracepoint("sched", "no_such_event")))
                    .isInstanceOf(BpfException.class)
                    .hasMessageContaining("sched")
                    .hasMessageContaining("no_such_event");
        }
    }
}
