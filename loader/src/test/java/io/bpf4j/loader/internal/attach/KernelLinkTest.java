package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.loader.Links;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.tracefs.TraceFs;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.IteratorLink;
import io.bpf4j.loader.link.Kprobe;
import io.bpf4j.loader.link.KprobeMulti;
import io.bpf4j.loader.link.Ksyscall;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.Lirc;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.NetNamespace;
import io.bpf4j.loader.link.Netfilter;
import io.bpf4j.loader.link.PerfEvent;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.link.Sockmap;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a link does after it is there, what stands in for one where the kernel has none, and what failures leave behind.
 */
class KernelLinkTest {
    private static final AttachTarget XDP = Xdp.on(NetDevice.of(1));

    @TempDir
    Path directory;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Fd program = kernel.newFd("program \"p\"");
    private final Fd other = kernel.newFd("program \"q\"");

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(kernel.open()).containsExactly("program \"p\"", "program \"q\"");
        program.close();
        other.close();
    }

    private Attacher attacher(Feature... without) {
        return new Attacher(kernel.host(), ScriptedLoads.everything().without(without), new DebugFiles(directory));
    }

    private Link attach(AttachTarget target) {
        return attacher().attach(program, "p", Optional.empty(), target);
    }

    private ProgramHandle q() {
        return ScriptedLoads.program(kernel, other, "q");
    }

    @Test
    void aLinkIsUpdatedAndDetached() {
        try (Link link = attach(XDP)) {
            link.update(q());
            LinkCommand.Update update =
                    kernel.commands(LinkCommand.Update.class).getLast();
            assertThat(update.program()).isSameAs(other);
            assertThat(update.expected()).isNull();
            link.update(q(), ScriptedLoads.program(kernel, program, "p"));
            assertThat(kernel.commands(LinkCommand.Update.class).getLast().expected())
                    .isSameAs(program);
            link.detach();
            assertThat(link.isClosed()).isFalse();
        }
    }

    @Test
    void whatTheKernelRefusesIsExplained() {
        try (Link link = attach(XDP)) {
            kernel.fail(LinkCommand.Update.class, Errno.EEXIST);
            assertThatThrownBy(() -> link.update(q(), q()))
                    .isInstanceOf(AttachException.class)
                    .hasMessageStartingWith("update p to XDP of device 1")
                    .hasMessageContaining("EEXIST");
            kernel.fail(LinkCommand.Detach.class, Errno.EOPNOTSUPP);
            assertThatThrownBy(link::detach).isInstanceOf(AttachException.class).hasMessageContaining("EOPNOTSUPP");
        }
    }

    @Test
    void aPinIsMadeAndOpened() {
        Path pin = directory.resolve("pin");
        int id;
        try (Link link = attach(XDP)) {
            link.pin(pin);
            id = link.info().id();
        }
        try (Link link = Links.pinned(kernel.host(), pin)) {
            assertThat(link.info().id()).isEqualTo(id);
            assertThat(link.unpin(pin)).isTrue();
            assertThat(link.unpin(pin)).isFalse();
        }
    }

    @Test
    void anIteratorIsReadUntilItsEnd() throws IOException {
        String[] parts = {"first ", "second", ""};
        int[] reads = {0};
        kernel.answer(FileCommand.Read.class, read -> {
            if (reads[0] == 1 && parts[1].equals("second")) {
                parts[1] = "second "; // once in between, the kernel had gone a long way without a byte
                return (long) -Errno.EAGAIN.number();
            }
            byte[] bytes = parts[reads[0]++].getBytes(StandardCharsets.UTF_8);
            MemorySegment.copy(bytes, 0, read.into(), ValueLayout.JAVA_BYTE, 0, bytes.length);
            return (long) bytes.length;
        });
        try (Link link = attacher().attach(program, "p", Optional.of(AttachType.TRACE_ITER), Iter.all());
                InputStream in = ((IteratorLink) link).open()) {
            assertThat(in.read()).isEqualTo('f');
            assertThat(in.available()).isEqualTo(5);
            assertThat(in.read(new byte[0])).isZero();
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("irst second ");
            assertThat(in.read()).isEqualTo(-1);
        }
    }

    @Test
    void anIteratorThatFailsSaysSo() throws IOException {
        kernel.fail(FileCommand.Read.class, Errno.EFAULT);
        try (Link link = attach(Iter.all());
                InputStream in = ((IteratorLink) link).open()) {
            assertThatThrownBy(in::read).isInstanceOf(IOException.class).hasMessageContaining("EFAULT");
        }
    }

    /** Before 6.10: attached without a link, and detached by descriptors of its own. */
    @Test
    void aMapOfSocketsWithoutLinks() {
        kernel.fail(LinkCommand.Create.class, Errno.EINVAL);
        Link link;
        try (KernelMap map = KernelMap.create(kernel.host(), MapCommand.Create.of(15, "sockets", 4, 4, 2), "sockets")) {
            link = attacher().attach(program, "p", Optional.of(AttachType.SK_MSG_VERDICT), Sockmap.of(map));
        }
        LinkCommand.Attach attach = kernel.commands(LinkCommand.Attach.class).getLast();
        assertThat(attach.attachType()).isEqualTo(AttachType.SK_MSG_VERDICT.number());
        assertThatThrownBy(link::info).isInstanceOf(UnsupportedOperationException.class);
        assertThat(kernel.commands(LinkCommand.DetachProgram.class)).isEmpty();
        link.close();
        link.close();
        assertThat(kernel.commands(LinkCommand.DetachProgram.class)).hasSize(1);
    }

    /** Another process attaches between the look and the detaching, which the kernel refuses then. */
    @Test
    void aGroupThatChangesIsLookedAtAgain() {
        Link link = attach(Cgroup.of(Path.of("/group"))
                .withAttachType(AttachType.CGROUP_INET_EGRESS)
                .withoutLink(Cgroup.Sharing.EXCLUSIVE));
        int own = kernel.execute(new ObjectCommand.InfoOfProgram(program)).id();
        long[] revision = {5};
        kernel.answer(
                LinkCommand.Query.class,
                _ -> new LinkCommand.Query.Attached(1, 0, revision[0], new int[] {own}, new int[0], new int[0]));
        kernel.answer(LinkCommand.DetachProgram.class, detach -> {
            if (detach.revision() < 7) {
                revision[0]++;
                throw new SyscallException(detach.call(), Errno.ESTALE.number(), null);
            }
            return 0;
        });
        link.close();
        assertThat(kernel.commands(LinkCommand.DetachProgram.class))
                .extracting(LinkCommand.DetachProgram::revision)
                .containsExactly(5L, 6L, 7L);
    }

    /** More than a first look has room for: of security hooks, a group may have many. */
    @Test
    void aGroupOfManyProgramsLosesOurs() {
        Link link = attach(Cgroup.of(Path.of("/group"))
                .withAttachType(AttachType.LSM_CGROUP)
                .withoutLink(Cgroup.Sharing.MULTI));
        int own = kernel.execute(new ObjectCommand.InfoOfProgram(program)).id();
        int[] all = IntStream.rangeClosed(own + 1 - 100, own).toArray();
        kernel.answer(LinkCommand.Query.class, query -> {
            if (!query.withFlags()) {
                throw new SyscallException(query.call(), Errno.EINVAL.number(), null);
            }
            int[] shown = Arrays.copyOf(all, Math.min(query.room(), all.length));
            return new LinkCommand.Query.Attached(all.length, 0, 0, shown, shown, new int[0]);
        });
        link.close();
        assertThat(kernel.commands(LinkCommand.DetachProgram.class)).hasSize(1);
    }

    @Test
    void aDetachWithoutAnAttachTypeLeavesNothing() {
        try (KernelMap map = KernelMap.create(kernel.host(), MapCommand.Create.of(15, "sockets", 4, 4, 2), "sockets")) {
            List<String> before = List.copyOf(kernel.open());
            assertThatThrownBy(() -> Detaching.detach(kernel.host(), Sockmap.of(map), q()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("withAttachType");
            assertThat(kernel.open()).containsExactlyElementsOf(before);
        }
    }

    @Test
    void anInfraredReceiver() {
        try (Link link = attach(Lirc.of(Path.of("/dev/lirc0")))) {
            assertThat(kernel.commands(LinkCommand.Attach.class).getLast().attachType())
                    .isEqualTo(AttachType.LIRC_MODE2.number());
            assertThat(link.description()).contains("/dev/lirc0");
        }
    }

    @Test
    void whicheverCommandFailsNothingIsLeft() {
        kernel.fail(LinkCommand.Create.class, Errno.EINVAL);
        try (KernelMap map = KernelMap.create(kernel.host(), MapCommand.Create.of(15, "sockets", 4, 4, 2), "sockets")) {
            List<String> before = List.copyOf(kernel.open());
            for (int n = 1; n <= 4; n++) {
                kernel.failNth(n, Command.class, Errno.EMFILE);
                assertThatThrownBy(() -> attacher()
                                .attach(program, "p", Optional.of(AttachType.SK_MSG_VERDICT), Sockmap.of(map)))
                        .isInstanceOf(AttachException.class)
                        .hasMessageContaining("sockets");
                assertThat(kernel.open()).containsExactlyElementsOf(before);
            }
        }
    }

    @Test
    void openingALinkThatIsThereLeavesNothingWhicheverCommandFails() {
        Path pin = Path.of("/sys/fs/bpf/link");
        try (Link link = attach(XDP)) {
            link.pin(pin);
            List<String> before = List.copyOf(kernel.open());
            kernel.answer(ObjectCommand.FdById.class, _ -> kernel.newFd("link 7"));
            assertThat(failures(before, () -> Links.pinned(kernel.host(), pin))).isEqualTo(3);
            assertThat(failures(before, () -> Links.byId(kernel.host(), 7))).isEqualTo(2);
        }
    }

    /** How many commands it takes, each of which fails once. */
    private int failures(List<String> before, Supplier<Link> opening) {
        for (int n = 1; ; n++) {
            int[] left = {n};
            kernel.fail(command -> !(command instanceof FileCommand.Close) && --left[0] == 0, Errno.EMFILE);
            try (Link link = opening.get()) {
                assertThat(link.isClosed()).isFalse();
                left[0] = 0;
                return n - 1;
            } catch (SyscallException e) {
                assertThat(kernel.open()).containsExactlyElementsOf(before);
            }
        }
    }

    @Test
    void whereClosingFailsTheRestIsGivenBack() {
        AttachTarget clock = PerfEvent.every(1, 1, 0).onCpu(0);
        List<Link> links =
                List.of(attach(clock), attacher(Feature.PERF_LINK).attach(program, "p", Optional.empty(), clock));
        for (Link link : links) {
            kernel.clearCommands();
            kernel.failNth(1, FileCommand.Close.class, Errno.EIO);
            assertThatThrownBy(link::close).isInstanceOf(SyscallException.class);
        }
    }

    @Test
    void aClockOnEveryCpuIsOneLinkOrNone() {
        AttachTarget clock = PerfEvent.cpuClock(99);
        int events;
        try (Link link = attach(clock)) {
            events = kernel.commands(PerfCommand.Open.class).size();
            assertThat(events).isPositive();
            assertThat(kernel.commands(PerfCommand.Open.class))
                    .extracting(PerfCommand.Open::cpu)
                    .doesNotHaveDuplicates();
            assertThat(link.description()).contains("perf event 1:0");
        }
        kernel.failNth(events, PerfCommand.Enable.class, Errno.ENOSPC);
        assertThatThrownBy(() -> attach(clock)).isInstanceOf(AttachException.class);
    }

    /** As include/uapi/linux/perf_event.h puts cache, operation and result together. */
    @Test
    void usesOfACacheAreOneNumber() {
        attach(PerfEvent.every(5, PerfEvent.Cache.LAST_LEVEL, PerfEvent.CacheUse.READ_MISSES)
                        .onCpu(0))
                .close();
        PerfCommand.Open misses = kernel.commands(PerfCommand.Open.class).getLast();
        assertThat(misses.type()).as("PERF_TYPE_HW_CACHE").isEqualTo(3);
        assertThat(misses.config()).isEqualTo(0x10002);
        assertThat(PerfEvent.perSecond(9, PerfEvent.Cache.NODE, PerfEvent.CacheUse.PREFETCHES)
                        .config())
                .isEqualTo(0x206);
    }

    @Test
    void aKprobeOfASystemCall() {
        String machine = System.getProperty("os.arch").equals("amd64") ? "__x64_sys_" : "sys_";
        attach(Ksyscall.exit("openat").withCookie(4)).close();
        PerfCommand.Open open = kernel.commands(PerfCommand.Open.class).getLast();
        assertThat(open.type()).isEqualTo(8);
        assertThat(open.text()).endsWith(machine + "openat");
        assertThat(open.config()).isEqualTo(1);
        assertThat(kernel.commands(LinkCommand.Create.class).getLast().details())
                .isEqualTo(new LinkCommand.Details.PerfEvent(4));
        attacher(Feature.SYSCALL_WRAPPER)
                .attach(program, "p", Optional.empty(), Ksyscall.entry("openat"))
                .close();
        assertThat(kernel.commands(PerfCommand.Open.class).getLast().text()).isEqualTo("__se_sys_openat");
    }

    @Test
    void aPatternCanStandForOneFunction() throws IOException {
        Path tracefs = Files.createDirectories(directory.resolve("sys/kernel/tracing"));
        Files.createDirectories(tracefs.resolve("events"));
        Files.writeString(
                tracefs.resolve("available_filter_functions"),
                "vfs_read\nvfs_write.isra.0\nvfs_open\nseq_show\nseq_show [nf]\n"
                        + IntStream.range(0, 12)
                                .mapToObj(n -> "many_" + n + "\n")
                                .reduce("", String::concat));
        TraceFs traceFs = TraceFs.of(ScriptedHost.of(kernel, directory));
        AttachRequest request = new AttachRequest(
                kernel.host(),
                ScriptedLoads.everything(),
                program,
                "p to vfs_*",
                Optional.of(AttachType.TRACE_KPROBE_MULTI));
        new KprobeMultiKind(
                        KprobeMulti.entry("vfs_w*", "vfs_read")
                                .withUniqueMatch()
                                .withCookies(7, 8),
                        traceFs)
                .attach(request)
                .close();
        assertThat(kernel.commands(LinkCommand.Create.class).getLast().details())
                .isInstanceOfSatisfying(LinkCommand.Details.KprobeMulti.class, kprobes -> {
                    assertThat(kprobes.symbols()).containsExactly("vfs_write.isra.0", "vfs_read");
                    assertThat(kprobes.cookies()).containsExactly(7, 8);
                });
        assertThatThrownBy(() -> attachUnique("vfs_*", traceFs, request))
                .hasMessageContaining("\"vfs_*\" must stand for one function that can be traced, but matches 3:"
                        + " vfs_read, vfs_write.isra.0, vfs_open");
        assertThatThrownBy(() -> attachUnique("seq_show", traceFs, request))
                .hasMessageContaining("matches 2: seq_show, seq_show");
        assertThatThrownBy(() -> attachUnique("nothing*", traceFs, request)).hasMessageContaining("matches none");
        assertThatThrownBy(() -> attachUnique("many_*", traceFs, request))
                .hasMessageContaining("matches 12: many_0,")
                .hasMessageContaining("many_9, …");
        assertThatThrownBy(() -> new KprobeMultiKind(
                                KprobeMulti.entry("vfs_r*", "*_read")
                                        .withUniqueMatch()
                                        .withCookies(1, 2),
                                traceFs)
                        .attach(request))
                .hasMessageContaining("named twice");
    }

    private static void attachUnique(String pattern, TraceFs traceFs, AttachRequest request) {
        new KprobeMultiKind(KprobeMulti.entry("vfs_read", pattern).withUniqueMatch(), traceFs)
                .attach(request)
                .close();
    }

    @Test
    void functionsThatCanBeTracedAreListedByTracefs() throws IOException {
        Path tracefs = Files.createDirectories(directory.resolve("sys/kernel/tracing"));
        Files.createDirectories(tracefs.resolve("events"));
        Files.writeString(
                tracefs.resolve("available_filter_functions"),
                "vfs_read\nvfs_write\nnf_hook_slow [nf]\n__ftrace_invalid_address___8\nvfs_read\n");
        TraceFs traceFs = TraceFs.of(ScriptedHost.of(kernel, directory));
        assertThat(traceFs.traceableFunctions(f -> true))
                .containsExactly("vfs_read", "vfs_write", "nf_hook_slow", "vfs_read");
        AttachRequest request = new AttachRequest(
                kernel.host(),
                ScriptedLoads.everything(),
                program,
                "p to vfs_*",
                Optional.of(AttachType.TRACE_KPROBE_MULTI));
        new KprobeMultiKind(KprobeMulti.exit("vfs_*", "other"), traceFs)
                .attach(request)
                .close();
        assertThat(kernel.commands(LinkCommand.Create.class).getLast().details())
                .isInstanceOfSatisfying(LinkCommand.Details.KprobeMulti.class, kprobes -> {
                    assertThat(kprobes.symbols()).containsExactly("other", "vfs_read", "vfs_write");
                    assertThat(kprobes.returns()).isTrue();
                });
        assertThatThrownBy(() -> new KprobeMultiKind(KprobeMulti.entry("nothing*"), traceFs).attach(request))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("can be traced");
        assertThatThrownBy(
                        () -> new KprobeMultiKind(KprobeMulti.entry("vfs_*").withCookies(1), traceFs).attach(request))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("cookie");
    }

    @Test
    void aTargetNeedsTheProgramThatWasLoadedForIt() {
        assertThatThrownBy(() -> attach(KprobeMulti.entry("vfs_*")))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("kprobe.multi");
        assertThatThrownBy(() -> attacher()
                        .attach(program, "p", Optional.of(AttachType.TRACE_KPROBE_SESSION), KprobeMulti.exit("f")))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("session");
        assertThatThrownBy(() ->
                        attacher().attach(program, "p", Optional.of(AttachType.TRACE_KPROBE_MULTI), Kprobe.entry("f")))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("SEC(\"kprobe\")");
        assertThatThrownBy(() -> attacher()
                        .attach(
                                program,
                                "p",
                                Optional.of(AttachType.TRACE_UPROBE_SESSION),
                                UprobeMulti.exit(directory.resolve("x"), "f")))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("session");
        assertThatThrownBy(() -> attach(NetNamespace.own()))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("sk_lookup");
        assertThat(kernel.commands(LinkCommand.Create.class)).isEmpty();
    }

    @Test
    void refusalsSayWhatTheKernelMeans() {
        kernel.fail(LinkCommand.Create.class, Errno.EBUSY);
        assertThatThrownBy(() -> attach(XDP)).hasMessageContaining("already");
        assertThatThrownBy(() -> attach(Netfilter.ipv4(Netfilter.Hook.LOCAL_IN, 5)))
                .hasMessageContaining("priority");
        kernel.fail(LinkCommand.Create.class, Errno.EBADF);
        assertThatThrownBy(() -> attacher()
                        .attach(program, "p", Optional.of(AttachType.CGROUP_INET_EGRESS), Cgroup.of(Path.of("/tmp"))))
                .hasMessageContaining("version 2");
    }

    @Test
    void aPinThatCantBeAskedAboutIsGivenBack() {
        Path pin = directory.resolve("pin");
        try (Link link = attach(XDP)) {
            link.pin(pin);
        }
        kernel.fail(ObjectCommand.InfoOfLink.class, Errno.EMFILE);
        assertThatThrownBy(() -> Links.pinned(kernel.host(), pin)).hasMessageContaining("EMFILE");
    }

    @Test
    void theDetailIsPartOfTheInformation() {
        try (Link link = attach(XDP)) {
            assertThat(link.info().programId()).isZero();
            assertThat(link.info().detail()).isInstanceOf(LinkDetail.class);
        }
    }
}
