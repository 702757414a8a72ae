package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.Links;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.AttachedPrograms;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Lirc;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.NetNamespace;
import io.bpf4j.loader.link.Netkit;
import io.bpf4j.loader.link.RawTracepoint;
import io.bpf4j.loader.link.Tcx;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The queries of the kernel, and answers that a real kernel does not give on demand. */
class HookQueryTest {
    private static final Cgroup GROUP = Cgroup.of(Path.of("/group")).withAttachType(AttachType.CGROUP_INET_EGRESS);
    private static final AttachTarget TCX = Tcx.ingress(NetDevice.of(3));

    private final ScriptedKernel kernel = new ScriptedKernel();

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    /** From now on, this many programs are attached, with the ids 1, 2, …, each by a link with ten times its id. */
    private void attached(int count) {
        kernel.answer(LinkCommand.Query.class, query -> {
            int[] first =
                    IntStream.rangeClosed(1, Math.min(count, query.room())).toArray();
            return new LinkCommand.Query.Attached(
                    count,
                    2,
                    7,
                    first,
                    query.withFlags() ? IntStream.of(first).map(_ -> 66).toArray() : new int[0],
                    query.withLinks() ? IntStream.of(first).map(id -> 10 * id).toArray() : new int[0]);
        });
    }

    @Test
    void eachTargetIsAskedForWhatItReports() {
        attached(2);
        assertThat(Links.attachedTo(kernel.host(), TCX))
                .isEqualTo(new AttachedPrograms(
                        List.of(
                                new AttachedPrograms.Entry(1, OptionalInt.of(10), 0),
                                new AttachedPrograms.Entry(2, OptionalInt.of(20), 0)),
                        2,
                        7));
        assertThat(Links.attachedTo(kernel.host(), GROUP).programs())
                .containsExactly(
                        new AttachedPrograms.Entry(1, OptionalInt.empty(), 66),
                        new AttachedPrograms.Entry(2, OptionalInt.empty(), 66));
        assertThat(Links.effectiveIn(kernel.host(), GROUP).programs())
                .containsExactly(
                        new AttachedPrograms.Entry(1, OptionalInt.empty(), 0),
                        new AttachedPrograms.Entry(2, OptionalInt.empty(), 0));
        assertThat(kernel.commands(LinkCommand.Query.class))
                .extracting(LinkCommand.Query::effective)
                .containsExactly(false, false, true);
    }

    @Test
    void receiversAreAsked() {
        attached(1);
        assertThat(Links.attachedTo(kernel.host(), Lirc.of(Path.of("/dev/lirc0")))
                        .programs())
                .containsExactly(new AttachedPrograms.Entry(1, OptionalInt.empty(), 0));
        kernel.fail(LinkCommand.Query.class, Errno.EINVAL);
        assertThatThrownBy(() -> Links.attachedTo(kernel.host(), Lirc.of(Path.of("/dev/null"))))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("/dev/null")
                .hasMessageContaining("not an infrared receiver");
    }

    @Test
    void anOpenDoesNotWait() {
        attached(0);
        NetNamespace namespace = NetNamespace.of(Path.of("/run/netns/x")).withAttachType(AttachType.SK_LOOKUP);
        Links.attachedTo(kernel.host(), namespace);
        Links.attachedTo(kernel.host(), GROUP);
        assertThat(kernel.commands(FileCommand.Open.class))
                .hasSize(2)
                .allMatch(open -> open.flags() == OpenFlags.NONBLOCK);
    }

    @Test
    void aQueryWithTooLittleRoomIsRepeatedWithMore() {
        attached(1000);
        assertThat(Links.effectiveIn(kernel.host(), GROUP).programs()).hasSize(1000);
        assertThat(kernel.commands(LinkCommand.Query.class))
                .extracting(LinkCommand.Query::room)
                .containsExactly(64, 2000);
    }

    @Test
    void aQueryIsRepeatedALimitedNumberOfTimes() {
        kernel.answer(
                LinkCommand.Query.class,
                query -> new LinkCommand.Query.Attached(-1, 0, 0, new int[query.room()], new int[0], new int[0]));
        assertThatThrownBy(() -> Links.attachedTo(kernel.host(), TCX))
                .isInstanceOf(BpfException.class)
                .hasMessageContaining("listing the programs of ingress of device 3 failed");
        assertThat(kernel.commands(LinkCommand.Query.class)).hasSize(8);
    }

    @Test
    void kernelsWithoutFlagsOfProgramsAreAskedWithoutThem() {
        attached(1);
        kernel.fail(command -> command instanceof LinkCommand.Query query && query.withFlags(), Errno.EINVAL);
        assertThat(Links.attachedTo(kernel.host(), GROUP).programs())
                .containsExactly(new AttachedPrograms.Entry(1, OptionalInt.empty(), 0));
    }

    @Test
    void targetsWithoutAQueryAreRefused() {
        assertThatThrownBy(() -> Links.attachedTo(kernel.host(), RawTracepoint.of("sys_enter")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sys_enter")
                .hasMessageContaining("Links.ids");
        assertThatThrownBy(() -> Links.attachedTo(kernel.host(), Cgroup.of(Path.of("/group"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("control group /group")
                .hasMessageContaining("withAttachType");
        assertThat(kernel.commands()).isEmpty();
    }

    @Test
    void whatTheKernelRefusesIsExplained() {
        kernel.fail(LinkCommand.Query.class, Errno.ENODEV);
        assertThatThrownBy(() -> Links.attachedTo(kernel.host(), TCX))
                .isInstanceOf(SyscallException.class)
                .hasMessageStartingWith("bpf(BPF_PROG_QUERY) of ingress of device 3 for TCX_INGRESS failed: ENODEV")
                .hasMessageEndingWith(": the device does not exist");
        kernel.fail(LinkCommand.Query.class, Errno.ENXIO);
        assertThatThrownBy(() -> Links.attachedTo(kernel.host(), Netkit.peer(NetDevice.of(3))))
                .hasMessageContaining("not a netkit device");
        kernel.fail(LinkCommand.Query.class, Errno.EBADF);
        assertThatThrownBy(() -> Links.attachedTo(kernel.host(), GROUP)).hasMessageContaining("version 2");
    }
}
