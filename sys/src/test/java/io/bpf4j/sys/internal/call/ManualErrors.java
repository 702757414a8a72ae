package io.bpf4j.sys.internal.call;

import static io.bpf4j.sys.kernel.Errno.*;

import io.bpf4j.sys.kernel.Errno;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * The errors of each command: those that the manual lists for its system calls, in the section ERRORS of the page (Linux
 * man-pages 6.03), and after them what kernels return beyond that.
 *
 * <p>Left out is what a command answers in place of failing: ENOENT where an element, a key or a pin is looked for. EINTR
 * is left out where the layer below the kernel's seam repeats the call; {@code InterruptedCallsTest} shows that it does.
 */
public final class ManualErrors {
    /** bpf(2) lists these for all its commands. */
    private static final Set<Errno> BPF = EnumSet.of(E2BIG, EACCES, EBADF, EFAULT, EINVAL, ENOENT, ENOMEM, EPERM);

    /**
     * A command that makes a descriptor also meets the limits of the process and of the machine (anon_inode_getfd of
     * fs/anon_inodes.c), and a kernel or a seccomp filter without bpf(2) says ENOSYS.
     */
    private static final Set<Errno> BPF_FD = and(BPF, EMFILE, ENFILE, ENOSYS);

    private static final Set<Errno> PERF_EVENT_OPEN = EnumSet.of(
            E2BIG,
            EACCES,
            EBADF,
            EBUSY,
            EFAULT,
            EINTR,
            EINVAL,
            EMFILE,
            ENODEV,
            ENOENT,
            ENOSPC,
            ENOSYS,
            EOPNOTSUPP,
            EOVERFLOW,
            EPERM,
            ESRCH);

    private static final Set<Errno> IOCTL = EnumSet.of(EBADF, EFAULT, EINVAL, ENOTTY);

    private static final Set<Errno> MMAP =
            EnumSet.of(EACCES, EAGAIN, EBADF, EEXIST, EINVAL, ENFILE, ENODEV, ENOMEM, EOVERFLOW, EPERM, ETXTBSY);

    private static final Set<Errno> OPEN = EnumSet.of(
            EACCES,
            EBADF,
            EBUSY,
            EDQUOT,
            EEXIST,
            EFAULT,
            EFBIG,
            EINVAL,
            EISDIR,
            ELOOP,
            EMFILE,
            ENAMETOOLONG,
            ENFILE,
            ENODEV,
            ENOENT,
            ENOMEM,
            ENOSPC,
            ENOTDIR,
            ENXIO,
            EOPNOTSUPP,
            EOVERFLOW,
            EPERM,
            EROFS,
            ETXTBSY,
            EAGAIN);

    private static final Set<Errno> READ = EnumSet.of(EAGAIN, EBADF, EFAULT, EINVAL, EIO, EISDIR);

    private static final Set<Errno> WRITE =
            EnumSet.of(EAGAIN, EBADF, EDESTADDRREQ, EDQUOT, EFAULT, EFBIG, EINVAL, EIO, ENOSPC, EPERM, EPIPE);

    private static final Set<Errno> UNLINK = EnumSet.of(
            EACCES,
            EBADF,
            EBUSY,
            EFAULT,
            EINVAL,
            EIO,
            EISDIR,
            ELOOP,
            ENAMETOOLONG,
            ENOENT,
            ENOMEM,
            ENOTDIR,
            EPERM,
            EROFS);

    private static final Set<Errno> STATX =
            EnumSet.of(EACCES, EBADF, EFAULT, EINVAL, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR);

    private static final Set<Errno> SOCKET =
            EnumSet.of(EACCES, EAFNOSUPPORT, EINVAL, EMFILE, ENFILE, ENOBUFS, EPROTONOSUPPORT);

    private static final Set<Errno> CONNECT = EnumSet.of(
            EACCES,
            EADDRINUSE,
            EADDRNOTAVAIL,
            EAFNOSUPPORT,
            EAGAIN,
            EALREADY,
            EBADF,
            ECONNREFUSED,
            EFAULT,
            EINPROGRESS,
            EINTR,
            EISCONN,
            ENETUNREACH,
            ENOTSOCK,
            EPROTOTYPE,
            ETIMEDOUT);

    private static final Set<Errno> PTRACE = EnumSet.of(EBUSY, EFAULT, EINVAL, EIO, EPERM, ESRCH);

    private ManualErrors() {}

    private static Set<Errno> and(Set<Errno> some, Errno... more) {
        Set<Errno> all = EnumSet.copyOf(some);
        all.addAll(Arrays.asList(more));
        return all;
    }

    private static Set<Errno> without(Set<Errno> some, Errno... fewer) {
        Set<Errno> left = EnumSet.copyOf(some);
        left.removeAll(Arrays.asList(fewer));
        return left;
    }

    /** In no particular order. */
    public static Set<Errno> of(Command<?> command) {
        return switch (command) {
            case MapCommand<?> map -> of(map);
            case ProgCommand<?> program -> of(program);
            case ObjectCommand<?> object ->
                switch (object) {
                    // mknod(2) of a BPF file system, which bpf(2) does not describe.
                    case ObjectCommand.Pin _ -> and(BPF, EEXIST, EROFS, ENOSPC, ENOTDIR, ELOOP, ENAMETOOLONG);
                    case ObjectCommand.Get _ -> and(without(BPF_FD, ENOENT), ELOOP, ENOTDIR);
                    case ObjectCommand.FdById _ -> and(BPF_FD, EAGAIN);
                    case ObjectCommand.NextId _ -> without(BPF, ENOENT);
                    case ObjectCommand.KindOf _ -> Set.of(); // reads a link of /proc, and answers "unknown"
                    default -> BPF;
                };
            case LinkCommand<?> link ->
                switch (link) {
                    // As perf_event_open(2) of the same probes, and busy hooks.
                    case LinkCommand.Create _, LinkCommand.OpenRawTracepoint _ ->
                        and(BPF_FD, EBUSY, EEXIST, EILSEQ, EINTR, ENODEV, ENOSPC, ENOTSUPP, EOPNOTSUPP, ESRCH);
                    case LinkCommand.CreateIter _ -> BPF_FD;
                    case LinkCommand.Update _ -> and(BPF, EBUSY, EEXIST, ENODEV, ENOLINK, EOPNOTSUPP);
                    case LinkCommand.Detach _, LinkCommand.DetachProgram _ -> and(BPF, EOPNOTSUPP);
                    case LinkCommand.Attach _ -> and(BPF, EBUSY, EEXIST, EOPNOTSUPP);
                    case LinkCommand.Query _, LinkCommand.TaskFdQuery _ -> and(BPF, ENOSPC, EOPNOTSUPP);
                };
            case TokenCommand<?> token ->
                switch (token) {
                    case TokenCommand.Create _ -> and(BPF_FD, EOPNOTSUPP);
                    case TokenCommand.With<?> with -> of(with.command());
                };
            case PerfCommand<?> perf ->
                switch (perf) {
                    case PerfCommand.Open _ -> and(PERF_EVENT_OPEN, ENOMEM);
                    // PERF_EVENT_IOC_SET_BPF: EEXIST for a second program (perf_event_attach_bpf_prog).
                    case PerfCommand.SetProgram _ -> and(IOCTL, EACCES, EEXIST, ENOMEM, EOPNOTSUPP, EPERM);
                    case PerfCommand.Enable _, PerfCommand.Pause _ -> IOCTL;
                };
            case FileCommand<?> file -> of(file);
            case PeerCommand<?> peer ->
                switch (peer) {
                    case PeerCommand.Look _, PeerCommand.Create _ -> OPEN;
                    case PeerCommand.Remove _ -> UNLINK;
                    case PeerCommand.Status _ -> STATX;
                    case PeerCommand.Connect _ -> and(SOCKET, CONNECT.toArray(Errno[]::new));
                    case PeerCommand.ChangeOwner _, PeerCommand.PeerOf _, PeerCommand.SendSignal _ ->
                        EnumSet.of(EBADF, EFAULT, EINVAL, EPERM);
                };
            case NetlinkCommand<?> netlink ->
                switch (netlink) {
                    case NetlinkCommand.Open _ -> and(SOCKET, CONNECT.toArray(Errno[]::new));
                    // netlink(7) adds ENOBUFS; the rest are answers of rtnetlink(7).
                    case NetlinkCommand.Exchange _ ->
                        and(READ, EBUSY, EEXIST, ENOBUFS, ENODEV, ENOENT, ENOMEM, EOPNOTSUPP, EPERM);
                };
            case SocketCommand<?> _ -> EnumSet.of(EBADF, EFAULT, EINVAL, ENOMEM, ENOPROTOOPT, ENOTSOCK, EPERM);
            case ProcessCommand<?> _ -> PTRACE;
        };
    }

    private static Set<Errno> of(MapCommand<?> command) {
        return switch (command) {
            case MapCommand.Create _ -> and(BPF_FD, EOPNOTSUPP, ENOTSUPP);
            case MapCommand.WhyRefused _ -> Set.of(); // answers in words
            case MapCommand.Freeze _ -> and(BPF, EBUSY);
            case MapCommand.Element element ->
                switch (element.op()) {
                    // bpf(2) lists EEXIST in the text of BPF_MAP_UPDATE_ELEM.
                    case UPDATE -> and(BPF, EBUSY, EEXIST, ENOSPC, EOPNOTSUPP);
                    case LOOKUP, DELETE, NEXT_KEY, LOOKUP_AND_DELETE ->
                        and(without(BPF, ENOENT), EBUSY, ENOTSUPP, EOPNOTSUPP);
                };
            case MapCommand.Batch _ -> and(without(BPF, ENOENT), EAGAIN, EBUSY, ENOTSUPP);
        };
    }

    private static Set<Errno> of(ProgCommand<?> command) {
        return switch (command) {
            // EAGAIN for a signal, as the text of bpf(2) says; EINTR before Linux 5.0.
            case ProgCommand.Load _ -> and(BPF_FD, EAGAIN, EINTR, ENOSPC, ENOTSUPP, EOPNOTSUPP);
            case ProgCommand.LoadBtf _ -> and(BPF_FD, ENOSPC, ENOTSUPP);
            case ProgCommand.BindMap _ -> and(BPF, EEXIST);
            case ProgCommand.AssociateStructOps _ -> and(BPF, EBUSY);
            case ProgCommand.TestRun _ -> and(BPF, ENOSPC, ENOTSUPP);
            case ProgCommand.ReadStream _ -> BPF;
            case ProgCommand.EnableStats _ -> BPF_FD;
        };
    }

    private static Set<Errno> of(FileCommand<?> command) {
        return switch (command) {
            case FileCommand.Close _ -> EnumSet.of(EBADF, EIO, ENOSPC, EDQUOT);
            case FileCommand.Open _, FileCommand.OpenRegular _ -> OPEN;
            case FileCommand.Unlink _ -> without(UNLINK, ENOENT);
            case FileCommand.Identify _ -> STATX;
            case FileCommand.TypeOfFileSystem _ ->
                EnumSet.of(EACCES, EBADF, EFAULT, EINTR, EIO, ENOMEM, ENOSYS, EOVERFLOW);
            case FileCommand.OpenProcess _ -> EnumSet.of(EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM, ESRCH);
            case FileCommand.TakeDescriptor _ -> EnumSet.of(EBADF, EINVAL, EMFILE, ENFILE, EPERM, ESRCH);
            case FileCommand.Duplicate _ -> EnumSet.of(EBADF, EINVAL, EMFILE);
            case FileCommand.Inherit _, FileCommand.FlagsOf _ -> EnumSet.of(EBADF, EINVAL);
            case FileCommand.NameOf _ -> Set.of(); // answers "" without /proc
            // ENODEV: netdevice(7).
            case FileCommand.DeviceIndex _ -> and(SOCKET, EBADF, EFAULT, ENODEV, ENOTTY);
            case FileCommand.MakeDirectory _ ->
                EnumSet.of(
                        EACCES, EDQUOT, EEXIST, EFAULT, EINVAL, ELOOP, EMLINK, ENOENT, ENOMEM, ENOSPC, ENOTDIR, EPERM);
            case FileCommand.RemoveDirectory _ ->
                EnumSet.of(EACCES, EBUSY, EFAULT, EINVAL, ELOOP, ENOENT, ENOMEM, ENOTDIR, ENOTEMPTY, EPERM, EROFS);
            case FileCommand.Pipe _ -> EnumSet.of(EFAULT, EINVAL, EMFILE, ENFILE);
            case FileCommand.Read _ -> READ;
            case FileCommand.Write _ -> WRITE;
            case FileCommand.Map _ -> MMAP;
            case FileCommand.Unmap _ -> Set.of(); // the owner must then know that the memory is still there
            case FileCommand.Eventfd _ -> EnumSet.of(EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM);
            case FileCommand.EpollCreate _ -> EnumSet.of(EINVAL, EMFILE, ENFILE, ENOMEM);
            case FileCommand.EpollAdd _ -> EnumSet.of(EBADF, EEXIST, EINVAL, ELOOP, ENOENT, ENOMEM, ENOSPC, EPERM);
            case FileCommand.EpollWait _ -> EnumSet.of(EBADF, EFAULT, EINVAL);
            case FileCommand.StopIgnoring _ -> EnumSet.of(EFAULT, EINVAL);
            case FileCommand.RaiseMemlock _ -> EnumSet.of(EFAULT, EINVAL, EPERM);
            // fsopen(2), fsmount(2): not in man-pages 6.03; fs/fsopen.c and fs/namespace.c.
            case FileCommand.DetachedMount _ ->
                EnumSet.of(EBUSY, EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM, ENOSYS, EPERM);
        };
    }
}
