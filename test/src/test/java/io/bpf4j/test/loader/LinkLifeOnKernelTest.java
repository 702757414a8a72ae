package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFFS;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static io.bpf4j.test.support.Requirement.PERF_LINK_INFO;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.TRACEFS;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI_INFO;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Links;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.IteratorLink;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.LinkInfo;
import io.bpf4j.loader.link.OpenPerfEvent;
import io.bpf4j.loader.link.PerfEvent;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Links beyond attaching and closing: what the kernel says of them, and lives of their own. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
@Timeout(300)
@SuppressWarnings("try") // links are closed before the end of their block: nothing may fire after that
class LinkLifeOnKernelTest {
    private static BpfObject links(TargetProgram target) {
        return Bpf.load("links.bpf.o", l -> Bpf.only(l, target.pid()));
    }

    private static AttachTarget poke(TargetProgram target) {
        return Uprobe.entry(target.path(), "poke").withCookie(123);
    }

    @Test
    @Requires({UPROBE_MULTI, PERF_LINK_INFO})
    void whatAUprobeIsAttachedTo() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_uprobe").attach(poke(target))) {
            LinkInfo info = link.info();
            assertThat(info.typeNumber()).as("BPF_LINK_TYPE_PERF_EVENT").isEqualTo(7);
            assertThat(info.programId()).isEqualTo(object.program("on_uprobe").id());
            assertThat(info.detail()).isInstanceOfSatisfying(LinkDetail.Uprobe.class, uprobe -> {
                // The file whose symbols were read was held open, and given to the kernel so.
                assertThat(uprobe.file()).startsWith("/proc/self/fd/");
                assertThat(uprobe.offset()).isPositive();
                assertThat(uprobe.returns()).isFalse();
            });
            assertThat(Links.ids()).contains(info.id()).isSorted();
            try (Link same = Links.byId(info.id())) {
                assertThat(same.info()).isEqualTo(info);
            }
            assertThatThrownBy(link::detach).isInstanceOf(AttachException.class).hasMessageContaining("closing");
            assertThatThrownBy(() -> link.update(object.program("on_uprobe_cookie")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("can't update");
        }
    }

    private static String real(Path path) {
        try {
            return path.toRealPath().toString();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Requires(UPROBE_MULTI_INFO)
    void whatManyUprobesAreAttachedTo() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_multi_return")
                        .attach(UprobeMulti.exit(target.path(), "poke*").inProcess(target.pid()))) {
            assertThat(link.info().typeNumber())
                    .as("BPF_LINK_TYPE_UPROBE_MULTI")
                    .isEqualTo(12);
            assertThat(link.info().detail()).isInstanceOfSatisfying(LinkDetail.UprobeMulti.class, uprobes -> {
                assertThat(uprobes.path()).isEqualTo(real(target.path()));
                assertThat(uprobes.count()).isGreaterThanOrEqualTo(2);
                assertThat(uprobes.flags() & 1).as("of returns").isEqualTo(1);
                assertThat(uprobes.pid()).hasValue(target.pid());
            });
            assertThatThrownBy(() -> link.update(object.program("on_multi_return")))
                    .as("so a question can't get another program while it runs")
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("can't update");
        }
    }

    @Test
    @Requires({UPROBE_MULTI, TRACEFS, PERF_LINK_INFO})
    void whatTracepointsAreAttachedTo() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link tracepoint = object.program("on_tracepoint").attach();
                Link raw = object.program("on_raw_tracepoint").attach()) {
            assertThat(tracepoint.info().detail())
                    .isInstanceOfSatisfying(
                            LinkDetail.Tracepoint.class,
                            t -> assertThat(t.name()).isEqualTo("sched_process_fork"));
            assertThat(raw.info().detail())
                    .isInstanceOfSatisfying(
                            LinkDetail.RawTracepoint.class,
                            t -> assertThat(t.name()).isEqualTo("sys_enter"));
        }
    }

    @Test
    @Requires({UPROBE_MULTI, BPFFS})
    void aPinnedLinkOutlivesItsOwner() throws Exception {
        try (BpfFsMount bpffs = BpfFsMount.mount();
                TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target)) {
            Path pin = bpffs.path("poked");
            int id;
            try (Link link = object.program("on_uprobe").attach(poke(target))) {
                link.pin(pin);
                id = link.info().id();
            }
            target.command("poke 1");
            assertThat(Bpf.u64(object, "uprobe_hits")).as("still attached").isEqualTo(1);
            try (Link link = Links.pinned(pin)) {
                assertThat(link.info().id()).isEqualTo(id);
                assertThat(link.description()).contains(pin.toString());
                assertThat(link.unpin(pin)).isTrue();
                assertThat(link.unpin(pin)).isFalse();
                target.command("poke 1");
                assertThat(Bpf.u64(object, "uprobe_hits"))
                        .as("held by this link")
                        .isEqualTo(2);
            }
            // Held by nobody: but some kernels keep a removed pin's hold until no processor can see the file any more.
            Bpf.awaitNotCounted(object, "uprobe_hits", () -> target.command("poke 1"));
            assertThat(pin).doesNotExist();
        }
    }

    @Test
    @Requires({UPROBE_MULTI, BPFFS})
    void pinsThatCantBeSaySo(@TempDir Path elsewhere) throws IOException {
        try (BpfFsMount bpffs = BpfFsMount.mount();
                TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = links(target);
                Link link = object.program("on_uprobe").attach(poke(target))) {
            assertThatThrownBy(() -> link.pin(elsewhere.resolve("pin")))
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining("mount -t bpf");
            assertThatThrownBy(() -> Links.pinned(bpffs.path("nothing")))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
            object.maps().iterator().next().pin(bpffs.path("map"));
            assertThatThrownBy(() -> Links.pinned(bpffs.path("map")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("pin of a map");
            assertThatThrownBy(() -> link.unpin(bpffs.path("map"))).isInstanceOf(IllegalArgumentException.class);
            link.pin(bpffs.path("link"));
            assertThatThrownBy(() -> Maps.pinned(bpffs.path("link")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("pin of a link");
        }
    }

    /** A pinned iterator is a file: whoever opens it runs the program. */
    @Test
    @Requires({BPFFS, KERNEL_BTF})
    void aPinnedIteratorIsAFile() throws IOException {
        try (BpfFsMount bpffs = BpfFsMount.mount();
                BpfObject object = Bpf.load("hooks.bpf.o", l -> l.program("each_task", p -> p.withAutoload(true)))) {
            Path pin = bpffs.path("tasks");
            try (IteratorLink link = object.program("each_task").attach(Iter.all())) {
                link.pin(pin);
            }
            assertThat(Files.readAllBytes(pin)).isNotEmpty();
            try (Link link = Links.pinned(pin);
                    InputStream in = ((IteratorLink) link).open()) {
                assertThat(in.readNBytes(8)).hasSize(8);
                assertThat(link.unpin(pin)).isTrue();
            }
        }
    }

    /** The kernel keeps the program for the link. */
    @Test
    @Requires(UPROBE_MULTI)
    void aLinkOutlivesItsObject() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2")) {
            Link link;
            try (BpfObject object = links(target)) {
                link = object.program("on_uprobe").attach(poke(target));
            }
            assertThat(link.info().programId()).isPositive();
            link.close();
            assertThatThrownBy(link::info).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void anOpenPerfEventStaysItsOwners() throws Exception {
        PerfCommand.Open open = PerfCommand.Open.sampling(
                "clock of this thread", PerfCommand.TYPE_SOFTWARE, 1, 1_000_000, false, 0, -1, null, false);
        try (Fd event = Kernel.of(Host.running()).execute(open);
                BpfObject object = Bpf.load("hooks.bpf.o", l -> l.program("on_clock", p -> p.withAutoload(true)));
                Link link = object.program("on_clock").attach(OpenPerfEvent.of(event.number()))) {
            awaitTicks(object, 3);
            // Kernels before 6.6 don't say which event it is, and newer ones have a type of its own for a clock.
            LinkDetail detail = link.info().detail();
            assertThat(detail instanceof LinkDetail.PerfEvent clock ? clock.config() : 1)
                    .isEqualTo(1);
            link.close();
            long ticks = Bpf.u64(object, "clock_hits");
            try (Link again = Bpf.attachAgain(object.program("on_clock"), OpenPerfEvent.of(event.number()))) {
                awaitTicks(object, ticks + 1);
            }
            Kernel.of(Host.running()).execute(new PerfCommand.Enable(event)); // it is open still
        }
    }

    private static void awaitTicks(BpfObject object, long ticks) throws IOException, InterruptedException {
        Await.until("ticks of this thread's clock", () -> {
            CorpusEvents.ofProcessor();
            return Bpf.u64(object, "clock_hits") >= ticks;
        });
    }

    @Test
    void severalLinksAreNotOne() {
        // Those that the kernel has, of which this process may have fewer.
        int cpus = CpuSet.online(Host.running()).count();
        try (BpfObject object = Bpf.load("hooks.bpf.o", l -> l.program("on_clock", p -> p.withAutoload(true)));
                Link link = object.program("on_clock").attach(PerfEvent.cpuClock(10))) {
            if (cpus > 1) {
                assertThatThrownBy(link::info)
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("perf event");
                assertThatThrownBy(() -> link.pin(Path.of("/sys/fs/bpf/x")))
                        .isInstanceOf(UnsupportedOperationException.class);
            } else {
                assertThat(link.info().id()).isPositive();
            }
        }
    }
}
