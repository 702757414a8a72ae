package io.bpf4j.loader.link;

/**
 * A target that a program can be attached to. Each method of the kernel has a type of its own in this package, with the
 * options that the method supports. <i>Immutable.</i>
 *
 * {@snippet :
 * program.attach(Kprobe.entry("tcp_connect"));
 * program.attach(Uprobe.exit(Path.of("/usr/bin/bash"), "readline").withCookie(7));
 * program.attach(Tcx.ingress(NetDevice.named("eth0")).withAnchor(Anchor.first()));
 * }
 *
 * <ul>
 *   <li>Functions of programs and libraries: {@link Uprobe}, {@link UprobeMulti}.
 *   <li>Functions of the kernel: {@link Kprobe}, {@link KprobeMulti}, {@link Ksyscall}, {@link Tracing}, {@link
 *       TracingMulti}.
 *   <li>Events of the kernel: {@link Tracepoint}, {@link RawTracepoint}, {@link PerfEvent}, {@link OpenPerfEvent}.
 *   <li>Packets of a device: {@link Xdp}, {@link Tcx}, {@link Tc}, {@link Netkit}; of a network namespace: {@link
 *       Netfilter}, {@link NetNamespace}; of sockets: {@link Socket}, {@link Sockmap}.
 *   <li>Control groups: {@link Cgroup}. Objects of the kernel: {@link Iter}. Functions of another program: {@link
 *       Freplace}. Infrared receivers: {@link Lirc}.
 * </ul>
 *
 * <p>Each type names the programs that it accepts, and the first kernel version that supports it. A program's attach
 * type is fixed at load, by {@code SEC("…")} or by {@link io.bpf4j.sys.kernel.AttachType}. An attach type in
 * parentheses is the one that the program must have been loaded with. If the kernel refuses, an {@link
 * io.bpf4j.loader.error.AttachException} gives the reason, and nothing is left attached.
 *
 * <p>A cookie is the value that {@code bpf_get_attach_cookie()} returns when the program runs (Linux 5.15, unless a
 * type says otherwise); 0 for none. A pid is a process as this process sees it, with all its threads; 0 for every
 * process, now or later.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
public sealed interface AttachTarget
        permits Uprobe,
                UprobeMulti,
                Kprobe,
                Ksyscall,
                KprobeMulti,
                Tracepoint,
                RawTracepoint,
                Tracing,
                TracingMulti,
                Freplace,
                PerfEvent,
                OpenPerfEvent,
                Cgroup,
                Xdp,
                Tcx,
                Tc,
                Socket,
                Netkit,
                Netfilter,
                NetNamespace,
                Sockmap,
                Iter,
                Lirc {
    /** A description of the target, for messages. */
    String description();
}
