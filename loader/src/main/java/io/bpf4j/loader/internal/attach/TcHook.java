package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Tc;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.NetlinkMessage;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.ProgramInfo;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The filters of one direction of a device. Traffic control has a tree of queues for each device; the qdisc
 * <i>clsact</i> is beside that tree and queues nothing: it has two lists of filters, one for received and one for sent
 * packets. A filter has a priority, a protocol and a handle, which together name it; here its kind is always {@code
 * bpf}, its protocol is ETH_P_ALL unless somebody else has made it, and its program decides itself what becomes of the
 * packet ("direct action").
 *
 * <p>The kernel changes and deletes any filter that has the three numbers, and removes a qdisc with all its filters. So
 * this class queries the filter first, and another process may change it in between. The kernel reports which filter it
 * has deleted.
 *
 * <p>Numbers: include/uapi/linux/rtnetlink.h, pkt_sched.h, pkt_cls.h. Behaviour: net/sched/cls_api.c, sch_api.c and
 * cls_bpf.c (6.18).
 *
 * <p>Tested by {@code NetlinkOnKernelTest} and {@code TcHookTest}.
 */
final class TcHook implements Attachment.Hook {
    private static final StructLayout MESSAGE = StructLayout.of(
            "tcmsg", "u8 tcm_family, tcm__pad1; u16 tcm__pad2; u32 tcm_ifindex, tcm_handle, tcm_parent, tcm_info");

    private static final int RTM_NEWQDISC = 36;
    private static final int RTM_DELQDISC = 37;
    private static final int RTM_GETQDISC = 38;
    private static final int RTM_NEWTFILTER = 44;
    private static final int RTM_DELTFILTER = 45;
    private static final int RTM_GETTFILTER = 46;
    private static final int RTM_GETLINK = 18;

    /** TCA_*. */
    private static final int KIND = 1;

    private static final int OPTIONS = 2;
    private static final int CHAIN = 11;

    /** TCA_BPF_*. */
    private static final int BPF_FD = 6;

    private static final int BPF_NAME = 7;
    private static final int BPF_FLAGS = 8;
    private static final int BPF_ID = 11;

    /** TCA_BPF_FLAG_ACT_DIRECT. */
    private static final int DIRECT_ACTION = 1;

    /** TC_H_CLSACT as the parent of the qdisc, and the qdisc's own handle. */
    private static final int CLSACT = 0xffff_fff1;

    private static final int CLSACT_HANDLE = 0xffff_0000;

    /** TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), TC_H_MIN_EGRESS: the parents of filters. */
    private static final int INGRESS = 0xffff_fff2;

    private static final int EGRESS = 0xffff_fff3;

    /** ETH_P_ALL in network byte order, as the kernel has it in the lower half of tcm_info. */
    private static final int ALL_PROTOCOLS = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? 0x0003 : 0x0300;

    private static final String KIND_OF_QDISC = "clsact";
    private static final String KIND_OF_FILTER = "bpf";

    /** The number of attempts to make the qdisc, if another process removes it meanwhile. */
    private static final int ATTEMPTS = 4;

    /**
     * A filter.
     *
     * @param info its priority in the upper half, its protocol in network byte order in the lower one
     * @param programId 0 if it is of another kind, or in another chain than the first
     */
    record Filter(int info, int handle, int programId) {
        int priority() {
            return info >>> 16;
        }
    }

    private final RouteSocket socket;
    private final Tc target;
    private final int index;
    private boolean madeQdisc;
    private @Nullable Filter attached;

    private TcHook(RouteSocket socket, Tc target, int index) {
        this.socket = socket;
        this.target = target;
        this.index = index;
    }

    static TcHook open(Kernel kernel, Tc target) {
        RouteSocket socket = RouteSocket.open(kernel);
        try {
            return new TcHook(socket, target, AttachRequest.index(kernel, target.device()));
        } catch (RuntimeException | Error e) {
            UndoStack.of(socket::close).closeAfter(e);
            throw e;
        }
    }

    @Override
    public void attach(Fd program) {
        if (target.replaced().isPresent()) {
            Filter old = only(AttachRequest.fd(target.replaced().get()));
            attached = put(0, old.info(), old.handle(), program);
            return;
        }
        int create = NetlinkMessage.CREATE | NetlinkMessage.EXCLUSIVE;
        for (int attempt = 1; attached == null; attempt++) {
            try {
                madeQdisc = makeQdisc();
                attached = put(create, target.priority() << 16 | ALL_PROTOCOLS, target.handle(), program);
            } catch (RuntimeException e) {
                if (attempt == ATTEMPTS || !isWithoutQdisc(e)) {
                    throw withoutQdisc(e);
                }
            }
        }
    }

    /** Whether the qdisc, which another process has made, was removed before the filter came. */
    private boolean isWithoutQdisc(RuntimeException failure) {
        if (madeQdisc || !(failure instanceof SyscallException refused) || !isGone(refused.errno())) {
            return false;
        }
        try {
            ask("RTM_GETQDISC", RTM_GETQDISC, 0, CLSACT_HANDLE, CLSACT, 0);
            return false;
        } catch (SyscallException e) {
            return isGone(e.errno());
        }
    }

    /** Removes the qdisc again. */
    private RuntimeException withoutQdisc(RuntimeException failure) {
        try {
            removeQdisc();
        } catch (RuntimeException second) {
            failure.addSuppressed(second);
        }
        return failure;
    }

    /** The one filter that has the program. */
    private Filter only(Fd program) {
        int id = info(program).id();
        List<Filter> found = with(id);
        if (found.size() != 1) {
            throw new BpfException((found.isEmpty() ? "no filter" : found.size() + " filters") + " of "
                    + target.device() + " with the given priority and handle "
                    + (found.size() == 1 ? "has" : "have") + " program " + id + ", which is to be replaced");
        }
        return found.getFirst();
    }

    /** The filters with a program, and the priority and the handle of the target if it has them. */
    private List<Filter> with(int programId) {
        return filters(parent()).stream()
                .filter(filter -> filter.programId() == programId && isMeant(filter))
                .toList();
    }

    private boolean isMeant(Filter filter) {
        return filter.programId() != 0
                && (target.priority() == 0 || target.priority() == filter.priority())
                && (target.handle() == 0 || target.handle() == filter.handle());
    }

    @Override
    public void replace(Fd current, Fd next) {
        Filter filter = present(current);
        if (filter == null) {
            throw new BpfException("the filter of " + target.device() + " is gone, or has another program");
        }
        attached = put(0, filter.info(), filter.handle(), next);
    }

    @Override
    public void detach(Fd program) {
        Filter filter = present(program);
        if (filter != null) {
            delete(filter);
        }
        removeQdisc();
    }

    /** The filter of this hook, if it still has the program; else null. */
    private @Nullable Filter present(Fd program) {
        int id = info(program).id();
        Filter own = attached;
        return filters(parent()).stream()
                .filter(filter -> own != null
                        && filter.info() == own.info()
                        && filter.handle() == own.handle()
                        && filter.programId() == id)
                .findFirst()
                .orElse(null);
    }

    /** Deletes the filters with a program; how many were there. */
    int deleteAll(Fd program) {
        int deleted = 0;
        for (Filter filter : with(info(program).id())) {
            deleted += delete(filter) ? 1 : 0;
        }
        return deleted;
    }

    /** The ids of the programs, in the order in which they run. */
    List<Integer> programs() {
        socket.exchange(
                "RTM_GETLINK of " + target.device(), // a list of filters of no device would be empty
                NetlinkMessage.request(RTM_GETLINK, 0, RouteSocket.DEVICE, new long[] {0, 0, 0, index}, _ -> {}));
        return filters(parent()).stream()
                .filter(this::isMeant)
                .map(Filter::programId)
                .toList();
    }

    private int parent() {
        return target.isIngress() ? INGRESS : EGRESS;
    }

    private ProgramInfo info(Fd program) {
        return socket.kernel().execute(new ObjectCommand.InfoOfProgram(program));
    }

    /** Makes the qdisc; false if the device has it. */
    private boolean makeQdisc() {
        try {
            ask(
                    "RTM_NEWQDISC",
                    RTM_NEWQDISC,
                    NetlinkMessage.CREATE | NetlinkMessage.EXCLUSIVE,
                    CLSACT_HANDLE,
                    CLSACT,
                    0);
            return true;
        } catch (SyscallException e) {
            if (e.errno() != Errno.EEXIST) {
                throw e;
            }
        }
        try {
            // A qdisc of kind ingress has the same handle, and would take filters for sent packets as such for
            // received.
            ask("RTM_GETQDISC", RTM_GETQDISC, 0, CLSACT_HANDLE, CLSACT, 0);
            return false;
        } catch (SyscallException e) {
            throw e.errno() == Errno.EINVAL
                    ? FailureHints.withHint(
                            e, "the device has the qdisc ingress, which excludes clsact; tc qdisc show lists it")
                    : e;
        }
    }

    /** Removes the qdisc if it was made here and has no filters. */
    private void removeQdisc() {
        if (!madeQdisc || !answers(INGRESS).isEmpty() || !answers(EGRESS).isEmpty()) {
            return;
        }
        madeQdisc = false;
        try {
            ask("RTM_DELQDISC", RTM_DELQDISC, 0, CLSACT_HANDLE, CLSACT, 0);
        } catch (SyscallException e) {
            if (!isGone(e.errno())) {
                throw e;
            }
        }
    }

    private List<NetlinkMessage> ask(String name, int type, int flags, int handle, int parent, int info) {
        NetlinkMessage request = NetlinkMessage.request(
                type,
                flags,
                MESSAGE,
                new long[] {0, 0, 0, index, handle, parent, info},
                all -> all.text(KIND, parent == CLSACT ? KIND_OF_QDISC : KIND_OF_FILTER));
        return socket.exchange(
                name + " of " + (parent == CLSACT ? KIND_OF_QDISC : "a filter") + " of " + target.device(), request);
    }

    /**
     * Makes a filter, or gives one another program.
     *
     * @param create the flags to make one; 0 to change one
     * @return the filter, with the numbers that the kernel has chosen
     */
    private Filter put(int create, int info, int handle, Fd program) {
        ProgramInfo of = info(program);
        NetlinkMessage request = NetlinkMessage.request(
                RTM_NEWTFILTER,
                create | NetlinkMessage.ECHO,
                MESSAGE,
                new long[] {0, 0, 0, index, handle, parent(), info},
                all -> {
                    all.text(KIND, KIND_OF_FILTER);
                    all.nested(OPTIONS, options -> {
                        options.u32(BPF_FD, program.number());
                        options.text(BPF_NAME, of.name().isEmpty() ? "bpf4j" : of.name());
                        options.u32(BPF_FLAGS, DIRECT_ACTION);
                    });
                });
        List<NetlinkMessage> answers =
                socket.exchange("RTM_NEWTFILTER of a filter of " + target.device(), request, program);
        return answers.stream()
                .filter(answer -> answer.type() == RTM_NEWTFILTER && answer.has(MESSAGE))
                .map(TcHook::filter)
                .filter(filter -> filter.handle() != 0)
                .findFirst()
                .orElseThrow(() -> new BpfException("RTM_NEWTFILTER of a filter of " + target.device()
                        + " failed: the kernel does not report which filter it has made; tc filter show dev "
                        + target.device() + (target.isIngress() ? " ingress" : " egress") + " lists it"));
    }

    /** Returns false if it is gone already. */
    private boolean delete(Filter filter) {
        List<NetlinkMessage> answers;
        try {
            answers = ask(
                    "RTM_DELTFILTER", RTM_DELTFILTER, NetlinkMessage.ECHO, filter.handle(), parent(), filter.info());
        } catch (SyscallException e) {
            if (isGone(e.errno())) {
                return false;
            }
            throw e;
        }
        for (NetlinkMessage answer : answers) {
            if (answer.type() == RTM_DELTFILTER
                    && answer.has(MESSAGE)
                    && filter(answer).programId() != filter.programId()) {
                throw new BpfException("RTM_DELTFILTER of a filter of " + target.device()
                        + " deleted a filter by which another process had replaced it meanwhile: program "
                        + filter(answer).programId() + ", priority " + filter.priority() + ", handle "
                        + Integer.toUnsignedString(filter.handle()) + "; attach that program again");
            }
        }
        return true;
    }

    /** Whether the filter, the qdisc or the device is gone; the kernel returns EINVAL if the qdisc is. */
    private static boolean isGone(Errno errno) {
        return errno == Errno.ENOENT || errno == Errno.ENODEV || errno == Errno.EINVAL;
    }

    /** All filters of a direction, in the order in which they run; none if there is no qdisc, or no device. */
    private List<Filter> filters(int parent) {
        return answers(parent).stream()
                .map(TcHook::filter)
                .filter(filter -> filter.handle() != 0)
                .toList();
    }

    /** The kernel's list for a direction: each priority, with handle 0, and its filters. */
    private List<NetlinkMessage> answers(int parent) {
        NetlinkMessage request = NetlinkMessage.request(
                RTM_GETTFILTER, NetlinkMessage.DUMP, MESSAGE, new long[] {0, 0, 0, index, 0, parent}, _ -> {});
        return socket.exchange("RTM_GETTFILTER of " + target.device(), request).stream()
                .filter(answer -> answer.type() == RTM_NEWTFILTER && answer.has(MESSAGE))
                .toList();
    }

    private static Filter filter(NetlinkMessage answer) {
        Map<Integer, MemorySegment> attributes = answer.attributes(MESSAGE);
        MemorySegment options = attributes.get(OPTIONS);
        boolean isOurs = NetlinkMessage.text(attributes, KIND).equals(KIND_OF_FILTER)
                && NetlinkMessage.number(attributes, CHAIN) == 0;
        int programId =
                isOurs && options != null ? NetlinkMessage.number(NetlinkMessage.attributes(options), BPF_ID) : 0;
        return new Filter(MESSAGE.u32(answer.body(), "tcm_info"), MESSAGE.u32(answer.body(), "tcm_handle"), programId);
    }

    @Override
    public void close() {
        socket.close();
    }
}
