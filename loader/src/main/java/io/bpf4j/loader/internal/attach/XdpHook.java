package io.bpf4j.loader.internal.attach;

import static java.util.Objects.requireNonNullElse;

import io.bpf4j.loader.link.AttachedPrograms;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.NetlinkMessage;
import io.bpf4j.sys.internal.call.UndoStack;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The XDP program of a device by netlink, without a link of the kernel: the attribute IFLA_XDP of a device has the
 * program for each mode (include/uapi/linux/if_link.h; dev_xdp_attach() of net/core/dev.c).
 *
 * @param socket closed with this
 * @param index of the device
 * @param replaced the program that the first one replaces; its owner closes it
 */
record XdpHook(
        RouteSocket socket,
        NetDevice device,
        int index,
        Xdp.Mode mode,
        @Nullable Fd replaced) implements Attachment.Hook {
    private static final int RTM_NEWLINK = 16;
    private static final int RTM_GETLINK = 18;
    private static final int RTM_SETLINK = 19;

    /** IFLA_XDP, and the attributes in it. */
    private static final int XDP = 43;

    private static final int FD = 1;
    private static final int ATTACHED = 2;
    private static final int FLAGS = 3;
    private static final int PROG_ID = 4;
    private static final int DRV_PROG_ID = 5;
    private static final int SKB_PROG_ID = 6;
    private static final int HW_PROG_ID = 7;
    private static final int EXPECTED_FD = 8;

    /** XDP_FLAGS_*. */
    private static final int UPDATE_IF_NOEXIST = 1;

    private static final int REPLACE = 1 << 4;

    /** XDP_ATTACHED_*. */
    private static final int ATTACHED_DRV = 1;

    private static final int ATTACHED_SKB = 2;
    private static final int ATTACHED_HW = 3;
    private static final int ATTACHED_MULTI = 4;

    static XdpHook open(Kernel kernel, Xdp target) {
        RouteSocket socket = RouteSocket.open(kernel);
        try {
            Fd replaced = target.replaced().map(AttachRequest::fd).orElse(null);
            return new XdpHook(
                    socket, target.device(), AttachRequest.index(kernel, target.device()), target.mode(), replaced);
        } catch (RuntimeException | Error e) {
            UndoStack.of(socket::close).closeAfter(e);
            throw e;
        }
    }

    @Override
    public void attach(Fd program) {
        set(program, replaced);
    }

    @Override
    public void replace(Fd current, Fd next) {
        set(next, current);
    }

    @Override
    public void detach(Fd program) {
        try {
            set(null, program);
        } catch (SyscallException e) {
            switch (e.errno()) {
                // The device is gone; it has another program; it has a link.
                case ENODEV, EEXIST, EBUSY -> {}
                default -> throw e;
            }
        }
    }

    /**
     * Sets the program.
     *
     * @param program null for none
     * @param expected the program that the device must have; null if it must have none
     */
    private void set(@Nullable Fd program, @Nullable Fd expected) {
        int flags = mode.flag() | (expected == null ? UPDATE_IF_NOEXIST : REPLACE);
        NetlinkMessage request = NetlinkMessage.request(
                RTM_SETLINK,
                0,
                RouteSocket.DEVICE,
                new long[] {0, 0, 0, index},
                all -> all.nested(XDP, xdp -> {
                    xdp.u32(FD, program == null ? -1 : program.number());
                    if (expected != null) {
                        xdp.u32(EXPECTED_FD, expected.number());
                    }
                    xdp.u32(FLAGS, flags);
                }));
        Fd one = requireNonNullElse(program, expected);
        Fd other = requireNonNullElse(expected, program);
        socket.exchange("RTM_SETLINK of the XDP program of " + device, request, one, other);
    }

    /** The programs of the device, of the mode or of all modes. The flags of an entry are those of its mode. */
    List<AttachedPrograms.Entry> programs() {
        NetlinkMessage request =
                NetlinkMessage.request(RTM_GETLINK, 0, RouteSocket.DEVICE, new long[] {0, 0, 0, index}, _ -> {});
        List<AttachedPrograms.Entry> programs = new ArrayList<>();
        for (NetlinkMessage answer : socket.exchange("RTM_GETLINK of " + device, request)) {
            MemorySegment nest = answer.type() == RTM_NEWLINK
                    ? answer.attributes(RouteSocket.DEVICE).get(XDP)
                    : null;
            if (nest != null) {
                Map<Integer, MemorySegment> xdp = NetlinkMessage.attributes(nest);
                int attached = NetlinkMessage.number(xdp, ATTACHED);
                boolean many = attached == ATTACHED_MULTI;
                add(programs, xdp, Xdp.Mode.HARDWARE, many, attached == ATTACHED_HW, HW_PROG_ID);
                add(programs, xdp, Xdp.Mode.DRIVER, many, attached == ATTACHED_DRV, DRV_PROG_ID);
                add(programs, xdp, Xdp.Mode.GENERIC, many, attached == ATTACHED_SKB, SKB_PROG_ID);
            }
        }
        return programs;
    }

    /** With programs for several modes, each mode has its attribute; with one, kernels also have PROG_ID. */
    private void add(
            List<AttachedPrograms.Entry> programs,
            Map<Integer, MemorySegment> xdp,
            Xdp.Mode of,
            boolean many,
            boolean alone,
            int attribute) {
        int id = many ? NetlinkMessage.number(xdp, attribute) : alone ? NetlinkMessage.number(xdp, PROG_ID) : 0;
        if (id != 0 && (mode == Xdp.Mode.ANY || mode == of)) {
            programs.add(new AttachedPrograms.Entry(id, OptionalInt.empty(), of.flag()));
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
