package io.bpf4j.loader.internal.attach;

import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.NetlinkCommand;
import io.bpf4j.sys.internal.call.NetlinkMessage;
import io.bpf4j.sys.internal.call.StructLayout;
import java.util.List;

/**
 * A socket of rtnetlink, the part of netlink for devices and traffic control. It stays in the network namespace of the
 * thread that opened it, so the indexes of devices mean the same whichever thread uses it later. <i>Thread-safe.</i>
 */
final class RouteSocket implements AutoCloseable {
    /** {@code struct ifinfomsg} of include/uapi/linux/rtnetlink.h. */
    static final StructLayout DEVICE = StructLayout.of(
            "ifinfomsg", "u8 ifi_family, __ifi_pad; u16 ifi_type; u32 ifi_index, ifi_flags, ifi_change");

    private final Kernel kernel;
    private final Fd fd;
    private int sequence;

    private RouteSocket(Kernel kernel, Fd fd) {
        this.kernel = kernel;
        this.fd = fd;
    }

    static RouteSocket open(Kernel kernel) {
        return new RouteSocket(kernel, kernel.execute(new NetlinkCommand.Open()));
    }

    /**
     * Sends a request and returns its answers.
     *
     * @param description the request, for messages: {@code RTM_SETLINK of device eth0}
     * @param uses the descriptors whose numbers are in the request
     * @throws io.bpf4j.sys.SyscallException if the kernel refuses; the hint is its reason, if it has one
     */
    synchronized List<NetlinkMessage> exchange(String description, NetlinkMessage request, Fd... uses) {
        sequence++;
        return kernel.execute(new NetlinkCommand.Exchange(fd, description, request, sequence, List.of(uses)));
    }

    Kernel kernel() {
        return kernel;
    }

    @Override
    public void close() {
        fd.close();
    }
}
