package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Kprobe;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.TargetFile;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What each kind of target asks of the kernel, and what a refusal leaves behind. */
class AttacherTest {
    private static final TargetFile FILE = TargetFile.of(Path.of("/bin/x"));
    private static final Optional<AttachType> MULTI = Optional.of(AttachType.TRACE_UPROBE_MULTI);

    @TempDir
    Path devices;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Fd program = kernel.newFd("program \"p\"");

    private Attacher attacher(Feature... without) {
        return new Attacher(kernel.host(), ScriptedLoads.everything().without(without));
    }

    private static UprobeMulti multi(long... sites) {
        return UprobeMulti.at(FILE, sites).inProcess(42);
    }

    @Test
    void manyUprobesAreOneCommandWithColumns() {
        try (Link link = attacher()
                .attach(program, "p", MULTI, multi(16, 32).withSemaphores(0, 64).withCookies(1, 2))) {
            LinkCommand.Create create =
                    kernel.commands(LinkCommand.Create.class).getFirst();
            assertThat(create.attachType()).isEqualTo(48);
            assertThat(create.details()).isInstanceOfSatisfying(LinkCommand.Details.UprobeMulti.class, details -> {
                assertThat(details.path()).isEqualTo("/bin/x");
                assertThat(details.offsets()).containsExactly(16, 32);
                assertThat(details.refCounterOffsets()).containsExactly(0, 64);
                assertThat(details.cookies()).containsExactly(1, 2);
                assertThat(details.pid()).isEqualTo(42);
            });
            assertThat(link.description()).contains("2 uprobes in /bin/x");
        }
        assertThat(kernel.open()).containsExactly("program \"p\"");
    }

    @Test
    void aPathThatLooksLikeADescriptorIsAPath() {
        TargetFile file = TargetFile.of(Path.of("/proc/self/fd/7"));
        attacher().attach(program, "p", MULTI, UprobeMulti.at(file, 16)).close();
        assertThat(kernel.commands(LinkCommand.Create.class).getFirst().details())
                .isInstanceOfSatisfying(LinkCommand.Details.UprobeMulti.class, details -> {
                    assertThat(details.path()).isEqualTo("/proc/self/fd/7");
                    assertThat(details.descriptor()).isEmpty();
                });
    }

    @Test
    void semaphoresThatNoSiteHasAreNotPassed() {
        assertThat(multi(1, 2).withSemaphores(0, 0).semaphores()).isEmpty();
        assertThatThrownBy(() -> multi(1, 2).withSemaphores(8))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2 functions or sites, but 1 semaphores");
    }

    @Test
    void aProgramForOneWayIsRefusedForTheOther() {
        assertThatThrownBy(() -> attacher().attach(program, "p", Optional.empty(), multi(16)))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("uprobe.multi");
        assertThatThrownBy(() -> attacher().attach(program, "p", MULTI, Uprobe.at(FILE, 16)))
                .isInstanceOf(AttachException.class);
        assertThat(kernel.commands()).isEmpty();
    }

    @Test
    void aUprobeWithSemaphoreAndCookie() {
        AttachTarget target = Uprobe.exitAt(FILE, 0x1234).withSemaphore(0x5678).withCookie(7);
        try (Link link = attacher().attach(program, "p", Optional.empty(), target)) {
            PerfCommand.Open open = kernel.commands(PerfCommand.Open.class).getFirst();
            assertThat(open.type()).isEqualTo(9);
            assertThat(open.config()).isEqualTo(0x5678L << 32 | 1);
            assertThat(open.config2()).isEqualTo(0x1234);
            assertThat(open.pid()).isEqualTo(-1);
            assertThat(open.cpu()).isZero();
            assertThat(kernel.commands(LinkCommand.Create.class).getFirst().details())
                    .isEqualTo(new LinkCommand.Details.PerfEvent(7));
            assertThat(link.isClosed()).isFalse();
        }
        assertThat(kernel.open()).containsExactly("program \"p\"");
    }

    @Test
    void aFunctionOfAModuleIsLookedUp(@TempDir Path machine) {
        ScriptedHost.sources(machine.resolve("sys/bus/event_source/devices"));
        ScriptedHost.write(machine, "proc/kallsyms", """
                ffffffff81000000 t helper
                ffffffffc0a04000 t helper\t[one]
                ffffffffc0a05000 d helper\t[another]
                ffffffffc0a06000 T helper\t[another]
                ffffffffc0a07000 t twice\t[another]
                ffffffffc0a08000 t twice\t[another]
                0000000000000000 t hidden\t[another]
                """);
        Attacher attacher = new Attacher(ScriptedHost.of(kernel, machine), ScriptedLoads.everything());
        attacher.attach(
                        program,
                        "p",
                        Optional.empty(),
                        Kprobe.entry("another:helper").withOffset(4))
                .close();
        PerfCommand.Open open = kernel.commands(PerfCommand.Open.class).getFirst();
        assertThat(open.config2()).isEqualTo(0xffffffffc0a06004L);
        assertThat(open.text()).as("a name").isNull();
        attacher.attach(program, "p", Optional.empty(), Kprobe.entry("another:hidden"))
                .close();
        PerfCommand.Open hidden = kernel.commands(PerfCommand.Open.class).getLast();
        assertThat(hidden.config2()).isZero();
        assertThat(hidden.text()).as("the kernel looks itself").isEqualTo("another:hidden");

        Map.of(
                        "gone:helper", "no function of that name in module \"gone\", or the module is not loaded",
                        "another:twice", "2 functions of that name in module \"another\"")
                .forEach((name, reason) -> assertThatThrownBy(
                                () -> attacher.attach(program, "p", Optional.empty(), Kprobe.exit(name)))
                        .isInstanceOf(AttachException.class)
                        .hasMessageContaining(reason));
    }

    @Test
    void withoutPerfLinksTheProgramIsSetByIoctlAndACookieIsRefused() {
        AttachTarget plain = Uprobe.at(FILE, 16).inProcess(5);
        attacher(Feature.PERF_LINK, Feature.BPF_COOKIE)
                .attach(program, "p", Optional.empty(), plain)
                .close();
        assertThat(kernel.commands(PerfCommand.SetProgram.class)).hasSize(1);

        AttachTarget cookie = Uprobe.at(FILE, 16).withCookie(3);
        assertThatThrownBy(() ->
                        attacher(Feature.PERF_LINK, Feature.BPF_COOKIE).attach(program, "p", Optional.empty(), cookie))
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("5.15");
        assertThat(kernel.open()).containsExactly("program \"p\"");
    }

    @Test
    void ofManySitesTheOneThatIsRefusedIsNamed() {
        kernel.fail(
                command -> command instanceof LinkCommand.Create create
                        && create.details() instanceof LinkCommand.Details.UprobeMulti details
                        && Arrays.stream(details.offsets()).anyMatch(offset -> offset == 48 || offset == 50),
                Errno.EINVAL);
        long[] sites = LongStream.range(0, 100).toArray();
        assertThatThrownBy(() -> attacher().attach(program, "p", MULTI, multi(sites)))
                .isInstanceOfSatisfying(
                        AttachException.class, e -> assertThat(e.site()).hasValue(48))
                .hasMessageContaining("attach p to 100 uprobes in /bin/x: site 49 of 100, at file offset 0x30: ")
                .hasMessageContaining("EINVAL");
        assertThat(kernel.open()).containsExactly("program \"p\"");
    }

    @Test
    void aRefusalThatNoSiteExplainsIsReportedAsItIs() {
        kernel.failNth(1, LinkCommand.Create.class, Errno.EINVAL);
        assertThatThrownBy(() -> attacher().attach(program, "p", MULTI, multi(16, 32)))
                .isInstanceOfSatisfying(
                        AttachException.class, e -> assertThat(e.site()).isEmpty());
        assertThat(kernel.open()).containsExactly("program \"p\"");
    }

    @Test
    void aRefusalSaysWhatTheKernelDoesNotHaveAndWhatElseItMayBe() {
        kernel.fail(LinkCommand.Create.class, Errno.EINVAL);
        assertThatThrownBy(() -> attacher(Feature.UPROBE_MULTI_LINK).attach(program, "p", MULTI, multi(16)))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("/bin/x")
                .hasMessageContaining("requires Linux >= 6.6");
        assertThatThrownBy(() -> attacher().attach(program, "p", MULTI, multi(16)))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("offset")
                .message()
                .doesNotContain("requires Linux");
    }

    /** Before Linux 6.10 the pid of a link means one thread, and the events of the others would be missing. */
    @Test
    void aProcessNeedsAKernelThatMeansTheWholeProcess() {
        assertThatThrownBy(() -> attacher(Feature.UPROBE_MULTI_PROCESS)
                        .attach(program, "p", MULTI, multi(16).inProcess(7)))
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("multi-uprobe links whose pid is a process, not a thread");
        assertThat(kernel.commands(LinkCommand.Create.class)).isEmpty();
    }

    @Test
    void whicheverCommandFailsNothingIsLeftAttached() {
        AttachTarget uprobe = Uprobe.at(FILE, 16).withCookie(3);
        for (int n = 1; n <= 3; n++) {
            kernel.failNth(n, Command.class, Errno.EMFILE);
            assertThatThrownBy(() -> attacher().attach(program, "p", Optional.empty(), uprobe))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("attach p to uprobe at /bin/x+0x10");
            assertThat(kernel.open()).containsExactly("program \"p\"");
        }
    }

    @Test
    void aGroupClosesAllAndReportsWhatFails() {
        LinkGroup group = LinkGroup.inParallel("group");
        for (int i = 0; i < 20; i++) {
            group.add(attacher().attach(program, "p", MULTI, multi(16 + i)));
        }
        group.close();
        group.close();

        assertThat(group.links()).allMatch(Link::isClosed);
        assertThat(kernel.open()).containsExactly("program \"p\"");
    }
}
