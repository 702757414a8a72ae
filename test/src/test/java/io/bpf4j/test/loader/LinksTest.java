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
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.RawTracepoint;
import io.bpf4j.loader.link.TargetFile;
import io.bpf4j.loader.link.Tracepoint;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each kind of link fires as often as what it is attached to happens, and no more once it is closed. */
@Requires({BPF, BPF_COOKIE, UPROBE_MULTI, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
@SuppressWarnings("try") // links are closed before the end of their block: nothing may fire after that
class LinksTest {

    private static long offset(TargetProgram program, String name) throws IOException {
        try (ElfFile elf = ElfFile.open(program.path())) {
            Symbol symbol =
                    elf.symbols().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
            return elf.fileOffset(symbol.value()).orElseThrow();
        }
    }

    private static TargetFile file(TargetProgram program) {
        return TargetFile.of(program.path());
    }

    private static BpfObject links(TargetProgram target) {
        return Bpf.load("links.bpf.o", l -> Bpf.only(l, target.pid()));
    }

    @Test
    void uprobe() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target)) {
            try (Link link = object.program("on_uprobe").attach(Uprobe.at(file(target), offset(target, "poke")))) {
                for (int i = 0; i < 5; i++) {
                    target.command("poke " + (100 + i));
                }
                assertThat(Bpf.u64(object, "uprobe_hits")).isEqualTo(5);
                assertThat(Bpf.u64(object, "uprobe_arg")).isEqualTo(104);
                link.close();
                Bpf.awaitNotCounted(object, "uprobe_hits", () -> target.command("poke 1"));
            }
        }
    }

    @Test
    void uprobeHasItsCookie() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_uprobe_cookie")
                        .attach(Uprobe.at(file(target), offset(target, "poke"))
                                .withCookie(0xfeed_0000_beefL)
                                .inProcess(target.pid()))) {
            target.command("poke 1");
            assertThat(Bpf.u64(object, "uprobe_cookie")).isEqualTo(0xfeed_0000_beefL);
            link.close();
            link.close(); // twice is once
        }
    }

    @Test
    void uretprobe() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link =
                        object.program("on_uretprobe").attach(Uprobe.exitAt(file(target), offset(target, "poke")))) {
            target.command("poke 20");
            target.command("poke_other 7");
            assertThat(Bpf.u64(object, "uretprobe_hits")).isEqualTo(1);
            assertThat(Bpf.u64(object, "uretprobe_value")).isEqualTo(41);
            link.close();
            Bpf.awaitNotCounted(object, "uretprobe_hits", () -> target.command("poke 21"));
        }
    }

    /** As on a kernel before 5.15: the perf event gets its program by ioctl. */
    @Test
    void uprobeWithoutPerfLinks() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Bpf.load(
                        "links.bpf.o",
                        l -> Bpf.only(l, target.pid())
                                .features(Features.ofRunningKernel().without(Feature.PERF_LINK)))) {
            Link link = object.program("on_uprobe").attach(Uprobe.at(file(target), offset(target, "poke")));
            target.command("poke 1");
            assertThat(Bpf.u64(object, "uprobe_hits")).isEqualTo(1);
            link.close();
            Bpf.awaitNotCounted(object, "uprobe_hits", () -> target.command("poke 1"));
        }
    }

    /** The copy for single uprobes runs on the same maps as the program for many. */
    @Test
    void aCopyOfAMultiProgramAttachesOneByOne() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target)) {
            AttachTarget single =
                    Uprobe.at(file(target), offset(target, "poke")).withCookie(5);
            assertThatThrownBy(() -> object.program("on_multi").attach(single))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("on_multi");
            try (Link link = object.program("on_multi").withoutAttachType().attach(single)) {
                assertThat(link.isClosed()).isFalse();
                target.command("poke 1");
                assertThat(Bpf.u64(object, "multi_cookies")).isEqualTo(5);
            }
        }
    }

    @Test
    void uprobeMultiTellsItsSitesApart() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_multi")
                        .attach(UprobeMulti.at(file(target), offset(target, "poke"), offset(target, "poke_other"))
                                .withCookies(1, 1000))) {
            for (int i = 0; i < 3; i++) {
                target.command("poke 1");
                target.command("poke_other 1");
            }
            target.command("poke_thread 1");
            assertThat(Bpf.u64(object, "multi_hits")).isEqualTo(7);
            assertThat(Bpf.u64(object, "multi_cookies")).isEqualTo(3 * 1001 + 1);
            link.close();
            Bpf.awaitNotCounted(object, "multi_hits", () -> target.command("poke 1"));
        }
    }

    @Test
    void ofManySitesTheOneThatTheKernelRefusesIsNamed() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target)) {
            long[] sites = new long[20];
            Arrays.fill(sites, offset(target, "poke"));
            sites[13] = Files.size(target.path()) + 4096;
            assertThatThrownBy(() -> object.program("on_multi").attach(UprobeMulti.at(file(target), sites)))
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
                        .attach(UprobeMulti.at(file(target), offset(target, "poke"))
                                .inProcess(target.pid()))) {
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
                        .attach(UprobeMulti.exitAt(file(target), offset(target, "poke")))) {
            assertThat(link).isNotNull();
            target.command("poke 300");
            assertThat(Bpf.u64(object, "multi_return_hits")).isEqualTo(1);
            assertThat(Bpf.u64(object, "multi_return_value")).isEqualTo(601);
        }
    }

    @Test
    @Requires(TRACEFS)
    void tracepointBySection() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_tracepoint").attach()) {
            Bpf.awaitCounted(object, "tracepoint_hits", 4, () -> target.command("fork 4"));
            link.close();
            Bpf.awaitNotCounted(object, "tracepoint_hits", () -> target.command("fork"));
        }
    }

    @Test
    void rawTracepointBySection() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_raw_tracepoint").attach()) {
            target.command("syscall 100");
            // 100 times getppid, and the reads and writes of the command itself.
            assertThat(Bpf.u64(object, "raw_tracepoint_hits")).isBetween(100L, 120L);
            link.close();
            Bpf.awaitNotCounted(object, "raw_tracepoint_hits", () -> target.command("syscall 100"));
        }
    }

    @Test
    void targetsThatDoNotExistAreNamed() throws IOException {
        try (BpfObject object = Bpf.load("links.bpf.o")) {
            assertThatThrownBy(() -> object.program("on_raw_tracepoint").attach(RawTracepoint.of("no_such_tracepoint")))
                    .isInstanceOf(BpfException.class)
                    .hasMessageContaining("no_such_tracepoint");
            TargetFile none = TargetFile.of(Path.of("/no/such/file"));
            assertThatThrownBy(() -> object.program("on_uprobe").attach(Uprobe.at(none, 64)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("/no/such/file");
            assertThatThrownBy(() -> object.program("on_multi").attach(UprobeMulti.at(none, 64)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("/no/such/file");
        }
    }

    @Test
    @Requires(TRACEFS)
    void aTracepointThatDoesNotExistIsNamed() {
        try (BpfObject object = Bpf.load("links.bpf.o")) {
            assertThatThrownBy(() -> object.program("on_tracepoint").attach(Tracepoint.of("sched", "no_such_event")))
                    .isInstanceOf(BpfException.class)
                    .hasMessageContaining("sched")
                    .hasMessageContaining("no_such_event");
        }
    }
}
