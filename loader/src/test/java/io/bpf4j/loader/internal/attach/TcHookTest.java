package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.Tc;
import io.bpf4j.loader.link.Tcx;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.NetlinkCommand;
import io.bpf4j.sys.internal.call.NetlinkMessage;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Filters where there is no tcx, and what failures leave behind. */
class TcHookTest {
    private static final StructLayout TCMSG =
            StructLayout.of("tcmsg", "u8 family, pad; u16 pad2; u32 ifindex, handle, parent, info");

    /** Of one kind, in an attachment and its end. */
    private static final int MOST = 12;

    private static final int NEW_QDISC = 36;
    private static final int DELETE_QDISC = 37;
    private static final int GET_QDISC = 38;
    private static final int NEW_FILTER = 44;
    private static final int DELETE_FILTER = 45;
    private static final int GET_FILTERS = 46;

    private static final List<Class<? extends Command<?>>> FAILING = List.of(
            NetlinkCommand.Open.class,
            NetlinkCommand.Exchange.class,
            FileCommand.Duplicate.class,
            FileCommand.Open.class,
            FileCommand.DeviceIndex.class,
            ObjectCommand.InfoOfProgram.class,
            LinkCommand.Attach.class,
            LinkCommand.Query.class,
            LinkCommand.DetachProgram.class);

    @TempDir
    Path directory;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Fd program = kernel.newFd("program \"p\"");
    private final List<NetlinkMessage> filters = new ArrayList<>();

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(kernel.open()).containsExactly("program \"p\"");
        program.close();
    }

    /** A kernel with a clsact qdisc for whoever asks, which keeps a filter with the program of descriptor {@code id}. */
    private void answerWithFilters() {
        kernel.answer(NetlinkCommand.Exchange.class, exchange -> switch (exchange.request()
                .type()) {
            case NEW_FILTER -> {
                int number = program.number();
                filters.add(NetlinkMessage.request(
                        NEW_FILTER, 0, TCMSG, new long[] {0, 0, 0, 7, 1, 0xffff_fff2, 0xc000_0300L}, all -> {
                            all.text(1, "bpf");
                            all.nested(2, options -> options.u32(11, number));
                        }));
                yield List.copyOf(filters);
            }
            case DELETE_FILTER -> {
                filters.clear();
                yield List.of();
            }
            case GET_FILTERS -> List.copyOf(filters);
            default -> List.of();
        });
    }

    private Link attach(AttachTarget target) {
        return new Attacher(kernel.host(), ScriptedLoads.everything(), new DebugFiles(directory))
                .attach(program, "p", Optional.empty(), target);
    }

    private List<Integer> requests() {
        return kernel.commands(NetlinkCommand.Exchange.class).stream()
                .map(exchange -> exchange.request().type())
                .filter(type -> type != GET_FILTERS)
                .toList();
    }

    @Test
    void aFilterTakesThePlaceOfTcxIfAskedFor() {
        answerWithFilters();
        kernel.fail(LinkCommand.Create.class, Errno.EINVAL);
        Tcx tcx = Tcx.ingress(NetDevice.named("eth0"));
        assertThatThrownBy(() -> attach(tcx)).isInstanceOf(AttachException.class);
        assertThatThrownBy(() -> attach(tcx.withFilterFallback().withAnchor(Anchor.first())))
                .isInstanceOf(AttachException.class);
        assertThat(requests()).isEmpty();
        Link link = attach(tcx.withFilterFallback());
        assertThat(requests()).containsExactly(NEW_QDISC, NEW_FILTER);
        assertThatThrownBy(link::info).isInstanceOf(UnsupportedOperationException.class);
        link.close();
        assertThat(requests()).containsExactly(NEW_QDISC, NEW_FILTER, DELETE_FILTER, DELETE_QDISC);
        kernel.fail(LinkCommand.Create.class, Errno.ENODEV);
        assertThatThrownBy(() -> attach(tcx.withFilterFallback()))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("ENODEV");
    }

    @Test
    void aQdiscThatWasThereStays() {
        kernel.answer(NetlinkCommand.Exchange.class, exchange -> {
            if (exchange.request().type() == NEW_QDISC) {
                throw new SyscallException(exchange.call(), Errno.EEXIST.number(), null);
            }
            return List.of();
        });
        assertThatThrownBy(() -> attach(Tc.egress(NetDevice.of(7))))
                .as("an answer without the filter")
                .hasMessageContaining("does not report which filter");
        assertThat(requests()).doesNotContain(DELETE_QDISC);
    }

    private static NetlinkMessage filter(int type, int programId) {
        return NetlinkMessage.request(type, 0, TCMSG, new long[] {0, 0, 0, 7, 1, 0xffff_fff2L, 0xc000_0300L}, all -> {
            all.text(1, "bpf");
            all.nested(2, options -> options.u32(11, programId));
        });
    }

    /** The kernel deletes what has the numbers of the filter, and tells what it was. */
    @Test
    void aFilterThatTookThePlaceOfOursAndIsDeletedIsNamed() {
        answerWithFilters();
        Link link = attach(Tc.ingress(NetDevice.of(7)));
        kernel.answer(NetlinkCommand.Exchange.class, exchange -> switch (exchange.request()
                .type()) {
            case GET_FILTERS -> filters.isEmpty() ? List.of() : List.of(filter(NEW_FILTER, program.number()));
            case DELETE_FILTER -> {
                filters.clear();
                yield List.of(filter(DELETE_FILTER, 4711));
            }
            default -> List.of();
        });
        assertThatThrownBy(link::close)
                .hasMessageContaining("program 4711")
                .hasMessageContaining("attach that program again");
    }

    /** Two processes with one device: the qdisc is there, and is gone when the filter comes. */
    @Test
    void aQdiscThatItsMakerRemovesIsMadeAgain() {
        int[] attempts = {0};
        boolean[] isThere = {false};
        kernel.answer(NetlinkCommand.Exchange.class, exchange -> {
            int type = exchange.request().type();
            if (type == NEW_QDISC) {
                isThere[0] = true;
                if (++attempts[0] < 3) {
                    throw new SyscallException(exchange.call(), Errno.EEXIST.number(), null);
                }
            } else if (type == GET_QDISC) {
                if (!isThere[0]) {
                    throw new SyscallException(exchange.call(), Errno.ENOENT.number(), null);
                }
            } else if (type == NEW_FILTER) {
                if (attempts[0] < 3) {
                    isThere[0] = false;
                    throw new SyscallException(exchange.call(), Errno.EINVAL.number(), null);
                }
                filters.add(filter(NEW_FILTER, program.number()));
                return List.copyOf(filters);
            } else if (type == GET_FILTERS) {
                return List.copyOf(filters);
            } else {
                filters.clear();
            }
            return List.of();
        });
        attach(Tc.ingress(NetDevice.of(7))).close();
        assertThat(attempts[0]).isEqualTo(3);
        assertThat(requests()).endsWith(DELETE_FILTER, DELETE_QDISC);
    }

    /** In a kernel of its own, because a failure that did not come about would come later. */
    private static void assertNothingIsLeft(AttachTarget target, Class<? extends Command<?>> failing, int n) {
        TcHookTest own = new TcHookTest();
        own.directory = Path.of("/no/such/folder");
        own.answerWithFilters();
        own.kernel.failNth(n, failing, Errno.EMFILE);
        try (Link _ = own.attach(target)) {
            assertThat(own.kernel.open()).hasSizeGreaterThan(1);
        } catch (RuntimeException e) {
            assertThat(e).hasMessageContaining("EMFILE");
        }
        own.nothingIsLeftOpen();
    }

    @Test
    void whicheverCommandFailsNothingIsLeft() {
        for (AttachTarget target : List.of(
                Tc.ingress(NetDevice.named("eth0")),
                Xdp.on(NetDevice.named("eth0")).withoutLink(),
                Cgroup.of(Path.of("/group"))
                        .withAttachType(AttachType.CGROUP_INET_EGRESS)
                        .withoutLink(Cgroup.Sharing.MULTI))) {
            for (Class<? extends Command<?>> failing : FAILING) {
                for (int n = 1; n <= MOST; n++) {
                    assertNothingIsLeft(target, failing, n);
                }
            }
        }
    }
}
